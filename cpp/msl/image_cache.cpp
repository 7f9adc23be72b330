#include "msl/image_cache.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "msl/sha256.hpp"

namespace kfp::msl {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t digest_length = 64;

// A file is the digest of the rest, the length of the messages, the messages, the image.
std::string packed(const ImageCache::Entry& entry) {
    std::string rest = std::to_string(entry.messages.size());
    rest.append("\n").append(entry.messages).append(entry.image);
    return sha256_hex(rest).append(rest);
}

std::optional<ImageCache::Entry> unpacked(std::string_view file) {
    if (file.size() < digest_length || sha256_hex(file.substr(digest_length)) != file.substr(0, digest_length)) {
        return std::nullopt;
    }
    file.remove_prefix(digest_length);
    const std::size_t end = file.find('\n');
    const std::size_t length = std::stoul(std::string(file.substr(0, end)));
    file.remove_prefix(end + 1);
    return ImageCache::Entry{std::string(file.substr(0, length)), std::string(file.substr(length))};
}

// The files that were used last stay.
void prune(const std::string& folder, std::uintmax_t max_bytes) {
    struct File {
        fs::file_time_type used;
        std::uintmax_t bytes;
        fs::path path;
    };
    std::error_code ignored;
    std::vector<File> files;
    std::uintmax_t total = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        files.push_back({entry.last_write_time(ignored), entry.file_size(ignored), entry.path()});
        total += files.back().bytes;
    }
    if (total <= max_bytes) {
        return;
    }
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
    for (const File& file : files) {
        if (total <= max_bytes / 2) {
            return;
        }
        fs::remove(file.path, ignored);
        total -= file.bytes;
    }
}

}  // namespace

ImageCache::ImageCache(std::string folder, std::uintmax_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::optional<ImageCache::Entry> ImageCache::find(const std::string& key) const {
    const fs::path path = folder_ + "/" + key;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    std::optional<Entry> entry = unpacked(file);
    std::error_code ignored;
    if (entry) {
        fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    } else {
        fs::remove(path, ignored);
    }
    return entry;
}

void ImageCache::store(const std::string& key, const Entry& entry) const {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    std::string name = folder_ + "/new-XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
        return;
    }
    const std::string bytes = packed(entry);
    const bool written = ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(descriptor);
    if (written) {
        fs::rename(name, folder_ + "/" + key, failed);
    }
    if (!written || failed) {
        fs::remove(name, failed);
    }
    // Looking through the folder every time would cost more than a little too much in it.
    if (key.front() == '0') {
        prune(folder_, max_bytes_);
    }
}

}  // namespace kfp::msl

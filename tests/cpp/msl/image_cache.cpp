// What a cache of images gives back is what was stored, or nothing, whatever happened to its files.
#include "msl/image_cache.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "check.hpp"

namespace fs = std::filesystem;
using kfp::msl::ImageCache;

namespace {

const std::string key = "0123456789abcdef";

std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void replace(const fs::path& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
}

void test_stored_is_found(const std::string& folder) {
    const ImageCache cache(folder);
    CHECK(!cache.find(key));
    const std::string image("\0ELF\n\n\xff", 7);
    cache.store(key, {"12:5: warning\n", image});
    const auto found = cache.find(key);
    CHECK(found.has_value());
    CHECK_EQUAL(found->messages, "12:5: warning\n");
    CHECK(found->image == image);
    CHECK(!cache.find("0123"));
}

void test_damage_is_noticed(const std::string& folder) {
    const ImageCache cache(folder);
    cache.store(key, {"", "image"});
    const std::string whole = contents(fs::path(folder) / key);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        replace(fs::path(folder) / key, flipped);
        CHECK(!cache.find(key));
        replace(fs::path(folder) / key, whole.substr(0, at));
        CHECK(!cache.find(key));
    }
    cache.store(key, {"", "image"});
    CHECK(cache.find(key).has_value());
}

void test_a_folder_that_cannot_be_written_costs_nothing_else(const std::string& folder) {
    replace(folder, "a file in its place");
    const ImageCache cache(folder);
    cache.store(key, {"", "image"});
    CHECK(!cache.find(key));
}

void test_it_stays_bounded(const std::string& folder) {
    constexpr std::uintmax_t most = 10000;
    const ImageCache cache(folder, most);
    const std::string image(900, 'x');
    for (int n = 0; n < 20; ++n) {
        cache.store("0" + std::to_string(n), {"", image});
    }
    std::uintmax_t bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        bytes += entry.file_size();
    }
    CHECK(bytes <= most);
    CHECK(cache.find("019").has_value());
}

}  // namespace

int main() {
    std::string root = (fs::temp_directory_path() / "kfp-image-cache-XXXXXX").string();
    if (::mkdtemp(root.data()) == nullptr) {
        return 1;
    }
    test_stored_is_found(root + "/a");
    test_damage_is_noticed(root + "/b");
    test_a_folder_that_cannot_be_written_costs_nothing_else(root + "/c");
    test_it_stays_bounded(root + "/d");
    fs::remove_all(root);
    return kfp::test::outcome();
}

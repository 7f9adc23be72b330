// Images that were compiled before, by content: the same program text, compiler, library and options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kfp::msl {

class ImageCache {
public:
    struct Entry {
        std::string messages;  // what the compiler wrote
        std::string image;     // a shared object
    };

    // Several processes may share a folder. What goes wrong with it costs a compilation, never a verdict.
    explicit ImageCache(std::string folder, std::uintmax_t max_bytes = std::uintmax_t{64} << 20);

    std::optional<Entry> find(const std::string& key) const;
    void store(const std::string& key, const Entry& entry) const;

private:
    std::string folder_;
    std::uintmax_t max_bytes_;
};

}  // namespace kfp::msl

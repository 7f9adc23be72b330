// Bytes on the channel between parent and worker: plain little-endian values (both ends are the same machine), strings
// and lists with their length in front. The reader trusts no length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "device/device.hpp"

namespace kfp {

// What came over the channel isn't what the protocol says.
struct ProtocolError : Error {
    using Error::Error;
};

class Writer {
public:
    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void put(T value) {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof(T));
        bytes_.append(raw, sizeof(T));
    }
    void text(std::string_view value) {
        put(static_cast<std::uint64_t>(value.size()));
        bytes_.append(value);
    }
    void bytes(std::span<const std::byte> value) {
        text({reinterpret_cast<const char*>(value.data()), value.size()});
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    template <typename T>
        requires std::is_arithmetic_v<T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }
    bool flag() {
        const auto value = get<std::uint8_t>();
        if (value > 1) throw ProtocolError("a flag of " + std::to_string(value));
        return value == 1;
    }
    template <typename E>
        requires std::is_enum_v<E>
    E one_of(E last) {
        const auto value = get<std::underlying_type_t<E>>();
        if (value > static_cast<std::underlying_type_t<E>>(last))
            throw ProtocolError("an enumerator of " + std::to_string(value));
        return static_cast<E>(value);
    }
    std::string_view text() { return take(get<std::uint64_t>()); }
    std::span<const std::byte> bytes() {
        const auto value = text();
        return {reinterpret_cast<const std::byte*>(value.data()), value.size()};
    }
    // The number of elements to follow, each of which takes at least `least` bytes.
    std::size_t count(std::size_t least) {
        const auto value = get<std::uint64_t>();
        if (value > rest_.size() / least) throw ProtocolError("a list longer than its message");
        return static_cast<std::size_t>(value);
    }
    void end() const {
        if (!rest_.empty()) throw ProtocolError(std::to_string(rest_.size()) + " bytes too many");
    }

private:
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) throw ProtocolError("a message that ends too early");
        const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(static_cast<std::size_t>(size));
        return taken;
    }

    std::string_view rest_;
};

}  // namespace kfp

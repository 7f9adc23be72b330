// Ownership and text at the border to Objective-C.
#pragma once

#include <string>

#include "device/metal/metal_cpp.hpp"

namespace kfp::metal {

// What Metal hands out autoreleased lives until the end of the scope. Every entry point of the backend opens one, since
// a caller's thread need not have a pool.
class AutoreleaseScope {
public:
    AutoreleaseScope() : pool_(NS::TransferPtr(NS::AutoreleasePool::alloc()->init())) {}
    AutoreleaseScope(const AutoreleaseScope&) = delete;
    AutoreleaseScope& operator=(const AutoreleaseScope&) = delete;

private:
    NS::SharedPtr<NS::AutoreleasePool> pool_;
};

inline std::string text_of(const NS::String* string) {
    const char* characters = string == nullptr ? nullptr : string->utf8String();
    return characters == nullptr ? std::string() : std::string(characters);
}

inline std::string text_of(const NS::Error* error) {
    return error == nullptr ? std::string("no error given") : text_of(error->localizedDescription());
}

// Null if `text` is not UTF-8. Stops at the first NUL.
inline NS::SharedPtr<NS::String> string_of(const std::string& text) {
    return NS::TransferPtr(NS::String::alloc()->init(text.c_str(), NS::UTF8StringEncoding));
}

}  // namespace kfp::metal

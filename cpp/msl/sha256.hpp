// Names by content, for the caches.
#pragma once

#include <string>
#include <string_view>

namespace kfp::msl {

std::string sha256_hex(std::string_view bytes);

}  // namespace kfp::msl

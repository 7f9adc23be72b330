// The processor's caches, for runs that must find nothing in them.
#pragma once

#include <cstddef>
#include <span>

namespace kfp::cpu {

// Writes back what any cache of any core holds of `memory`, and forgets it there.
void evict_from_caches(std::span<const std::byte> memory);

}  // namespace kfp::cpu

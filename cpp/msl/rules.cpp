#include "msl/rules.hpp"

namespace kfp::msl {

void check_rules(const Program&, const Kernels&, Diagnostics&) {}

}  // namespace kfp::msl

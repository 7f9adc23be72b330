// The clock behind GPUStartTime and GPUEndTime.
#pragma once

#if defined(__APPLE__)
#include <mach/mach_time.h>
#endif

namespace kfp::metal {

// Those stamps are seconds of the host's clock, whose period is 125/3 ns on Apple silicon.
inline double tick_seconds() {
#if defined(__APPLE__)
    mach_timebase_info_data_t base{};
    if (mach_timebase_info(&base) == KERN_SUCCESS && base.denom != 0) return 1e-9 * base.numer / base.denom;
#endif
    return 1e-9;
}

}  // namespace kfp::metal

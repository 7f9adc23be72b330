/* All that metal-cpp takes from CoreFoundation. Missing from zig's copy of the macOS headers. */
#pragma once

#include <math.h>

typedef double CFTimeInterval;

/* All that metal-cpp takes from IOSurface. Missing from zig's copy of the macOS headers. */
#pragma once

typedef struct __IOSurface* IOSurfaceRef;

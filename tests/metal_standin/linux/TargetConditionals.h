/* Poses as macOS 14, the oldest that the backend supports. */
#pragma once

#define TARGET_OS_OSX 1
#define __MAC_OS_X_VERSION_MIN_REQUIRED 140000

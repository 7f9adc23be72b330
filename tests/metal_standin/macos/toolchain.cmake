# Builds for arm64 macOS with zig, on any machine. KFP_ZIG_TOOLS is a folder with zig-cc, zig-c++, zig-ar, zig-ranlib.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_DEPLOYMENT_TARGET 14.0)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_C_COMPILER "$ENV{KFP_ZIG_TOOLS}/zig-cc")
set(CMAKE_CXX_COMPILER "$ENV{KFP_ZIG_TOOLS}/zig-c++")
set(CMAKE_AR "$ENV{KFP_ZIG_TOOLS}/zig-ar")
set(CMAKE_RANLIB "$ENV{KFP_ZIG_TOOLS}/zig-ranlib")
# Nothing is installed, so nothing needs renaming.
set(CMAKE_INSTALL_NAME_TOOL /bin/true)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# zig adds checks of its own to a debug build.
set(CMAKE_C_FLAGS_INIT -fno-sanitize=undefined)
set(CMAKE_CXX_FLAGS_INIT -fno-sanitize=undefined)
# Two headers that zig's copy of the macOS ones lacks, and text stubs of three libraries.
include_directories(SYSTEM "${CMAKE_CURRENT_LIST_DIR}/../missing")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-F${CMAKE_CURRENT_LIST_DIR}/stubs -L${CMAKE_CURRENT_LIST_DIR}/stubs")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")

// What every candidate is compiled after; precompiled once.
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#include "kfp_prelude.h"
#include "kfp/simd_names.h"
#include "kfp/launch.h"

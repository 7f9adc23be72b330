// The only place that includes metal-cpp, whose headers are not written for our warnings.
#pragma once

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#endif

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

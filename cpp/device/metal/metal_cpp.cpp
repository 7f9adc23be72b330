// metal-cpp defines its classes and selectors in the one translation unit that asks for it.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "device/metal/metal_cpp.hpp"

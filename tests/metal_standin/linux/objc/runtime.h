/* What metal-cpp calls of the Objective-C runtime; runtime.cpp defines it. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct objc_selector* SEL;
struct objc_object {
    void* isa;
};

SEL sel_registerName(const char* name);
void* objc_lookUpClass(const char* name);
void* objc_getProtocol(const char* name);

#ifdef __cplusplus
}
#endif

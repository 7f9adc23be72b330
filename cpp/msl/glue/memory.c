/* The memory functions that clang may call on its own; built with -fno-builtin, or they would call themselves. */
#include "types.h"

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

static void copy_upwards(unsigned char* target, const unsigned char* source, size_t count) {
    for (; count >= sizeof(unaligned_word); count -= sizeof(unaligned_word)) {
        *(unaligned_word*)target = *(const unaligned_word*)source;
        target += sizeof(unaligned_word);
        source += sizeof(unaligned_word);
    }
    while (count--) *target++ = *source++;
}

void* memcpy(void* restrict to, const void* restrict from, size_t count) {
    copy_upwards(to, from, count);
    return to;
}

void* memmove(void* to, const void* from, size_t count) {
    unsigned char* target = to;
    const unsigned char* source = from;
    if ((uintptr_t)target - (uintptr_t)source >= count)
        copy_upwards(target, source, count);
    else
        while (count--) target[count] = source[count];
    return to;
}

void* memset(void* to, int value, size_t count) {
    unsigned char* target = to;
    const uint64_t word = (unsigned char)value * 0x0101010101010101ull;
    for (; count >= sizeof(unaligned_word); count -= sizeof(unaligned_word)) {
        *(unaligned_word*)target = word;
        target += sizeof(unaligned_word);
    }
    while (count--) *target++ = (unsigned char)value;
    return to;
}

int memcmp(const void* left, const void* right, size_t count) {
    const unsigned char* a = left;
    const unsigned char* b = right;
    for (; count && *a == *b; --count) ++a, ++b;
    return count ? *a - *b : 0;
}

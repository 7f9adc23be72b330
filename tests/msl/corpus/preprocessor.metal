//# refuse a program without the standard library bare @ 1: namespace
using namespace metal;
kernel void f(device float* o) { o[0] = 1; }
//# accept all of the library's headers bare
#include <metal_stdlib>
#include <metal_math>
#include <metal_atomic>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <simd/simd.h>
#include "metal_stdlib"
#pragma once
using namespace metal;
kernel void f(device float* o) { o[0] = 1; }
//# accept qualified names without using bare
#include <metal_stdlib>
kernel void f(device float* o, metal::uint2 i [[thread_position_in_grid]]) { metal::float4 v = metal::float4(1.0f); o[i.x] = metal::sqrt(v.x); }
//# refuse a header that does not exist @ 1: 'cmath' file not found
#include <cmath>
kernel void f(device float* o) { o[0] = 1; }
//# refuse a file of the host @ 1: '/etc/passwd' file not found
#include "/etc/passwd"
kernel void f(device float* o) { o[0] = 1; }
//# refuse a file of the host through a macro @ 2: file not found
#define HEADER </etc/passwd>
#include HEADER
//# refuse a file of the host behind a splice @ 2: file not found
#inc\
lude "/etc/passwd"
//# refuse a file of the host behind a digraph @ 1: file not found
%:include "/etc/passwd"
//# refuse a file of the host behind a comment @ 1: file not found
/* harmless */ # /* still */ include /* here */ "/etc/passwd"
//# refuse embed @ 2: not supported
constant uchar data[] = {
#embed "/etc/passwd"
};
//# refuse import @ 1: not supported
#import <metal_stdlib>
//# accept a question about a header of ours only
#if __has_include(<metal_stdlib>) && !__has_include("/etc/passwd") && !__has_include(<stdio.h>)
kernel void f(device float* o) { o[0] = 1; }
#else
#error wrong
#endif
//# accept macros of every kind
#define N 4
#define SQUARE(x) ((x) * (x))
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define VARIADIC(f, ...) f(__VA_ARGS__)
#define GNU(f, a, ...) f(a, ##__VA_ARGS__)
#define EMPTY
#define MULTI(x) \
    do {         \
        x += 1;  \
    } while (0)
#define STR(x) #x
#define APPLY(m, x) m(x)
#define SELF SELF_ + 1
constant float CONCAT(k, N) = 2.0f;
static_assert(sizeof(STR(a + b)) == 6, "stringized");
kernel void f(device float* o EMPTY, uint i [[thread_position_in_grid]]) {
    float SELF_ = 1;
    o[i] = SQUARE(k4 + 1) + VARIADIC(max, o[0], o[1]) + GNU(sqrt, o[2]) + GNU(pow, o[2], 2.0f) + APPLY(SQUARE, 3) + SELF;
    MULTI(o[i]);
    o[__LINE__] = __COUNTER__ + __COUNTER__;
}
//# accept conditional compilation
#define MODE 2
#if MODE == 1 || defined(NOTHING)
#error wrong branch
#elif (MODE << 1) == 4 && !defined NOTHING && -1 < 0 && 0x10 == 020 && (1 ? 2 : 3) == 2
#define OK 1
#else
#error wrong branch
#endif
#ifdef __METAL_VERSION__
#if __METAL_VERSION__ >= 300
kernel void f(device float* o) { o[0] = OK; }
#endif
#endif
#if 0
this is 'not looked at " #include </etc/passwd>
#endif
#undef OK
#ifdef OK
#error still there
#endif
//# refuse an error directive @ 2: no good
#ifndef NOTHING
#error no good
#endif
//# refuse an open conditional @ 1: unterminated conditional directive
#ifdef __METAL__
kernel void f(device float* o) { o[0] = 1; }
//# refuse a stray endif @ 1: #endif without #if
#endif
//# refuse an open comment @ 2: unterminated /* comment
kernel void f(device float* o) { o[0] = 1; }
/* here
//# refuse a division by zero in a condition @ 1: division by zero
#if 1 / 0
#endif
//# refuse too few macro arguments @ 2: too few arguments
#define TWO(a, b) a + b
kernel void f(device float* o) { o[0] = TWO(1); }
//# refuse a bad paste @ 2: pasting formed
#define PASTE(a, b, c) a##b##c
kernel void f(device float* o) { o[0] = PASTE(+, =, +); }
//# refuse with the place inside a macro's argument @ 2: use of undeclared identifier 'nothing'
#define ADD(a, b) ((a) + (b))
kernel void f(device float* o) { o[0] = ADD(1.0f, nothing); }
//# accept pragmas
#pragma METAL fp math_mode(fast)
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma mark - kernels
#define UNROLL _Pragma("unroll")
#define FACTOR 4
kernel void f(device float* o) {
#pragma unroll
    for (int i = 0; i < 4; ++i) o[i] = i;
#pragma unroll(FACTOR)
    for (int i = 0; i < 4; ++i) o[i] = i;
    UNROLL for (int i = 0; i < 4; ++i) o[i] += 1;
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; ++i) o[i] += i;
}
//# accept digraphs, CRLF and other characters in comments
// π ≈ 3.14 — fine
kernel void f(device float* o) <% o<:0:> = 1; %>
//# accept numbers of every spelling
kernel void f(device float* o, device ulong* u) { o[0] = 1.f + .5f + 1e3f + 0x1.8p3f + 1'000.0f; u[0] = 0xFFul + 0b101u + 017 + 1'000'000ull + 'a' + 0xE+1; }
//# refuse a null directive's neighbour @ 1: invalid preprocessing directive
#nonsense

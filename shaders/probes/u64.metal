// Ceilings of 64-bit integer arithmetic: a ring of sixteen accumulators, each updated from its neighbours, so that
// nothing folds and nothing waits for the update before it. As a loop of `sweeps`, which suits devices with small
// instruction caches, and as straight lines of two lengths, which suit those that make vectors of the threads (no
// vector unit has products of 128 bits).
#include <metal_stdlib>
using namespace metal;

constant constexpr uint RING = 16;
constant constexpr uint LOOP_STEPS = 4;
constant constexpr uint LINE_STEPS = 8;

struct Multiply {
    // All 128 bits of a product count. Their sum is the product modulo 2^64 - 1, which doesn't die out.
    static ulong update(ulong a, ulong b, ulong, uint) { return mulhi(a, b) + a * b; }
};

struct Bit {
    // Three operations, which some devices do in one instruction.
    static ulong update(ulong a, ulong b, ulong c, uint) { return a ^ (~b & c); }
};

struct Rotate {
    // Rotations alone would join into one.
    static ulong update(ulong a, ulong b, ulong, uint i) { return rotate(a ^ b, ulong(2 * i + 1)); }
};

static void fill(thread ulong* ring, ulong start) {
#pragma unroll
    for (uint i = 0; i < RING; ++i) ring[i] = start + i * 0x9E3779B97F4A7C15ul;
}

template <typename Operation, uint STEPS>
static void advance(thread ulong* ring) {
#pragma unroll
    for (uint step = 0; step < STEPS; ++step) {
#pragma unroll
        for (uint i = 0; i < RING; ++i) {
            ring[i] = Operation::update(ring[i], ring[(i + 1) % RING], ring[(i + 2) % RING], i);
        }
    }
}

static ulong sum_of(thread const ulong* ring) {
    ulong sum = 0;
#pragma unroll
    for (uint i = 0; i < RING; ++i) sum ^= ring[i];
    return sum;
}

template <typename Operation>
static ulong loop(ulong start, uint sweeps) {
    ulong ring[RING];
    fill(ring, start);
    for (uint sweep = 0; sweep < sweeps; ++sweep) advance<Operation, LOOP_STEPS>(ring);
    return sum_of(ring);
}

template <typename Operation, uint STEPS>
static ulong line(ulong start) {
    ulong ring[RING];
    fill(ring, start);
    advance<Operation, STEPS>(ring);
    return sum_of(ring);
}

#define LOOP(name, Operation)                                                                               \
    kernel void name(device const ulong* start [[buffer(0)]], device ulong* sums [[buffer(1)]],              \
                     constant uint& sweeps [[buffer(2)]], uint i [[thread_position_in_grid]]) {              \
        sums[i] = loop<Operation>(start[i], sweeps);                                                        \
    }
#define LINE(name, Operation, STEPS)                                                                        \
    kernel void name(device const ulong* start [[buffer(0)]], device ulong* sums [[buffer(1)]],              \
                     uint i [[thread_position_in_grid]]) {                                                  \
        sums[i] = line<Operation, STEPS>(start[i]);                                                         \
    }

LOOP(u64_multiply_loop, Multiply)
LOOP(u64_bit_loop, Bit)
LINE(u64_bit_line, Bit, LINE_STEPS)
LINE(u64_bit_line_twice, Bit, 2 * LINE_STEPS)
LOOP(u64_rotate_loop, Rotate)
LINE(u64_rotate_line, Rotate, LINE_STEPS)
LINE(u64_rotate_line_twice, Rotate, 2 * LINE_STEPS)

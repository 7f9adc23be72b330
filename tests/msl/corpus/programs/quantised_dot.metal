#include <metal_stdlib>
using namespace metal;

#define QK 32
#define N_SIMD 2

typedef struct {
    half d;
    uint8_t qs[QK / 2];
} block_q4;
static_assert(sizeof(block_q4) == 18, "packed like the host's");

typedef half4x4 tile16;

template <typename T>
void dequantise(device const block_q4* xb, short il, thread T& reg) {
    device const uint16_t* qs = (device const uint16_t*)xb->qs;
    const float d1 = il ? (xb->d / 16.h) : xb->d;
    const float md = -8.h * xb->d;
    const ushort mask0 = il ? 0x00F0 : 0x000F;
    for (int i = 0; i < 8; i++) {
        reg[i / 2][2 * (i % 2) + 0] = d1 * (qs[i] & mask0) + md;
        reg[i / 2][2 * (i % 2) + 1] = d1 * ((qs[i] >> 8) & mask0) + md;
    }
}

kernel void dot_q4(device const block_q4* x [[buffer(0)]], device const float* y [[buffer(1)]], device float* dst [[buffer(2)]],
                   constant int64_t& blocks [[buffer(3)]], uint3 tgpig [[threadgroup_position_in_grid]],
                   ushort tiisg [[thread_index_in_simdgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    const int row = tgpig.x * N_SIMD + sgitg;
    device const block_q4* xr = x + row * blocks;
    float sumf = 0.f;
    for (int ib = tiisg; ib < blocks; ib += 32) {
        half4x4 reg;
        dequantise(xr + ib, 0, reg);
        device const float4* y4 = (device const float4*)(y + ib * QK);
        for (short i = 0; i < 4; ++i) sumf += dot(float4(reg[i]), y4[i]);
    }
    const float all = simd_sum(sumf);
    if (tiisg == 0) dst[row] = all;
}

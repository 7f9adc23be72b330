// Products in GF(2^128) without branches on the data; in the extension, which is not measured, one bit at a time.
#include <metal_stdlib>
using namespace metal;

struct Element {
    ulong low;
    ulong high;
};

static Element add(Element a, Element b) {
    return Element{a.low ^ b.low, a.high ^ b.high};
}

// Times x: x^128 = x^7 + x^2 + x + 1.
static Element double_of(Element a) {
    ulong overflow = a.high >> 63;
    return Element{(a.low << 1) ^ (overflow * 0x87ul), (a.high << 1) | (a.low >> 63)};
}

static Element multiply_bitwise(Element a, Element b) {
    Element product = Element{0, 0};
    for (uint i = 0; i < 128; ++i) {
        product = double_of(product);
        uint bit = 127 - i;
        ulong word = bit < 64 ? b.low : b.high;
        if ((word >> (bit % 64)) & 1) product = add(product, a);
    }
    return product;
}

// Bit by bit from the top, both words of b at once, without branches; the product has four words before reduction.
static Element multiply(Element a, Element b) {
    ulong c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    for (uint i = 0; i < 64; ++i) {
        c3 = (c3 << 1) | (c2 >> 63);
        c2 = (c2 << 1) | (c1 >> 63);
        c1 = (c1 << 1) | (c0 >> 63);
        c0 = c0 << 1;
        ulong from_low = 0 - (b.low >> 63);
        ulong from_high = 0 - (b.high >> 63);
        b.low <<= 1;
        b.high <<= 1;
        c0 ^= a.low & from_low;
        c1 ^= (a.high & from_low) ^ (a.low & from_high);
        c2 ^= a.high & from_high;
    }
    // x^128 = x^7 + x^2 + x + 1, from the top word down.
    c1 ^= c3 ^ (c3 << 1) ^ (c3 << 2) ^ (c3 << 7);
    c2 ^= (c3 >> 63) ^ (c3 >> 62) ^ (c3 >> 57);
    c0 ^= c2 ^ (c2 << 1) ^ (c2 << 2) ^ (c2 << 7);
    c1 ^= (c2 >> 63) ^ (c2 >> 62) ^ (c2 >> 57);
    return Element{c0, c1};
}

kernel void binius_clmul(device const ulong* a [[buffer(0)]],
                         device const ulong* b [[buffer(1)]],
                         device ulong* c [[buffer(2)]],
                         constant ulong& alpha_lo [[buffer(3)]],
                         constant ulong& alpha_hi [[buffer(4)]],
                         constant uint& tower [[buffer(5)]],
                         constant uint& batch [[buffer(6)]],
                         uint idx [[thread_position_in_grid]]) {
    if (idx >= batch) return;
    if (tower == 0) {
        uint at = 2 * idx;
        Element product = multiply(Element{a[at], a[at + 1]}, Element{b[at], b[at + 1]});
        c[at] = product.low;
        c[at + 1] = product.high;
        return;
    }
    uint at = 4 * idx;
    Element alpha = Element{alpha_lo, alpha_hi};
    Element a0 = Element{a[at], a[at + 1]}, a1 = Element{a[at + 2], a[at + 3]};
    Element b0 = Element{b[at], b[at + 1]}, b1 = Element{b[at + 2], b[at + 3]};
    Element high = multiply_bitwise(a1, b1);
    Element c0 = add(multiply_bitwise(a0, b0), multiply_bitwise(alpha, high));
    Element c1 = add(add(multiply_bitwise(a0, b1), multiply_bitwise(a1, b0)), high);
    c[at] = c0.low;
    c[at + 1] = c0.high;
    c[at + 2] = c1.low;
    c[at + 3] = c1.high;
}

#include <metal_stdlib>
using namespace metal;

typedef ulong limb_t;
constant uint LIMBS = 4;
constant limb_t MODULUS[4] = {0x3c208c16d87cfd47UL, 0x97816a916871ca8dUL, 0xb85045b68181585dUL, 0x30644e72e131a029UL};
constant limb_t N0INV = 0x87d20782e4866389UL;

struct Fe {
    limb_t v[4];
};

inline limb_t addc(limb_t a, limb_t b, thread limb_t& carry) {
    limb_t s = a + carry;
    limb_t c1 = (s < a) ? 1 : 0;
    limb_t r = s + b;
    carry = c1 + ((r < b) ? 1 : 0);
    return r;
}
inline limb_t subb(limb_t a, limb_t b, thread limb_t& borrow) {
    limb_t d = a - b;
    limb_t b1 = a < b;
    limb_t r = d - borrow;
    borrow = b1 | limb_t(d < borrow);
    return r;
}
inline void mac(thread limb_t& lo, thread limb_t& hi, limb_t a, limb_t b, limb_t c) {
    const limb_t low = a * b;
    limb_t high = mulhi(a, b);
    limb_t t = low + c;
    high += limb_t(t < low);
    lo = t;
    hi = high;
}
inline bool geq(const thread Fe& a, constant limb_t* m) {
    for (int i = 3; i >= 0; --i) {
        if (a.v[i] > m[i]) return true;
        if (a.v[i] < m[i]) return false;
    }
    return true;
}

Fe mont_mul(thread const Fe& a, thread const Fe& b) {
    limb_t t[LIMBS + 2];
    for (uint i = 0; i < LIMBS + 2; ++i) t[i] = 0;
    for (uint i = 0; i < LIMBS; ++i) {
        limb_t carry = 0;
        for (uint j = 0; j < LIMBS; ++j) {
            limb_t lo, hi;
            mac(lo, hi, a.v[j], b.v[i], t[j]);
            lo += carry;
            hi += limb_t(lo < carry);
            t[j] = lo;
            carry = hi;
        }
        limb_t c = 0;
        t[LIMBS] = addc(t[LIMBS], carry, c);
        t[LIMBS + 1] = c;
        const limb_t m = t[0] * N0INV;
        limb_t lo, hi;
        mac(lo, hi, m, MODULUS[0], t[0]);
        carry = hi;
        for (uint j = 1; j < LIMBS; ++j) {
            mac(lo, hi, m, MODULUS[j], t[j]);
            lo += carry;
            hi += limb_t(lo < carry);
            t[j - 1] = lo;
            carry = hi;
        }
        c = 0;
        t[LIMBS - 1] = addc(t[LIMBS], carry, c);
        t[LIMBS] = t[LIMBS + 1] + c;
    }
    Fe r;
    for (uint i = 0; i < LIMBS; ++i) r.v[i] = t[i];
    if (t[LIMBS] != 0 || geq(r, MODULUS)) {
        limb_t borrow = 0;
        for (uint i = 0; i < LIMBS; ++i) r.v[i] = subb(r.v[i], MODULUS[i], borrow);
    }
    return r;
}

kernel void mont_pow(device const Fe* base [[buffer(0)]], device Fe* out [[buffer(1)]], constant uint& exponent [[buffer(2)]],
                     uint gid [[thread_position_in_grid]]) {
    Fe acc = base[gid];
    Fe x = base[gid];
    uint e = exponent;
    while (e != 0u) {
        if (e & 1u) acc = mont_mul(acc, x);
        x = mont_mul(x, x);
        e >>= 1;
    }
    out[gid] = acc;
}

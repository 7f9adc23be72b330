// Multi-scalar multiplication: one thread multiplies a pair four bits at a time, then a tree of sums.
// Coordinates are six 64-bit words in Montgomery form; points are Jacobian.
#include <metal_stdlib>
using namespace metal;

constant uint LIMBS = 6;

struct Coordinate {
    ulong word[6];
};

struct Prime {
    Coordinate value;
    ulong inverse;
};

struct Point {
    Coordinate x;
    Coordinate y;
    Coordinate z;
};

static bool is_zero(Coordinate a) {
    ulong any = 0;
    for (uint i = 0; i < LIMBS; ++i) any |= a.word[i];
    return any == 0;
}

static bool at_least(Coordinate a, Coordinate b) {
    for (uint i = LIMBS; i-- > 0;) {
        if (a.word[i] != b.word[i]) return a.word[i] > b.word[i];
    }
    return true;
}

static Coordinate difference(Coordinate a, Coordinate b) {
    ulong borrow = 0;
    for (uint i = 0; i < LIMBS; ++i) {
        ulong partial = a.word[i] - b.word[i];
        ulong result = partial - borrow;
        borrow = ulong(a.word[i] < b.word[i]) | ulong(partial < borrow);
        a.word[i] = result;
    }
    return a;
}

static Coordinate sum(Coordinate a, Coordinate b) {
    ulong carry = 0;
    for (uint i = 0; i < LIMBS; ++i) {
        ulong partial = a.word[i] + b.word[i];
        ulong result = partial + carry;
        carry = ulong(partial < a.word[i]) | ulong(result < partial);
        a.word[i] = result;
    }
    return a;
}

static Coordinate add(Coordinate a, Coordinate b, Prime q) {
    // Below 2 q < 2^382: no carry leaves the six words.
    Coordinate total = sum(a, b);
    return at_least(total, q.value) ? difference(total, q.value) : total;
}

static Coordinate subtract(Coordinate a, Coordinate b, Prime q) {
    return at_least(a, b) ? difference(a, b) : difference(sum(a, q.value), b);
}

// a b / 2^384 modulo q, a word of b at a time.
static Coordinate multiply(Coordinate a, Coordinate b, Prime q) {
    ulong t[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint i = 0; i < LIMBS; ++i) {
        ulong carry = 0;
        for (uint j = 0; j < LIMBS; ++j) {
            ulong low = a.word[j] * b.word[i];
            ulong high = mulhi(a.word[j], b.word[i]);
            low += t[j];
            high += ulong(low < t[j]);
            low += carry;
            high += ulong(low < carry);
            t[j] = low;
            carry = high;
        }
        t[6] += carry;
        t[7] = ulong(t[6] < carry);

        ulong m = t[0] * q.inverse;
        carry = 0;
        for (uint j = 0; j < LIMBS; ++j) {
            ulong low = m * q.value.word[j];
            ulong high = mulhi(m, q.value.word[j]);
            low += t[j];
            high += ulong(low < t[j]);
            low += carry;
            high += ulong(low < carry);
            if (j > 0) t[j - 1] = low;
            carry = high;
        }
        t[5] = t[6] + carry;
        t[6] = t[7] + ulong(t[5] < carry);
    }
    Coordinate result;
    for (uint i = 0; i < LIMBS; ++i) result.word[i] = t[i];
    return at_least(result, q.value) ? difference(result, q.value) : result;
}

static Point infinity() {
    Point p;
    for (uint i = 0; i < LIMBS; ++i) {
        p.x.word[i] = 0;
        p.y.word[i] = 0;
        p.z.word[i] = 0;
    }
    return p;
}

// dbl-2009-l of the Explicit-Formulas Database, for curves with a = 0.
static Point twice(Point p, Prime q) {
    if (is_zero(p.z)) return p;
    Coordinate a = multiply(p.x, p.x, q);
    Coordinate b = multiply(p.y, p.y, q);
    Coordinate c = multiply(b, b, q);
    Coordinate d = add(p.x, b, q);
    d = subtract(subtract(multiply(d, d, q), a, q), c, q);
    d = add(d, d, q);
    Coordinate e = add(add(a, a, q), a, q);
    Coordinate f = multiply(e, e, q);
    Point result;
    result.x = subtract(f, add(d, d, q), q);
    Coordinate c2 = add(c, c, q);
    Coordinate c4 = add(c2, c2, q);
    result.y = subtract(multiply(e, subtract(d, result.x, q), q), add(c4, c4, q), q);
    Coordinate yz = multiply(p.y, p.z, q);
    result.z = add(yz, yz, q);
    return result;
}

// add-2007-bl without its shared squares; complete.
static Point combine(Point p, Point r, Prime q) {
    if (is_zero(p.z)) return r;
    if (is_zero(r.z)) return p;
    Coordinate z1z1 = multiply(p.z, p.z, q);
    Coordinate z2z2 = multiply(r.z, r.z, q);
    Coordinate u1 = multiply(p.x, z2z2, q);
    Coordinate u2 = multiply(r.x, z1z1, q);
    Coordinate s1 = multiply(multiply(p.y, r.z, q), z2z2, q);
    Coordinate s2 = multiply(multiply(r.y, p.z, q), z1z1, q);
    Coordinate h = subtract(u2, u1, q);
    Coordinate s = subtract(s2, s1, q);
    if (is_zero(h)) return is_zero(s) ? twice(p, q) : infinity();
    Coordinate hh = multiply(h, h, q);
    Coordinate hhh = multiply(hh, h, q);
    Coordinate v = multiply(u1, hh, q);
    Point result;
    result.x = subtract(subtract(multiply(s, s, q), hhh, q), add(v, v, q), q);
    result.y = subtract(multiply(s, subtract(v, result.x, q), q), multiply(s1, hhh, q), q);
    result.z = multiply(multiply(p.z, r.z, q), h, q);
    return result;
}

static Coordinate load_coordinate(device const ulong* words) {
    Coordinate a;
    for (uint i = 0; i < LIMBS; ++i) a.word[i] = words[i];
    return a;
}

static Prime load_prime(device const ulong* words, ulong inverse) {
    Prime q;
    q.value = load_coordinate(words);
    q.inverse = inverse;
    return q;
}

static Point load(device const ulong* words) {
    Point p;
    p.x = load_coordinate(words);
    p.y = load_coordinate(words + LIMBS);
    p.z = load_coordinate(words + 2 * LIMBS);
    return p;
}

static void store(device ulong* words, Point p) {
    for (uint i = 0; i < LIMBS; ++i) {
        words[i] = p.x.word[i];
        words[LIMBS + i] = p.y.word[i];
        words[2 * LIMBS + i] = p.z.word[i];
    }
}

kernel void montgomery_msm_pair(device const ulong* scalars [[buffer(0)]],
                                device const ulong* points_in [[buffer(1)]],
                                device ulong* scratch [[buffer(2)]],
                                device const ulong* q [[buffer(3)]],
                                constant ulong& q_inv_neg [[buffer(4)]],
                                constant uint& n_pairs [[buffer(5)]],
                                uint idx [[thread_position_in_grid]]) {
    if (idx >= n_pairs) return;
    Prime prime = load_prime(q, q_inv_neg);
    Point p = load(points_in + 18 * idx);
    Point table[16];
    table[0] = infinity();
    table[1] = p;
    for (uint i = 2; i < 16; ++i) {
        table[i] = i % 2 == 0 ? twice(table[i / 2], prime) : combine(table[i - 1], p, prime);
    }
    Point result = infinity();
    for (uint digit = 64; digit-- > 0;) {
        for (uint i = 0; i < 4; ++i) result = twice(result, prime);
        uint value = uint(scalars[4 * idx + digit / 16] >> (4 * (digit % 16))) & 15;
        if (value != 0) result = combine(result, table[value], prime);
    }
    store(scratch + 18 * idx, result);
}

kernel void montgomery_msm_reduce(device ulong* scratch [[buffer(0)]],
                                  device const ulong* q [[buffer(1)]],
                                  constant ulong& q_inv_neg [[buffer(2)]],
                                  constant uint& half_count [[buffer(3)]],
                                  uint idx [[thread_position_in_grid]]) {
    if (idx >= half_count) return;
    Prime prime = load_prime(q, q_inv_neg);
    Point total = combine(load(scratch + 18 * idx), load(scratch + 18 * (idx + half_count)), prime);
    store(scratch + 18 * idx, total);
}

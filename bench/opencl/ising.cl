// Half a sweep of checkerboard Metropolis, in place: shaders/sci/ising.metal in OpenCL C.
static uint mix_bits(uint x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

kernel void ising_step(global char* spins, global const float* p_accept, uint NX, uint NY, uint step_idx, uint seed) {
    uint i = get_global_id(0);
    uint j = get_global_id(1);
    if (i >= NX || j >= NY) return;
    if (((i + j) & 1) != (step_idx & 1)) return;

    uint west = i == 0 ? NX - 1 : i - 1;
    uint east = i == NX - 1 ? 0 : i + 1;
    uint south = j == 0 ? NY - 1 : j - 1;
    uint north = j == NY - 1 ? 0 : j + 1;
    int field = spins[j * NX + west] + spins[j * NX + east] + spins[south * NX + i] + spins[north * NX + i];
    int spin = spins[j * NX + i];

    uint x = mix_bits(seed + step_idx * 0x9E3779B9u);
    x = mix_bits(x ^ (j * NX + i));
    float u = (float)(x >> 8) * (1.0f / 16777216.0f);
    if (u < p_accept[(spin * field + 4) / 2]) {
        spins[j * NX + i] = (char)(-spin);
    }
}

// A D2Q9 lattice Boltzmann step, pull streaming and BGK collision: shaders/sci/lbm.metal in OpenCL C.
constant int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float W[9] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f, 1.0f / 9.0f,
                       1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};

kernel void lbm_step(global const float* f_in, global float* f_out, uint NX, uint NY, float tau) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x >= NX || y >= NY) return;
    uint cells = NX * NY;
    float f[9];
    float density = 0.0f;
    float2 momentum = (float2)(0.0f);
    for (int k = 0; k < 9; ++k) {
        uint i = (x + NX - CX[k]) % NX;
        uint j = (y + NY - CY[k]) % NY;
        f[k] = f_in[k * cells + j * NX + i];
        density += f[k];
        momentum += f[k] * (float2)(CX[k], CY[k]);
    }
    float2 velocity = momentum / density;
    float speed2 = dot(velocity, velocity);
    for (int k = 0; k < 9; ++k) {
        float along = dot((float2)(CX[k], CY[k]), velocity);
        float equilibrium = W[k] * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * speed2);
        f_out[k * cells + y * NX + x] = f[k] - (f[k] - equilibrium) / tau;
    }
}

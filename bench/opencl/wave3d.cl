// A leapfrog step of the wave equation in a box: shaders/sci/wave3d.metal in OpenCL C.
kernel void wave_step(global const float* u_prev, global const float* u_curr, global float* u_next,
                      uint NX, uint NY, uint NZ, float alpha) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint z = get_global_id(2);
    if (x >= NX || y >= NY || z >= NZ) return;
    uint plane = NX * NY;
    uint cell = z * plane + y * NX + x;
    float u = u_curr[cell];
    bool on_face = x == 0 || y == 0 || z == 0 || x == NX - 1 || y == NY - 1 || z == NZ - 1;
    if (on_face) {
        u_next[cell] = u;
        return;
    }
    float neighbours = u_curr[cell - 1] + u_curr[cell + 1] + u_curr[cell - NX] + u_curr[cell + NX] +
                       u_curr[cell - plane] + u_curr[cell + plane];
    u_next[cell] = 2.0f * u - u_prev[cell] + alpha * (neighbours - 6.0f * u);
}

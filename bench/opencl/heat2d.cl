// An explicit heat step on a plane: shaders/sci/heat2d.metal in OpenCL C.
kernel void heat_step(global const float* u_in, global float* u_out, uint NX, uint NY, float alpha) {
    uint i = get_global_id(0);
    uint j = get_global_id(1);
    if (i >= NX || j >= NY) return;
    uint cell = j * NX + i;
    float u = u_in[cell];
    if (i == 0 || j == 0 || i == NX - 1 || j == NY - 1) {
        u_out[cell] = u;
        return;
    }
    float neighbours = u_in[cell - 1] + u_in[cell + 1] + u_in[cell - NX] + u_in[cell + NX];
    u_out[cell] = u + alpha * (neighbours - 4.0f * u);
}

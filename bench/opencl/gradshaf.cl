// A Picard step of the Grad-Shafranov equation: shaders/sci/gradshaf.metal in OpenCL C.
#define MAX_THREADS 256

kernel void gradshaf_axis_reduce(global const float* psi, global float* psi_axis, uint NR, uint NZ) {
    local float largest[MAX_THREADS];
    uint tid = get_local_id(0);
    uint tgsize = get_local_size(0);
    uint width = NR - 2;
    uint interior = width * (NZ - 2);
    float best = -INFINITY;
    for (uint point = tid; point < interior; point += tgsize) {
        uint j = point / width + 1;
        uint i = point % width + 1;
        best = max(best, psi[j * NR + i]);
    }
    largest[tid] = best;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = tgsize / 2; half_size > 0; half_size /= 2) {
        if (tid < half_size) {
            largest[tid] = max(largest[tid], largest[tid + half_size]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0) {
        psi_axis[0] = largest[0];
    }
}

kernel void gradshaf_step(global const float* psi_in, global float* psi_out, global const float* psi_axis,
                          uint NR, uint NZ, float Rmin, float dR, float dZ, float p_axis, float mu0, float omega) {
    uint i = get_global_id(0);
    uint j = get_global_id(1);
    if (i >= NR || j >= NZ) return;
    uint point = j * NR + i;
    float psi = psi_in[point];
    if (i == 0 || j == 0 || i == NR - 1 || j == NZ - 1) {
        psi_out[point] = psi;
        return;
    }
    float R = Rmin + (float)(i) * dR;
    float n = psi / psi_axis[0];
    float J = n > 0.0f && n < 1.0f ? R * p_axis * 4.0f * n * (1.0f - n) : 0.0f;

    float inverse_dR2 = 1.0f / (dR * dR);
    float inverse_dZ2 = 1.0f / (dZ * dZ);
    float slope = 1.0f / (2.0f * R * dR);
    float centre = -2.0f * inverse_dR2 - 2.0f * inverse_dZ2;
    float laplacian = (inverse_dR2 + slope) * psi_in[point - 1] + (inverse_dR2 - slope) * psi_in[point + 1] +
                      inverse_dZ2 * (psi_in[point + NR] + psi_in[point - NR]) + centre * psi;
    psi_out[point] = psi + omega * (-mu0 * R * J - laplacian) / centre;
}

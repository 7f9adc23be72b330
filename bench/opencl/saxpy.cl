// y = a x + y: shaders/sci/saxpy.metal in OpenCL C.
kernel void saxpy(global const float* x, global float* y, float a, uint N) {
    uint i = get_global_id(0);
    if (i >= N) return;
    y[i] = a * x[i] + y[i];
}

// Softened gravity by direct summation: shaders/sci/nbody.metal in OpenCL C.
kernel void nbody_step(global const float4* pos_in, global float4* pos_out,
                       global const float4* vel_in, global float4* vel_out, global const float* mass,
                       uint N, float dt, float eps, float G) {
    uint i = get_global_id(0);
    if (i >= N) return;
    float3 position = pos_in[i].xyz;
    float3 acceleration = (float3)(0.0f);
    for (uint j = 0; j < N; ++j) {
        float3 offset = pos_in[j].xyz - position;
        float distance2 = dot(offset, offset) + eps * eps;
        float inverse = rsqrt(distance2);
        acceleration += (mass[j] * inverse * inverse * inverse) * offset;
    }
    float3 velocity = vel_in[i].xyz + G * acceleration * dt;
    vel_out[i] = (float4)(velocity, 0.0f);
    pos_out[i] = (float4)(position + velocity * dt, 0.0f);
}

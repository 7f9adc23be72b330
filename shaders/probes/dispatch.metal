// What one more dispatch costs: a single thread, which depends on the dispatch before it.
#include <metal_stdlib>
using namespace metal;

kernel void count_dispatch(device uint* counter [[buffer(0)]]) {
    counter[0] += 1u;
}

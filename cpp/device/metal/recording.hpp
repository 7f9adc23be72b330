// A plan resolved against a library: what is left to do for each dispatch is to hand values to an encoder.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "device/metal/context.hpp"
#include "device/metal/pipeline.hpp"
#include "device/plan.hpp"

namespace kfp::metal {

class Recording {
public:
    // Throws PipelineError. The arguments are referred to, not copied.
    Recording(const Context& context, const std::vector<Pipeline>& pipelines, const Plan& plan,
              std::span<const NS::SharedPtr<MTL::Buffer>> buffers);

    void encode(MTL::ComputeCommandEncoder& encoder) const;

private:
    struct BoundBuffer {
        const MTL::Buffer* buffer;
        NS::UInteger offset;
    };
    struct BoundBytes {
        std::span<const std::byte> bytes;
    };
    struct BoundThreadgroupMemory {
        NS::UInteger bytes;
    };
    struct Bound {
        NS::UInteger index;
        std::variant<BoundBuffer, BoundBytes, BoundThreadgroupMemory> value;
    };
    struct Call {
        const MTL::ComputePipelineState* pipeline;
        std::size_t first_bound;
        std::size_t bound_count;
        MTL::Size grid;
        MTL::Size threadgroup;
    };

    std::vector<Bound> bound_;
    std::vector<Call> calls_;
};

}  // namespace kfp::metal

// The buffers of a plan on the device, each with what it is put back to.
#pragma once

#include <span>
#include <vector>

#include "device/metal/context.hpp"
#include "device/plan.hpp"

namespace kfp::metal {

// To be overwritten before a run that must find nothing in a cache: longer than the last-level cache of any Apple chip.
NS::SharedPtr<MTL::Buffer> make_flush_buffer(const Context& context);

class Buffers {
public:
    // Throws PlanError (contents too short, buffer too long for the device), ExecutionError (no memory).
    Buffers(const Context& context, const std::vector<BufferSpec>& specs, std::span<const std::byte> contents);
    ~Buffers();
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    std::span<const NS::SharedPtr<MTL::Buffer>> all() const { return live_; }
    // Copies and fills on the device; `encoder` stays open.
    void encode_reset(MTL::BlitCommandEncoder& encoder) const;
    // Keeps the buffers wired for the command buffer, where macOS can.
    void make_resident(MTL::CommandBuffer& commands) const;

private:
    void wire(const Context& context);

    std::vector<NS::SharedPtr<MTL::Buffer>> live_;
    std::vector<NS::SharedPtr<MTL::Buffer>> pristine_;  // null for outputs and scratch
    NS::SharedPtr<MTL::ResidencySet> residency_;        // null before macOS 15
};

}  // namespace kfp::metal

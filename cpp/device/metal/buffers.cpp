#include "device/metal/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "device/metal/availability.hpp"

namespace kfp::metal {
namespace {

// A NaN in every floating-point type, and no plausible index.
constexpr std::uint8_t poison = 0xff;
// Blits on macOS copy and fill whole words.
constexpr std::uint64_t word = 4;

std::uint64_t round_up_to_word(std::uint64_t bytes) { return (bytes + word - 1) / word * word; }

// Hazard tracking stays at Metal's default: it is what orders the reset before the run that follows it.
NS::SharedPtr<MTL::Buffer> allocate(const Context& context, const BufferSpec& spec) {
    const std::uint64_t bytes = round_up_to_word(spec.bytes);
    if (bytes > context.max_buffer_length) {
        throw PlanError("buffer '" + spec.name + "': " + std::to_string(spec.bytes) + " bytes are more than the " +
                        std::to_string(context.max_buffer_length) + " of this device's longest buffer");
    }
    auto buffer = NS::TransferPtr(context.device->newBuffer(bytes, MTL::ResourceStorageModeShared));
    if (!buffer) {
        throw ExecutionError("buffer '" + spec.name + "': the device has no memory for its " +
                             std::to_string(spec.bytes) + " bytes");
    }
    return buffer;
}

NS::SharedPtr<MTL::Buffer> pristine_copy(const Context& context, const BufferSpec& spec,
                                         std::span<const std::byte> contents) {
    if (spec.contents_offset > contents.size() || spec.bytes > contents.size() - spec.contents_offset) {
        throw PlanError("buffer '" + spec.name + "': its initial content ends at byte " +
                        std::to_string(spec.contents_offset + spec.bytes) + " of a contents region of " +
                        std::to_string(contents.size()) + " bytes");
    }
    auto buffer = allocate(context, spec);
    std::memcpy(buffer->contents(), contents.data() + spec.contents_offset, spec.bytes);
    return buffer;
}

}  // namespace

NS::SharedPtr<MTL::Buffer> make_flush_buffer(const Context& context) {
    // The largest has 96 MB (M1 Ultra to M3 Ultra).
    const std::uint64_t bytes = std::min<std::uint64_t>(std::uint64_t{192} << 20, context.max_buffer_length);
    auto buffer = NS::TransferPtr(context.device->newBuffer(bytes, MTL::ResourceStorageModeShared));
    if (!buffer) throw ExecutionError("metal: the device has no memory to flush its caches with");
    return buffer;
}

Buffers::Buffers(const Context& context, const std::vector<BufferSpec>& specs, std::span<const std::byte> contents) {
    for (const BufferSpec& spec : specs) {
        live_.push_back(allocate(context, spec));
        const bool has_contents = spec.role == BufferRole::input || spec.role == BufferRole::state;
        pristine_.push_back(has_contents ? pristine_copy(context, spec, contents) : nullptr);
    }
    wire(context);
}

// Without a residency set macOS unwires idle buffers, and the first run after a pause pays for it. Where none can be
// made the buffers work all the same.
void Buffers::wire(const Context& context) {
    if (!available("newResidencySetWithDescriptor:error:")) return;
    const auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
    residency_ = NS::TransferPtr(context.device->newResidencySet(descriptor.get(), nullptr));
    if (!residency_) return;
    for (const auto* buffers : {&live_, &pristine_}) {
        for (const auto& buffer : *buffers) {
            if (buffer) residency_->addAllocation(buffer.get());
        }
    }
    residency_->commit();
    residency_->requestResidency();
}

Buffers::~Buffers() {
    if (residency_) residency_->endResidency();
}

void Buffers::make_resident(MTL::CommandBuffer& commands) const {
    if (residency_) commands.useResidencySet(residency_.get());
}

void Buffers::encode_reset(MTL::BlitCommandEncoder& encoder) const {
    for (std::size_t i = 0; i < live_.size(); ++i) {
        MTL::Buffer* const buffer = live_[i].get();
        if (pristine_[i]) {
            encoder.copyFromBuffer(pristine_[i].get(), 0, buffer, 0, buffer->length());
        } else {
            encoder.fillBuffer(buffer, NS::Range(0, buffer->length()), poison);
        }
    }
}

}  // namespace kfp::metal

#include "commands.hpp"
#include "device.hpp"

namespace standin {
namespace {

constexpr unsigned long max_index = 30;
constexpr unsigned long max_bytes = 4096;
constexpr unsigned long word = 4;

void check_index(unsigned long index, const char* selector) {
    if (index > max_index) {
        fail(std::string("-[MTLComputeCommandEncoder ") + selector + "] with index " + std::to_string(index) +
             "; the largest is " + std::to_string(max_index));
    }
}

std::string text(Size size) {
    return "(" + std::to_string(size.width) + ", " + std::to_string(size.height) + ", " + std::to_string(size.depth) +
           ")";
}

void check_range(const Buffer* buffer, unsigned long offset, unsigned long size, const char* selector) {
    const std::string name = std::string("-[MTLBlitCommandEncoder ") + selector + "]";
    if (buffer == nullptr) fail(name + " without a buffer");
    if (offset > buffer->length() || size > buffer->length() - offset) {
        fail(name + " of " + std::to_string(size) + " bytes from " + std::to_string(offset) + " in a buffer of " +
             std::to_string(buffer->length()));
    }
    if (size == 0 || offset % word != 0 || size % word != 0) {
        fail(name + " of " + std::to_string(size) + " bytes from " + std::to_string(offset) + "; macOS wants words of 4");
    }
}

}  // namespace

Encoder::~Encoder() {
    if (open_) fail(std::string(its_class().name) + " released without endEncoding");
}

void Encoder::expect_open(const char* selector) const {
    if (!open_) fail(std::string("-[") + its_class().name + " " + selector + "] after endEncoding");
}

void Encoder::close() {
    expect_open("endEncoding");
    open_ = false;
    commands_->encoder_ended();
}

const Class& ComputeEncoder::its() {
    static const Class table{"MTLComputeCommandEncoder", nullptr, {
        method<&ComputeEncoder::set_pipeline>("setComputePipelineState:", {10, 11}),
        method<&ComputeEncoder::set_buffer>("setBuffer:offset:atIndex:", {10, 11}),
        method<&ComputeEncoder::set_bytes>("setBytes:length:atIndex:", {10, 11}),
        method<&ComputeEncoder::set_threadgroup_memory>("setThreadgroupMemoryLength:atIndex:", {10, 11}),
        method<&ComputeEncoder::dispatch>("dispatchThreads:threadsPerThreadgroup:", {10, 13}),
        method<&ComputeEncoder::end>("endEncoding", {10, 11}),
    }, {}};
    return table;
}

void ComputeEncoder::set_pipeline(Pipeline* pipeline) {
    expect_open("setComputePipelineState:");
    if (pipeline == nullptr) fail("-[MTLComputeCommandEncoder setComputePipelineState:] with nil");
    state_.pipeline = Ref<Pipeline>::retain(pipeline);
}

void ComputeEncoder::set_buffer(Buffer* buffer, unsigned long offset, unsigned long index) {
    expect_open("setBuffer:offset:atIndex:");
    check_index(index, "setBuffer:offset:atIndex:");
    if (buffer == nullptr) fail("-[MTLComputeCommandEncoder setBuffer:offset:atIndex:] with nil");
    if (offset >= buffer->length()) {
        fail("-[MTLComputeCommandEncoder setBuffer:offset:atIndex:] with offset " + std::to_string(offset) +
             " into a buffer of " + std::to_string(buffer->length()) + " bytes");
    }
    state_.buffers[index] = BoundBuffer{Ref<Buffer>::retain(buffer), offset};
    commands().touch(buffer);
}

void ComputeEncoder::set_bytes(const void* bytes, unsigned long length, unsigned long index) {
    expect_open("setBytes:length:atIndex:");
    check_index(index, "setBytes:length:atIndex:");
    if (length == 0 || length > max_bytes) {
        fail("-[MTLComputeCommandEncoder setBytes:length:atIndex:] with " + std::to_string(length) + " bytes");
    }
    const auto* first = static_cast<const std::byte*>(bytes);
    state_.buffers[index] = std::vector<std::byte>(first, first + length);
}

void ComputeEncoder::set_threadgroup_memory(unsigned long length, unsigned long index) {
    expect_open("setThreadgroupMemoryLength:atIndex:");
    check_index(index, "setThreadgroupMemoryLength:atIndex:");
    if (length == 0 || length % 16 != 0) {
        fail("-[MTLComputeCommandEncoder setThreadgroupMemoryLength:atIndex:] with " + std::to_string(length) +
             " bytes, not a multiple of 16");
    }
    state_.threadgroup_memory[index] = length;
}

void ComputeEncoder::check_geometry(Size grid, Size threadgroup) const {
    const std::string name = "-[MTLComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:]";
    for (const Size size : {grid, threadgroup}) {
        if (size.width == 0 || size.height == 0 || size.depth == 0) fail(name + " with an empty " + text(size));
    }
    const unsigned long most = state_.pipeline->max_threads();
    for (const unsigned long length : {threadgroup.width, threadgroup.height, threadgroup.depth}) {
        if (length > max_threads_per_threadgroup) fail(name + " with a bad threadgroup size " + text(threadgroup));
    }
    if (threadgroup.width * threadgroup.height * threadgroup.depth > most) {
        fail(name + " with a bad threadgroup size " + text(threadgroup) + "; the pipeline takes " +
             std::to_string(most) + " threads");
    }
}

void ComputeEncoder::check_bindings() const {
    unsigned long memory = state_.pipeline->static_memory();
    for (const auto& [index, length] : state_.threadgroup_memory) memory += length;
    if (memory > max_threadgroup_memory) {
        fail("a dispatch with " + std::to_string(memory) + " bytes of threadgroup memory");
    }
    for (const auto& parameter : state_.pipeline->info().parameters) {
        const bool bound = parameter.kind == kfp::ParameterKind::buffer ? state_.buffers.contains(parameter.index)
                           : parameter.kind == kfp::ParameterKind::threadgroup
                               ? state_.threadgroup_memory.contains(parameter.index)
                               : true;
        if (!bound) fail("a dispatch with nothing bound to '" + parameter.name + "'");
    }
}

void ComputeEncoder::dispatch(Size grid, Size threadgroup) {
    expect_open("dispatchThreads:threadsPerThreadgroup:");
    if (!state_.pipeline) fail("-[MTLComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:] without a pipeline");
    check_geometry(grid, threadgroup);
    check_bindings();
    pass_.push_back(state_);
    pass_.back().grid = grid;
    pass_.back().threadgroup = threadgroup;
}

void ComputeEncoder::end() {
    close();
    commands().append(std::move(pass_));
}

const Class& BlitEncoder::its() {
    static const Class table{"MTLBlitCommandEncoder", nullptr, {
        method<&BlitEncoder::copy>("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", {10, 11}),
        method<&BlitEncoder::fill>("fillBuffer:range:value:", {10, 11}),
        method<&BlitEncoder::end>("endEncoding", {10, 11}),
    }, {}};
    return table;
}

void BlitEncoder::copy(Buffer* source, unsigned long source_offset, Buffer* destination,
                       unsigned long destination_offset, unsigned long size) {
    constexpr const char* selector = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:";
    expect_open(selector);
    check_range(source, source_offset, size, selector);
    check_range(destination, destination_offset, size, selector);
    commands().touch(source);
    commands().touch(destination);
    commands().append(Copy{Ref<Buffer>::retain(source), source_offset, Ref<Buffer>::retain(destination),
                           destination_offset, size});
}

void BlitEncoder::fill(Buffer* buffer, Range range, std::uint8_t value) {
    expect_open("fillBuffer:range:value:");
    check_range(buffer, range.location, range.length, "fillBuffer:range:value:");
    commands().touch(buffer);
    commands().append(Fill{Ref<Buffer>::retain(buffer), range, value});
}

void BlitEncoder::end() { close(); }

}  // namespace standin

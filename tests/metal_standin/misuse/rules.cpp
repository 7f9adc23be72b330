#include "rules.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "device/metal/metal_cpp.hpp"
#include "device/metal/objects.hpp"

namespace {

constexpr NS::UInteger words = 64;
const MTL::Size grid{words, 1, 1};
const MTL::Size threadgroup{32, 1, 1};

// Everything up to the first command buffer, done right.
struct Bench {
    kfp::metal::AutoreleaseScope scope;
    NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device->newCommandQueue());
    NS::SharedPtr<MTL::Buffer> buffer =
        NS::TransferPtr(device->newBuffer(words * sizeof(std::uint32_t), MTL::ResourceStorageModeShared));
    NS::SharedPtr<MTL::ComputePipelineState> pipeline = make_pipeline();
    MTL::CommandBuffer* commands = queue->commandBuffer();

    NS::SharedPtr<MTL::ComputePipelineState> make_pipeline() {
        NS::Error* error = nullptr;
        const auto source = kfp::metal::string_of("");
        const auto library = NS::TransferPtr(device->newLibrary(source.get(), nullptr, &error));
        const auto function = NS::TransferPtr(library->newFunction(kfp::metal::string_of("count_up").get()));
        return NS::TransferPtr(device->newComputePipelineState(function.get(), MTL::PipelineOptionNone, nullptr, &error));
    }

    void zero() {
        auto* content = static_cast<std::uint32_t*>(buffer->contents());
        for (NS::UInteger i = 0; i < words; ++i) content[i] = 0;
    }

    MTL::ComputeCommandEncoder* compute() { return commands->computeCommandEncoder(MTL::DispatchTypeSerial); }

    void encode(MTL::ComputeCommandEncoder* encoder) {
        encoder->setComputePipelineState(pipeline.get());
        encoder->setBuffer(buffer.get(), 0, 0);
        encoder->dispatchThreads(grid, threadgroup);
    }

    void encode_pass() {
        auto* encoder = compute();
        encode(encoder);
        encoder->endEncoding();
    }
};

// Breaks nothing.
void none() {
    Bench bench;
    bench.zero();
    bench.encode_pass();
    bench.commands->commit();
    bench.commands->waitUntilCompleted();
    const auto* result = static_cast<const std::uint32_t*>(bench.buffer->contents());
    for (NS::UInteger i = 0; i < words; ++i) {
        if (result[i] != i) std::exit(1);
    }
}

void unknown_selector() { Bench().device->registryID(); }

void selector_too_new() {
    Bench bench;
    NS::TransferPtr(bench.device->newResidencySet(nullptr, nullptr));
}

void alloc_of_a_reflection() { MTL::ComputePipelineReflection::alloc(); }

void commit_with_open_encoder() {
    Bench bench;
    bench.encode(bench.compute());
    bench.commands->commit();
}

void commit_twice() {
    Bench bench;
    bench.encode_pass();
    bench.commands->commit();
    bench.commands->commit();
}

void wait_before_commit() {
    Bench bench;
    bench.encode_pass();
    bench.commands->waitUntilCompleted();
}

void contents_before_wait() {
    Bench bench;
    bench.encode_pass();
    bench.commands->commit();
    bench.buffer->contents();
}

void times_before_completion() {
    Bench bench;
    bench.encode_pass();
    bench.commands->GPUStartTime();
}

void contents_of_private_buffer() {
    Bench bench;
    NS::TransferPtr(bench.device->newBuffer(words, MTL::ResourceStorageModePrivate))->contents();
}

void dispatch_without_pipeline() {
    Bench bench;
    auto* encoder = bench.compute();
    encoder->setBuffer(bench.buffer.get(), 0, 0);
    encoder->dispatchThreads(grid, threadgroup);
}

void dispatch_without_argument() {
    Bench bench;
    auto* encoder = bench.compute();
    encoder->setComputePipelineState(bench.pipeline.get());
    encoder->dispatchThreads(grid, threadgroup);
}

void threadgroup_too_big() {
    Bench bench;
    auto* encoder = bench.compute();
    bench.encode(encoder);
    encoder->dispatchThreads(grid, MTL::Size(64, 32, 1));
}

void threadgroup_empty() {
    Bench bench;
    auto* encoder = bench.compute();
    bench.encode(encoder);
    encoder->dispatchThreads(grid, MTL::Size(32, 0, 1));
}

void threadgroup_memory_too_big() {
    Bench bench;
    auto* encoder = bench.compute();
    encoder->setThreadgroupMemoryLength(65536, 0);
    bench.encode(encoder);
}

void threadgroup_memory_odd() {
    Bench bench;
    bench.compute()->setThreadgroupMemoryLength(20, 0);
}

void buffer_index() {
    Bench bench;
    bench.compute()->setBuffer(bench.buffer.get(), 0, 31);
}

void buffer_offset() {
    Bench bench;
    bench.compute()->setBuffer(bench.buffer.get(), bench.buffer->length(), 0);
}

void bytes_too_long() {
    Bench bench;
    const char bytes[4097] = {};
    bench.compute()->setBytes(bytes, sizeof bytes, 0);
}

void encoder_never_ended() {
    Bench bench;
    bench.compute();
}

void encode_after_end() {
    Bench bench;
    auto* encoder = bench.compute();
    encoder->endEncoding();
    bench.encode(encoder);
}

void two_encoders() {
    Bench bench;
    bench.compute();
    bench.compute();
}

void encode_after_commit() {
    Bench bench;
    bench.commands->commit();
    bench.compute();
}

void copy_past_the_end() {
    Bench bench;
    const NS::UInteger length = bench.buffer->length();
    const auto target = NS::TransferPtr(bench.device->newBuffer(2 * length, MTL::ResourceStorageModeShared));
    bench.commands->blitCommandEncoder()->copyFromBuffer(bench.buffer.get(), 4, target.get(), 0, length);
}

void fill_of_odd_bytes() {
    Bench bench;
    bench.commands->blitCommandEncoder()->fillBuffer(bench.buffer.get(), NS::Range(0, 7), 0);
}

void buffer_of_no_bytes() {
    Bench bench;
    bench.device->newBuffer(NS::UInteger{0}, MTL::ResourceStorageModeShared);
}

void used_after_release() {
    Bench bench;
    auto* buffer = bench.buffer.get();
    bench.buffer.reset();
    buffer->length();
}

void released_twice() {
    Bench bench;
    bench.buffer->release();
    bench.buffer->release();
}

void forgotten_release() {
    Bench bench;
    bench.device->newBuffer(words, MTL::ResourceStorageModeShared);
}

void no_autorelease_pool() {
    const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    NS::TransferPtr(device->newCommandQueue())->commandBuffer();
}

}  // namespace

std::map<std::string, std::function<void()>> rules() {
    return {
        {"none", none},
        {"alloc_of_a_reflection", alloc_of_a_reflection},
        {"buffer_index", buffer_index},
        {"buffer_of_no_bytes", buffer_of_no_bytes},
        {"buffer_offset", buffer_offset},
        {"bytes_too_long", bytes_too_long},
        {"commit_twice", commit_twice},
        {"commit_with_open_encoder", commit_with_open_encoder},
        {"contents_before_wait", contents_before_wait},
        {"contents_of_private_buffer", contents_of_private_buffer},
        {"copy_past_the_end", copy_past_the_end},
        {"dispatch_without_argument", dispatch_without_argument},
        {"dispatch_without_pipeline", dispatch_without_pipeline},
        {"encode_after_commit", encode_after_commit},
        {"encode_after_end", encode_after_end},
        {"encoder_never_ended", encoder_never_ended},
        {"fill_of_odd_bytes", fill_of_odd_bytes},
        {"forgotten_release", forgotten_release},
        {"no_autorelease_pool", no_autorelease_pool},
        {"released_twice", released_twice},
        {"selector_too_new", selector_too_new},
        {"threadgroup_empty", threadgroup_empty},
        {"threadgroup_memory_odd", threadgroup_memory_odd},
        {"threadgroup_memory_too_big", threadgroup_memory_too_big},
        {"threadgroup_too_big", threadgroup_too_big},
        {"times_before_completion", times_before_completion},
        {"two_encoders", two_encoders},
        {"unknown_selector", unknown_selector},
        {"used_after_release", used_after_release},
        {"wait_before_commit", wait_before_commit},
    };
}

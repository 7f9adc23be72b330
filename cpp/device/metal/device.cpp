#include <cctype>
#include <string>
#include <utility>

#include "device/metal/availability.hpp"
#include "device/metal/clock.hpp"
#include "device/metal/context.hpp"
#include "device/metal/library.hpp"
#include "device/metal/metal.hpp"
#include "device/metal/objects.hpp"

namespace kfp::metal {
namespace {

// The hosted runners' GPU calls itself "Apple Paravirtual device".
bool says_virtual(std::string name) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name.find("virtual") != std::string::npos;
}

// A machine has one GPU of Apple's. The list comes first because the system default is null in a process that has not
// loaded CoreGraphics.
NS::SharedPtr<MTL::Device> find_device() {
    const auto devices = NS::TransferPtr(MTL::CopyAllDevices());
    if (devices && devices->count() > 0) return NS::RetainPtr(devices->object<MTL::Device>(0));
    return NS::TransferPtr(MTL::CreateSystemDefaultDevice());
}

DeviceInfo blank_info() {
    DeviceInfo info;
    info.name = "metal";
    return info;
}

DeviceInfo info_of(MTL::Device& device) {
    DeviceInfo info = blank_info();
    info.description = text_of(device.name());
    // Compiler and driver are parts of macOS; the architecture tells apart GPUs that share a name.
    info.driver = "macOS " + text_of(NS::ProcessInfo::processInfo()->operatingSystemVersionString()) + ", " +
                  text_of(device.architecture()->name());
    info.available = true;
    info.is_virtual = says_virtual(info.description);
    info.tick_seconds = tick_seconds();
    info.max_threads_per_threadgroup = static_cast<std::uint32_t>(device.maxThreadsPerThreadgroup().width);
    info.thread_execution_width = 32;  // of every GPU of Apple's; a pipeline says its own
    info.max_threadgroup_memory_length = static_cast<std::uint32_t>(device.maxThreadgroupMemoryLength());
    return info;
}

// Null, and the reason, where this machine has no Metal that we can use.
NS::SharedPtr<MTL::Device> usable_device(std::string& reason) {
    if (!at_least(minimum_macos)) {
        reason = "expected macOS " + std::to_string(minimum_macos.major) + " or later, this is " +
                 text_of(NS::ProcessInfo::processInfo()->operatingSystemVersionString());
        return nullptr;
    }
    auto device = find_device();
    if (!device) reason = "macOS offers this process no Metal device";
    return device;
}

class MetalDevice final : public Device {
public:
    explicit MetalDevice(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

    const DeviceInfo& info() const override { return context_->info; }

    std::unique_ptr<Library> compile(std::string_view source, const CompileOptions& options) override {
        const AutoreleaseScope scope;
        return compile_library(context_, source, options);
    }

private:
    std::shared_ptr<const Context> context_;
};

}  // namespace

DeviceInfo describe() {
    const AutoreleaseScope scope;
    DeviceInfo info = blank_info();
    const auto device = usable_device(info.reason);
    return device ? info_of(*device.get()) : info;
}

std::unique_ptr<Device> open() {
    const AutoreleaseScope scope;
    std::string reason;
    auto device = usable_device(reason);
    if (!device) throw DeviceUnavailable("metal: " + reason);
    auto queue = NS::TransferPtr(device->newCommandQueue());
    if (!queue) throw DeviceUnavailable("metal: the device made no command queue");

    auto context = std::make_shared<Context>();
    context->info = info_of(*device.get());
    context->max_threads_per_threadgroup = device->maxThreadsPerThreadgroup();
    context->max_buffer_length = device->maxBufferLength();
    context->device = std::move(device);
    context->queue = std::move(queue);
    return std::make_unique<MetalDevice>(std::move(context));
}

}  // namespace kfp::metal

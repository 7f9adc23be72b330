#include "device.hpp"

#include "standin.hpp"

namespace standin {

const Class& Architecture::its() {
    static const Class table{"MTLArchitecture", nullptr, {
        method<&Architecture::name>("name", {14, 0}),
    }, {}};
    return table;
}

const Class& Device::its() {
    static const Class table{"MTLDevice", nullptr, {
        method<&Device::name>("name", {10, 11}),
        method<&Device::architecture>("architecture", {14, 0}),
        method<&Device::max_threads>("maxThreadsPerThreadgroup", {10, 11}),
        method<&Device::max_memory>("maxThreadgroupMemoryLength", {10, 13}),
        method<&Device::max_length>("maxBufferLength", {10, 14}),
        method<&Device::new_queue>("newCommandQueue", {10, 11}),
        method<&Device::new_buffer>("newBufferWithLength:options:", {10, 11}),
        method<&Device::new_library>("newLibraryWithSource:options:error:", {10, 11}),
        method<&Device::new_pipeline>("newComputePipelineStateWithFunction:options:reflection:error:", {10, 11}),
        method<&Device::new_residency_set>("newResidencySetWithDescriptor:error:", {15, 0}),
    }, {}};
    return table;
}

Device::Device()
    : Object(its()), name_(make<String>(configuration().device_name)), architecture_(make<Architecture>()) {}

Buffer* Device::new_buffer(unsigned long length, unsigned long options) {
    if (length == 0 || length > max_buffer_length) {
        fail("-[MTLDevice newBufferWithLength:options:] with length " + std::to_string(length));
    }
    ++statistics().buffers;
    return make<Buffer>(length, options).give_up();
}

Library* Device::new_library(String* source, CompileOptions* options, Error** error) {
    return Library::compile(source, options, error);
}

Pipeline* Device::new_pipeline(Function* function, unsigned long options, Reflection** reflection, Error** error) {
    ++statistics().pipelines;
    return Pipeline::create(function, options, reflection, error);
}

ResidencySet* Device::new_residency_set(ResidencySetDescriptor* descriptor, Error**) {
    if (descriptor == nullptr) fail("-[MTLDevice newResidencySetWithDescriptor:error:] without a descriptor");
    return make<ResidencySet>().give_up();
}

const std::vector<const Class*>& all_classes() {
    static const std::vector<const Class*> classes{
        &Architecture::its(),
        &Array::its(),
        &AutoreleasePool::its(),
        &Binding::its(),
        &BlitEncoder::its(),
        &Buffer::its(),
        &CommandBuffer::its(),
        &CommandQueue::its(),
        &CompileOptions::its(),
        &ComputeEncoder::its(),
        &Device::its(),
        &Dictionary::its(),
        &Enumerator::its(),
        &Error::its(),
        &Function::its(),
        &FunctionConstant::its(),
        &FunctionConstantValues::its(),
        &Library::its(),
        &Pipeline::its(),
        &ProcessInfo::its(),
        &Reflection::its(),
        &ResidencySet::its(),
        &ResidencySetDescriptor::its(),
        &String::its(),
    };
    return classes;
}

}  // namespace standin

extern "C" {

standin::Device* MTLCreateSystemDefaultDevice() {
    return standin::configuration().has_device ? standin::make<standin::Device>().give_up() : nullptr;
}

standin::Array* MTLCopyAllDevices() {
    std::vector<standin::Ref<standin::Object>> devices;
    if (auto* device = MTLCreateSystemDefaultDevice()) devices.push_back(standin::Ref<standin::Object>::adopt(device));
    return standin::make<standin::Array>(std::move(devices)).give_up();
}

// metal-cpp refers to what follows; nobody here calls it.
standin::Array* MTLCopyAllDevicesWithObserver(void*, void*) { standin::fail("MTLCopyAllDevicesWithObserver"); }
void MTLRemoveDeviceObserver(void*) { standin::fail("MTLRemoveDeviceObserver"); }
void _Block_object_assign(void*, const void*, int) { standin::fail("a block was copied"); }
void _Block_object_dispose(const void*, int) { standin::fail("a block was disposed of"); }
void* _NSConcreteStackBlock[32];

}  // extern "C"

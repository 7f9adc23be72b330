#include "buffer.hpp"

#include <cstring>

namespace standin {
namespace {

constexpr unsigned long storage_private = 1UL << 5;
constexpr int fresh_memory = 0xa5;  // what nobody wrote

}  // namespace

const Class& Buffer::its() {
    static const Class table{"MTLBuffer", nullptr, {
        method<&Buffer::contents>("contents", {10, 11}),
        method<&Buffer::length>("length", {10, 11}),
    }, {}};
    return table;
}

Buffer::Buffer(unsigned long length, unsigned long options)
    : Object(its()), length_(length), is_private_((options & storage_private) != 0), bytes_(new std::byte[length]) {
    std::memset(bytes_.get(), fresh_memory, length);
}

void* Buffer::contents() const {
    if (is_private_) fail("-[MTLBuffer contents] of a buffer in private storage");
    if (in_flight_ > 0) fail("-[MTLBuffer contents] before waitUntilCompleted on the command buffer that uses it");
    return bytes_.get();
}

const Class& ResidencySetDescriptor::its() {
    static const Class table{"MTLResidencySetDescriptor", make_blank<ResidencySetDescriptor>, {}, {}};
    return table;
}

const Class& ResidencySet::its() {
    static const Class table{"MTLResidencySet", nullptr, {
        method<&ResidencySet::add>("addAllocation:", {15, 0}),
        method<&ResidencySet::commit>("commit", {15, 0}),
        method<&ResidencySet::request>("requestResidency", {15, 0}),
        method<&ResidencySet::end>("endResidency", {15, 0}),
    }, {}};
    return table;
}

ResidencySet::~ResidencySet() {
    if (resident_) fail("MTLResidencySet released while its residency is requested");
}

void ResidencySet::add(Buffer* buffer) {
    if (!buffers_.insert(buffer).second) fail("-[MTLResidencySet addAllocation:] of a buffer that it has already");
    retained_.push_back(Ref<Buffer>::retain(buffer));
    pending_ = true;
}

void ResidencySet::request() {
    if (pending_) fail("-[MTLResidencySet requestResidency] before its changes were committed");
    resident_ = true;
}

void ResidencySet::end() {
    if (!resident_) fail("-[MTLResidencySet endResidency] without a request");
    resident_ = false;
}

void ResidencySet::use() const {
    if (pending_) fail("-[MTLCommandBuffer useResidencySet:] before the set's changes were committed");
}

}  // namespace standin

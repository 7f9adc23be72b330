// Buffers and the residency sets that hold them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <set>

#include "foundation.hpp"
#include "object.hpp"

namespace standin {

class Buffer : public Object {
public:
    static const Class& its();
    Buffer(unsigned long length, unsigned long options);

    unsigned long length() const { return length_; }
    void* contents() const;

    // For the device's side; the host must go through contents().
    std::byte* bytes() const { return bytes_.get(); }
    // Between a commit and the wait that follows it the host must keep its hands off.
    void enter_flight() { ++in_flight_; }
    void leave_flight() { --in_flight_; }

private:
    unsigned long length_;
    bool is_private_;
    std::unique_ptr<std::byte[]> bytes_;
    std::atomic<int> in_flight_{0};
};

class ResidencySetDescriptor : public Object {
public:
    static const Class& its();
    ResidencySetDescriptor() : Object(its()) {}
};

class ResidencySet : public Object {
public:
    static const Class& its();
    ResidencySet() : Object(its()) {}
    ~ResidencySet() override;

    void add(Buffer* buffer);
    void commit() { pending_ = false; }
    void request();
    void end();
    void use() const;

private:
    std::set<const Buffer*> buffers_;
    std::vector<Ref<Buffer>> retained_;
    bool pending_ = false;
    bool resident_ = false;
};

}  // namespace standin

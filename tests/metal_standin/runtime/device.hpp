#pragma once

#include "buffer.hpp"
#include "commands.hpp"
#include "geometry.hpp"
#include "library.hpp"
#include "object.hpp"

namespace standin {

inline constexpr unsigned long max_threads_per_threadgroup = 1024;
inline constexpr unsigned long max_threadgroup_memory = 32768;  // bytes
inline constexpr unsigned long max_buffer_length = 1UL << 32;   // bytes

class Architecture : public Object {
public:
    static const Class& its();
    Architecture() : Object(its()), name_(make<String>("applegpu_standin")) {}

    String* name() const { return name_.get(); }

private:
    Ref<String> name_;
};

class Device : public Object {
public:
    static const Class& its();
    Device();

    String* name() const { return name_.get(); }
    Architecture* architecture() const { return architecture_.get(); }
    Size max_threads() const {
        return {max_threads_per_threadgroup, max_threads_per_threadgroup, max_threads_per_threadgroup};
    }
    unsigned long max_memory() const { return max_threadgroup_memory; }
    unsigned long max_length() const { return max_buffer_length; }

    CommandQueue* new_queue() { return make<CommandQueue>().give_up(); }
    Buffer* new_buffer(unsigned long length, unsigned long options);
    Library* new_library(String* source, CompileOptions* options, Error** error);
    Pipeline* new_pipeline(Function* function, unsigned long options, Reflection** reflection, Error** error);
    ResidencySet* new_residency_set(ResidencySetDescriptor* descriptor, Error** error);

private:
    Ref<String> name_;
    Ref<Architecture> architecture_;
};

}  // namespace standin

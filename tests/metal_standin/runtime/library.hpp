// From source text to pipelines; the backing device compiles.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "foundation.hpp"
#include "object.hpp"

namespace standin {

class CompileOptions : public Object {
public:
    static const Class& its();
    CompileOptions() : Object(its()) {}

    void set_fast_math(bool fast) { math_ = fast ? kfp::Math::fast : kfp::Math::precise; }
    void set_math_mode(long mode);
    void set_math_functions(long functions);
    void set_language(unsigned long version);
    kfp::Math math() const { return math_; }

private:
    kfp::Math math_ = kfp::Math::fast;
};

class FunctionConstant : public Object {
public:
    static const Class& its();
    FunctionConstant(unsigned long index, unsigned long type) : Object(its()), index_(index), type_(type) {}

    unsigned long index() const { return index_; }
    unsigned long type() const { return type_; }

private:
    unsigned long index_;
    unsigned long type_;
};

class FunctionConstantValues : public Object {
public:
    static const Class& its();
    FunctionConstantValues() : Object(its()) {}

    void set(const void* value, unsigned long type, unsigned long index);
    const std::vector<kfp::FunctionConstant>& values() const { return values_; }

private:
    std::vector<kfp::FunctionConstant> values_;
};

class Function : public Object {
public:
    static const Class& its();
    Function(std::shared_ptr<kfp::Library> library, kfp::KernelInfo info, Ref<Dictionary> constants, bool specialised);

    String* name() const { return name_.get(); }
    unsigned long type() const;
    Dictionary* constants() const { return constants_.get(); }
    const std::shared_ptr<kfp::Library>& library() const { return library_; }
    const kfp::KernelInfo& info() const { return info_; }
    // A function with constants has no pipeline before it has been given their values.
    bool needs_constants() const { return constants_->count() > 0 && !specialised_; }

private:
    std::shared_ptr<kfp::Library> library_;
    kfp::KernelInfo info_;
    Ref<String> name_;
    Ref<Dictionary> constants_;
    bool specialised_;
};

class Library : public Object {
public:
    static const Class& its();
    Library(std::string source, kfp::Math math, std::shared_ptr<kfp::Library> compiled);

    // Null, and an error in *error, when the source doesn't compile.
    static Library* compile(String* source, CompileOptions* options, Error** error);

    Array* names() const;
    Function* function(String* name) const;
    Function* specialised(String* name, FunctionConstantValues* values, Error** error) const;

private:
    Ref<Dictionary> declared_constants() const;
    Function* find(const std::shared_ptr<kfp::Library>& compiled, String* name, bool specialised) const;

    std::string source_;
    kfp::Math math_;
    std::shared_ptr<kfp::Library> compiled_;
};

class Binding : public Object {
public:
    static const Class& its();
    explicit Binding(const kfp::Parameter& parameter);

    String* name() const { return name_.get(); }
    unsigned long index() const { return index_; }
    long type() const { return threadgroup_ ? 1 : 0; }
    bool is_used() const { return true; }
    unsigned long data_type() const { return data_type_; }

private:
    Ref<String> name_;
    unsigned long index_;
    bool threadgroup_;
    unsigned long data_type_;
};

class Reflection : public Object {
public:
    static const Class& its();
    explicit Reflection(const kfp::KernelInfo& info);

    Array* bindings() const { return bindings_.get(); }

private:
    Ref<Array> bindings_;
};

class Pipeline : public Object {
public:
    static const Class& its();
    explicit Pipeline(const Function& function);

    static Pipeline* create(Function* function, unsigned long options, Reflection** reflection, Error** error);

    unsigned long max_threads() const { return info_.max_total_threads_per_threadgroup; }
    unsigned long width() const { return info_.thread_execution_width; }
    unsigned long static_memory() const { return info_.static_threadgroup_memory_length; }
    const std::shared_ptr<kfp::Library>& library() const { return library_; }
    const kfp::KernelInfo& info() const { return info_; }

private:
    std::shared_ptr<kfp::Library> library_;
    kfp::KernelInfo info_;
};

}  // namespace standin

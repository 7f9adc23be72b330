// Foundation as far as the backend uses it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "object.hpp"

namespace standin {

class String : public Object {
public:
    static const Class& its();
    String() : Object(its()) {}
    explicit String(std::string_view text) : Object(its()), text_(text) {}

    String* init_with(const char* text, unsigned long encoding);
    const char* utf8() const { return text_.c_str(); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

class Array : public Object {
public:
    static const Class& its();
    explicit Array(std::vector<Ref<Object>> elements) : Object(its()), elements_(std::move(elements)) {}

    unsigned long count() const { return elements_.size(); }
    Object* at(unsigned long index) const;

private:
    std::vector<Ref<Object>> elements_;
};

class Enumerator : public Object {
public:
    static const Class& its();
    explicit Enumerator(std::vector<Ref<String>> keys) : Object(its()), keys_(std::move(keys)) {}

    Object* next() { return position_ < keys_.size() ? keys_[position_++].get() : nullptr; }

private:
    std::vector<Ref<String>> keys_;
    std::size_t position_ = 0;
};

// With strings as keys.
class Dictionary : public Object {
public:
    static const Class& its();
    explicit Dictionary(std::map<std::string, Ref<Object>> entries) : Object(its()), entries_(std::move(entries)) {}

    unsigned long count() const { return entries_.size(); }
    Object* at(const String* key) const;
    Enumerator* keys() const;

private:
    std::map<std::string, Ref<Object>> entries_;
};

class Error : public Object {
public:
    static const Class& its();
    Error(long code, std::string_view description);

    long code() const { return code_; }
    String* description() const { return description_.get(); }

private:
    long code_;
    Ref<String> description_;
};

// Hands an autoreleased error to whoever asked for one.
void put_error(Error** place, long code, std::string_view description);

struct OperatingSystemVersion {
    long major;
    long minor;
    long patch;
};

class ProcessInfo : public Object {
public:
    static const Class& its();
    ProcessInfo() : Object(its()) {}

    static ProcessInfo* shared();
    bool is_at_least(OperatingSystemVersion version) const;
    String* version_string() const;
};

// The pools of a thread form a stack.
class AutoreleasePool : public Object {
public:
    static const Class& its();
    AutoreleasePool();
    ~AutoreleasePool() override;

    static void add(Object* object);

private:
    std::vector<Ref<Object>> objects_;
};

}  // namespace standin

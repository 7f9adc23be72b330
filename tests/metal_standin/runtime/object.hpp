// The object model of the stand-in: classes are tables with one line a selector, objects are counted per class.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace standin {

struct Version {
    long major = 0;
    long minor = 0;
    auto operator<=>(const Version&) const = default;
};

// Says what rule of Metal's was broken and ends the process.
[[noreturn]] void fail(const std::string& what);

struct Method {
    const char* selector;
    Version since;  // the macOS that introduced it
    void* implementation;
};

class Object;

struct Class {
    const char* name;
    Object* (*make)();  // null: only Metal makes them
    std::vector<Method> methods;
    std::vector<Method> class_methods;
};

// Every class, so that a name finds it.
const std::vector<const Class*>& all_classes();

class Object {
public:
    explicit Object(const Class& its_class);
    virtual ~Object();
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    const Class& its_class() const { return *class_; }
    Object* retain();
    void release();
    Object* autorelease();
    Object* init() { return this; }

private:
    const Class* class_;
    std::atomic<long> references_{1};
};

// Owns one reference.
template <class T>
class Ref {
public:
    Ref() = default;
    static Ref adopt(T* object) { return Ref(object); }
    static Ref retain(T* object) { return Ref(object == nullptr ? nullptr : static_cast<T*>(object->retain())); }
    Ref(const Ref& other) : Ref(retain(other.object_)) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ != nullptr) object_->release();
    }

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    T* give_up() { return std::exchange(object_, nullptr); }
    T* autoreleased() { return static_cast<T*>(give_up()->autorelease()); }

private:
    explicit Ref(T* object) : object_(object) {}
    T* object_ = nullptr;
};

template <class T, class... Arguments>
Ref<T> make(Arguments&&... arguments) {
    return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

// Live objects by class name; empty when nothing leaked.
std::map<std::string, long> live_objects();

// From a member function to what objc_msgSend jumps to: (receiver, selector, arguments...).
template <auto Member>
struct Thunk;
template <class T, class Result, class... Arguments, Result (T::*Member)(Arguments...)>
struct Thunk<Member> {
    static Result call(Object* self, const char*, Arguments... arguments) {
        return (static_cast<T*>(self)->*Member)(arguments...);
    }
};
template <class T, class Result, class... Arguments, Result (T::*Member)(Arguments...) const>
struct Thunk<Member> {
    static Result call(Object* self, const char*, Arguments... arguments) {
        return (static_cast<const T*>(self)->*Member)(arguments...);
    }
};
template <class Result, class... Arguments, Result (*Function)(Arguments...)>
struct Thunk<Function> {
    static Result call(const Class*, const char*, Arguments... arguments) { return Function(arguments...); }
};

template <auto Member>
Method method(const char* selector, Version since) {
    return {selector, since, reinterpret_cast<void*>(&Thunk<Member>::call)};
}

template <class T>
Object* make_blank() {
    return new T;
}

}  // namespace standin

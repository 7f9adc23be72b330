// The Objective-C runtime as far as metal-cpp calls it.
#include <objc/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>

#include "foundation.hpp"
#include "object.hpp"
#include "standin.hpp"

extern "C" void standin_answer_nil();

namespace standin {
namespace {

// metal-cpp asks for classes and selectors in static initialisers, before those of this file may have run.
struct Registry {
    std::mutex mutex;
    std::set<std::string> selectors;
    std::unordered_map<const void*, const Class*> live;
    std::unordered_map<const void*, const Class*> dead;
};

Registry& registry() {
    static Registry instance;
    return instance;
}

void expect_no_live_objects() {
    std::string list;
    for (const auto& [name, count] : live_objects()) list += " " + name + " " + std::to_string(count);
    if (!list.empty()) fail("live objects at exit:" + list);
}

// Objects of all classes know these.
const std::vector<Method>& object_methods() {
    static const std::vector<Method> methods{
        method<&Object::retain>("retain", {10, 0}),
        method<&Object::release>("release", {10, 0}),
        method<&Object::autorelease>("autorelease", {10, 0}),
        method<&Object::init>("init", {10, 0}),
    };
    return methods;
}

// Null if there is none.
void* implementation(const std::vector<Method>& methods, const char* selector, const std::string& receiver) {
    for (const Method& candidate : methods) {
        if (std::strcmp(candidate.selector, selector) != 0) continue;
        const Version here = configuration().macos;
        if (candidate.since > here) {
            fail(receiver + " " + selector + "] needs macOS " + std::to_string(candidate.since.major) + "." +
                 std::to_string(candidate.since.minor) + "; this is " + std::to_string(here.major) + "." +
                 std::to_string(here.minor));
        }
        return candidate.implementation;
    }
    return nullptr;
}

const Class* class_at(const void* address) {
    for (const Class* candidate : all_classes()) {
        if (candidate == address) return candidate;
    }
    return nullptr;
}

Object* allocate(const Class* its_class, const char*) {
    if (its_class->make == nullptr) fail(std::string("+[") + its_class->name + " alloc]: only Metal makes these");
    return its_class->make();
}

}  // namespace

void fail(const std::string& what) {
    std::fprintf(stderr, "metal stand-in: %s\n", what.c_str());
    std::abort();
}

Configuration& configuration() {
    static Configuration instance;
    return instance;
}

Statistics& statistics() {
    static Statistics instance;
    return instance;
}

Object::Object(const Class& its_class) : class_(&its_class) {
    Registry& all = registry();  // before the handler, so that it outlives it
    [[maybe_unused]] static const int registered = std::atexit(expect_no_live_objects);
    const std::lock_guard lock(all.mutex);
    all.dead.erase(this);
    all.live.emplace(this, class_);
}

Object::~Object() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.live.erase(this);
    all.dead.emplace(this, class_);
}

Object* Object::retain() {
    references_.fetch_add(1, std::memory_order_relaxed);
    return this;
}

void Object::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Object* Object::autorelease() {
    AutoreleasePool::add(this);
    return this;
}

std::map<std::string, long> live_objects() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::map<std::string, long> counts;
    for (const auto& [address, its_class] : all.live) ++counts[its_class->name];
    return counts;
}

}  // namespace standin

using namespace standin;

extern "C" {

SEL sel_registerName(const char* name) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    return reinterpret_cast<SEL>(const_cast<char*>(all.selectors.emplace(name).first->c_str()));
}

void* objc_lookUpClass(const char* name) {
    for (const Class* candidate : all_classes()) {
        if (std::strcmp(candidate->name, name) == 0) return const_cast<Class*>(candidate);
    }
    return nullptr;  // a class that nobody here uses; a message to it is one to nil
}

void* objc_getProtocol(const char*) { return nullptr; }

// Called by the trampolines; `returns_struct` when the caller expects the answer in memory that it provides.
void* standin_find_method(const void* receiver, const char* selector, int returns_struct) {
    if (receiver == nullptr) {
        if (returns_struct != 0) fail(std::string("nil was asked for a struct: ") + selector);
        return reinterpret_cast<void*>(&standin_answer_nil);
    }
    if (const Class* its_class = class_at(receiver)) {
        if (std::strcmp(selector, "alloc") == 0) return reinterpret_cast<void*>(&allocate);
        const std::string name = std::string("+[") + its_class->name;
        if (void* found = implementation(its_class->class_methods, selector, name)) return found;
        fail("unknown selector " + name + " " + selector + "]");
    }
    Registry& all = registry();
    const Class* its_class = nullptr;
    {
        const std::lock_guard lock(all.mutex);
        if (const auto found = all.live.find(receiver); found != all.live.end()) {
            its_class = found->second;
        } else if (const auto dead = all.dead.find(receiver); dead != all.dead.end()) {
            fail(std::string(dead->second->name) + " used after its release: " + selector);
        } else {
            fail(std::string("not an object, but asked for ") + selector);
        }
    }
    const std::string name = std::string("-[") + its_class->name;
    if (void* found = implementation(its_class->methods, selector, name)) return found;
    if (void* found = implementation(object_methods(), selector, name)) return found;
    fail("unknown selector " + name + " " + selector + "]");
}

}  // extern "C"

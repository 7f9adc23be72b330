#include "foundation.hpp"

#include <algorithm>

#include "standin.hpp"

namespace standin {
namespace {

constexpr unsigned long utf8_encoding = 4;

std::vector<AutoreleasePool*>& pools_of_this_thread() {
    thread_local std::vector<AutoreleasePool*> pools;
    return pools;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3
                                   : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
        if (length == 0 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
        }
        i += length;
    }
    return true;
}

}  // namespace

const Class& String::its() {
    static const Class table{"NSString", make_blank<String>, {
        method<&String::init_with>("initWithCString:encoding:", {10, 4}),
        method<&String::utf8>("UTF8String", {10, 0}),
    }, {}};
    return table;
}

// As an initialiser does, it gives the receiver up when it answers nil.
String* String::init_with(const char* text, unsigned long encoding) {
    if (text == nullptr) fail("NSString made of a null pointer");
    if (encoding != utf8_encoding) fail("NSString with encoding " + std::to_string(encoding));
    if (!is_utf8(text)) {
        release();
        return nullptr;
    }
    text_ = text;
    return this;
}

const Class& Array::its() {
    static const Class table{"NSArray", nullptr, {
        method<&Array::count>("count", {10, 0}),
        method<&Array::at>("objectAtIndex:", {10, 0}),
    }, {}};
    return table;
}

Object* Array::at(unsigned long index) const {
    if (index >= elements_.size()) {
        fail("NSArray index " + std::to_string(index) + " of " + std::to_string(elements_.size()));
    }
    return elements_[index].get();
}

const Class& Enumerator::its() {
    static const Class table{"NSEnumerator", nullptr, {
        method<&Enumerator::next>("nextObject", {10, 0}),
    }, {}};
    return table;
}

const Class& Dictionary::its() {
    static const Class table{"NSDictionary", nullptr, {
        method<&Dictionary::count>("count", {10, 0}),
        method<&Dictionary::at>("objectForKey:", {10, 0}),
        method<&Dictionary::keys>("keyEnumerator", {10, 0}),
    }, {}};
    return table;
}

Object* Dictionary::at(const String* key) const {
    const auto found = entries_.find(key->text());
    return found == entries_.end() ? nullptr : found->second.get();
}

Enumerator* Dictionary::keys() const {
    std::vector<Ref<String>> keys;
    for (const auto& entry : entries_) keys.push_back(make<String>(entry.first));
    return make<Enumerator>(std::move(keys)).autoreleased();
}

const Class& Error::its() {
    static const Class table{"NSError", nullptr, {
        method<&Error::code>("code", {10, 0}),
        method<&Error::description>("localizedDescription", {10, 0}),
    }, {}};
    return table;
}

Error::Error(long code, std::string_view description)
    : Object(its()), code_(code), description_(make<String>(description)) {}

void put_error(Error** place, long code, std::string_view description) {
    if (place != nullptr) *place = make<Error>(code, description).autoreleased();
}

const Class& ProcessInfo::its() {
    static const Class table{"NSProcessInfo", nullptr, {
        method<&ProcessInfo::is_at_least>("isOperatingSystemAtLeastVersion:", {10, 10}),
        method<&ProcessInfo::version_string>("operatingSystemVersionString", {10, 2}),
    }, {
        method<&ProcessInfo::shared>("processInfo", {10, 0}),
    }};
    return table;
}

// Autoreleased rather than shared, so that a caller without a pool is found out.
ProcessInfo* ProcessInfo::shared() { return make<ProcessInfo>().autoreleased(); }

bool ProcessInfo::is_at_least(OperatingSystemVersion version) const {
    return configuration().macos >= Version{version.major, version.minor};
}

String* ProcessInfo::version_string() const {
    const Version version = configuration().macos;
    return make<String>("Version " + std::to_string(version.major) + "." + std::to_string(version.minor) +
                        " (stand-in)").autoreleased();
}

const Class& AutoreleasePool::its() {
    static const Class table{"NSAutoreleasePool", make_blank<AutoreleasePool>, {}, {}};
    return table;
}

AutoreleasePool::AutoreleasePool() : Object(its()) { pools_of_this_thread().push_back(this); }

AutoreleasePool::~AutoreleasePool() {
    auto& pools = pools_of_this_thread();
    if (pools.empty() || pools.back() != this) fail("autorelease pools released in another order than their own");
    // What an object releases as it dies may land in this pool again.
    while (!objects_.empty()) std::vector<Ref<Object>>().swap(objects_);
    pools.pop_back();
}

void AutoreleasePool::add(Object* object) {
    auto& pools = pools_of_this_thread();
    if (pools.empty()) fail(std::string(object->its_class().name) + " autoreleased with no pool in place");
    pools.back()->objects_.push_back(Ref<Object>::adopt(object));
}

}  // namespace standin

// metal-cpp carries no availability marks: a selector that this macOS doesn't know raises when it is sent.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace kfp::metal {

struct Version {
    int major = 0;
    int minor = 0;
};

struct Availability {
    std::string_view selector;
    Version since;
};

// The oldest macOS that this backend runs on; whatever is newer is listed below and asked for before it is sent.
inline constexpr Version minimum_macos{14, 0};

inline constexpr std::array newer_than_minimum{
    Availability{"setMathFloatingPointFunctions:", {15, 0}},
    Availability{"setMathMode:", {15, 0}},
    Availability{"newResidencySetWithDescriptor:error:", {15, 0}},
    Availability{"addAllocation:", {15, 0}},
    Availability{"requestResidency", {15, 0}},
    Availability{"endResidency", {15, 0}},
    Availability{"useResidencySet:", {15, 0}},
};

// Not selectors, but values that an older macOS refuses.
inline constexpr Version msl_3_2_since{15, 0};

// A selector that is in the table; naming another one doesn't compile.
class GuardedSelector {
public:
    // Implicit, so that a call reads available("setMathMode:").
    consteval GuardedSelector(const char* name) : since_(find(name)) {}
    constexpr Version since() const { return since_; }

private:
    static consteval Version find(std::string_view name) {
        const auto* entry = std::ranges::find(newer_than_minimum, name, &Availability::selector);
        return entry != newer_than_minimum.end() ? entry->since : throw "not a selector of the table";
    }

    Version since_;
};

bool at_least(Version version);
inline bool available(GuardedSelector selector) { return at_least(selector.since()); }

}  // namespace kfp::metal

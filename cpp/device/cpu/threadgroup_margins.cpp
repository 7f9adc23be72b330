#include "device/cpu/threadgroup_margins.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kfp::cpu {
namespace {

// Bytes before and behind a variable. Together no more than what every stretch has beyond the largest variable.
constexpr std::size_t before = 128;
constexpr std::size_t behind = 192;
// Large in every floating-point format and as an integer.
constexpr std::byte mark{0x5A};

std::array<std::span<const std::byte>, 2> margins_of(const ThreadgroupAllocation& variable, const std::byte* memory) {
    const std::byte* const begin = memory + variable.offset;
    const std::size_t room = variable.room - variable.bytes;
    return {std::span(begin - before, before), std::span(begin + variable.bytes, std::min(behind, room))};
}

}  // namespace

const ThreadgroupAllocation* overrun_variable(std::span<const ThreadgroupAllocation> variables, const std::byte* memory,
                                              std::uint16_t word) {
    for (const ThreadgroupAllocation& variable : variables) {
        const bool odd = variable.bytes % sizeof word != 0;
        const std::byte half = odd ? memory[variable.offset + variable.bytes] : std::byte{0};
        auto changed = static_cast<std::uint16_t>(odd ? std::to_integer<unsigned>(half) ^ (word >> 8U) : 0U);
        for (std::size_t i = variable.bytes + (odd ? 1 : 0); i + sizeof word <= variable.room; i += sizeof word) {
            std::uint16_t found;
            std::memcpy(&found, memory + variable.offset + i, sizeof found);
            changed = static_cast<std::uint16_t>(changed | (found ^ word));
        }
        if (changed != 0) return &variable;
    }
    return nullptr;
}

void ThreadgroupMargins::add(const std::string& kernel, std::span<const ThreadgroupAllocation> variables) {
    for (const ThreadgroupAllocation& variable : variables) {
        const auto same = [&](const Place& place) { return place.longest.offset == variable.offset; };
        const auto found = std::find_if(places_.begin(), places_.end(), same);
        Place& place = found != places_.end() ? *found : places_.emplace_back(Place{variable, {}});
        if (variable.bytes > place.longest.bytes) place.longest = variable;
        if (std::ranges::find(place.kernels, kernel) == place.kernels.end()) place.kernels.push_back(kernel);
    }
}

void ThreadgroupMargins::fill(std::byte* memory) const {
    for (const Place& place : places_) {
        for (const std::span<const std::byte> margin : margins_of(place.longest, memory)) {
            std::fill_n(memory + (margin.data() - memory), margin.size(), mark);
        }
    }
}

const ThreadgroupMargins::Place* ThreadgroupMargins::damaged(const std::byte* memory) const {
    for (const Place& place : places_) {
        for (const std::span<const std::byte> margin : margins_of(place.longest, memory)) {
            if (!std::ranges::all_of(margin, [](std::byte value) { return value == mark; })) return &place;
        }
    }
    return nullptr;
}

}  // namespace kfp::cpu

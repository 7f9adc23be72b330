#include "plan_file.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace kfp {
namespace {

template <class T>
T next(std::istream& words) {
    T value{};
    if (!(words >> value)) throw std::runtime_error("plan file: a word is missing or malformed");
    return value;
}

BufferRole role_of(const std::string& word) {
    static const std::map<std::string, BufferRole> roles{{"input", BufferRole::input},
                                                         {"state", BufferRole::state},
                                                         {"output", BufferRole::output},
                                                         {"scratch", BufferRole::scratch}};
    return roles.at(word);
}

std::vector<std::byte> from_hex(const std::string& digits) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

Binding read_binding(std::istream& words) {
    const auto kind = next<std::string>(words);
    Binding binding;
    binding.index = next<std::uint32_t>(words);
    if (kind == "buffer") {
        const auto buffer = next<std::uint32_t>(words);
        binding.value = BufferBinding{buffer, next<std::uint64_t>(words)};
    } else if (kind == "bytes") {
        binding.value = BytesBinding{from_hex(next<std::string>(words))};
    } else {
        binding.value = ThreadgroupBinding{next<std::uint32_t>(words)};
    }
    return binding;
}

Dispatch read_dispatch(std::istream& words) {
    Dispatch dispatch;
    dispatch.kernel = next<std::uint32_t>(words);
    for (auto& length : dispatch.grid) length = next<std::uint32_t>(words);
    for (auto& length : dispatch.threadgroup) length = next<std::uint32_t>(words);
    return dispatch;
}

}  // namespace

Plan read_plan(const std::string& path) {
    std::ifstream file(path);
    Plan plan;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        const auto what = next<std::string>(words);
        if (what == "kernel") {
            plan.kernels.push_back(next<std::string>(words));
        } else if (what == "buffer") {
            BufferSpec buffer;
            buffer.name = next<std::string>(words);
            buffer.role = role_of(next<std::string>(words));
            buffer.bytes = next<std::uint64_t>(words);
            buffer.contents_offset = next<std::uint64_t>(words);
            plan.buffers.push_back(std::move(buffer));
        } else if (what == "dispatch") {
            plan.dispatches.push_back(read_dispatch(words));
        } else if (what == "bind") {
            plan.dispatches.back().bindings.push_back(read_binding(words));
        } else {
            throw std::runtime_error("plan file: unknown word '" + what + "'");
        }
    }
    return plan;
}

}  // namespace kfp

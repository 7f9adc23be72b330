// Our own linker: what it makes of ordinary objects works when loaded, all else is left to ld.lld, damage does no harm.
#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "check.hpp"
#include "device/cpu/image.hpp"
#include "device/device.hpp"
#include "msl/link.hpp"

using namespace kfp;
using namespace kfp::test;

namespace {

std::map<std::string, std::string> objects;  // by the name of their source, without extension

std::optional<std::string> linked(const std::vector<std::string>& names) {
    std::vector<std::string_view> files;
    for (const std::string& name : names) files.push_back(objects.at(name));
    return msl::link_in_process(files);
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

template <typename Function>
Function* function(const cpu::Image& image, const char* name) {
    void* const address = image.symbol(name);
    CHECK(address != nullptr);
    return reinterpret_cast<Function*>(address);
}

// "r-xp" and the like, of the mapping that an address lies in.
std::string protection(const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::string rights;
        fields >> std::hex >> begin >> dash >> end >> rights;
        const auto place = reinterpret_cast<std::uintptr_t>(address);
        if (place >= begin && place < end) return rights;
    }
    return {};
}

void check_program(const std::string& file) {
    cpu::Image image(bytes_of(file));
    CHECK(image.symbol("add_by_others") == nullptr);
    CHECK(image.symbol("words") == nullptr);
    CHECK_EQUAL(function<int()>(image, "count")(), 1);
    CHECK_EQUAL(function<int()>(image, "count")(), 2);
    CHECK_EQUAL(*static_cast<const int*>(image.symbol("shared_counter")), 2);
    CHECK_EQUAL(function<int(int)>(image, "remember")(5), 42);
    CHECK_EQUAL(function<int(int)>(image, "remember")(5), 42 + 43);
    const int* const started = function<int*()>(image, "started_place")();
    CHECK_EQUAL(protection(started), "rw-p");
    image.seal_with_pointer("__kfp_runtime", &image);
    for (const void* const data : {static_cast<const void*>(started), static_cast<const void*>(image.symbol("shared_counter")),
                                   static_cast<const void*>(image.symbol("__kfp_runtime"))}) {
        CHECK_EQUAL(protection(data), "r--p");
    }
    CHECK_EQUAL(protection(image.symbol("count")), "r-xp");
    CHECK(*static_cast<const void* const*>(image.symbol("__kfp_runtime")) == &image);

    const auto from_table = function<int(int)>(image, "from_table");
    const std::array<int, 8> digits{3, 1, 4, 1, 5, 9, 2, 6};
    for (int i = 0; i < 8; ++i) CHECK_EQUAL(from_table(i), digits[static_cast<std::size_t>(i)]);
    CHECK_EQUAL(function<int(int, int, int)>(image, "operate")(0, 7, 2), 9);
    CHECK_EQUAL(function<int(int, int, int)>(image, "operate")(1, 7, 2), 5);
    CHECK_EQUAL(function<int(int, int, int)>(image, "operate")(2, 7, 2), 1009);
    CHECK_EQUAL(function<int(int, int)>(image, "call_others")(1, 2), 1003);
    CHECK_EQUAL(function<int(int)>(image, "word_length")(2), 6);
    const std::string names = "zotrfi?";
    for (int i = 0; i < 7; ++i) {
        CHECK_EQUAL(static_cast<char>(function<int(int)>(image, "name_of")(i)), names[static_cast<std::size_t>(i)]);
    }
}

void test_programs_work() {
    for (const auto& order : {std::vector<std::string>{"program", "others"}, {"others", "program"}}) {
        const std::optional<std::string> file = linked(order);
        CHECK(file.has_value());
        if (file) check_program(*file);
    }
    CHECK(linked({"program", "others"}) == linked({"program", "others"}));
}

void test_the_rest_is_left_to_lld() {
    CHECK(!linked({"program"}));
    CHECK(!linked({"undefined", "others"}));
    CHECK(!linked({"weak", "others"}));
    CHECK(!linked({"program", "others", "again"}));
    CHECK(!linked({"others", "thread_local"}));
    CHECK(!linked({"others", "constructor"}));
    CHECK(!linked({"others", "common"}));
    CHECK(!linked({"others", "huge"}));
    std::string other_machine = objects.at("others");
    const Elf64_Half arm = EM_AARCH64;
    std::memcpy(&other_machine[offsetof(Elf64_Ehdr, e_machine)], &arm, sizeof arm);
    CHECK(!msl::link_in_process(std::array<std::string_view, 1>{other_machine}));
    CHECK(!msl::link_in_process(std::array<std::string_view, 1>{""}));
    CHECK(!msl::link_in_process(std::array<std::string_view, 1>{"INPUT(/etc/passwd)"}));
}

bool links_and_loads(std::string_view program) {
    const std::optional<std::string> file = msl::link_in_process(std::array<std::string_view, 2>{program, objects.at("others")});
    if (!file) return false;
    try {
        const cpu::Image image(bytes_of(*file));
        return true;
    } catch (const ExecutionError&) {
        return false;
    }
}

void test_damage() {
    const std::string& program = objects.at("program");
    CHECK(links_and_loads(program));
    for (std::size_t length = 0; length < program.size(); length += 13) {
        CHECK(!links_and_loads(std::string_view(program).substr(0, length)));
    }
    std::uint64_t state = 1;
    const auto below = [&state](std::size_t bound) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state >> 33) % bound;
    };
    for (int trial = 0; trial < 4000; ++trial) {
        std::string damaged = program;
        for (int k = 0; k < 3; ++k) damaged[below(damaged.size())] = static_cast<char>(below(256));
        links_and_loads(damaged);
    }
}

}  // namespace

int main(int count, char** argv) {
    for (int i = 1; i < count; ++i) {
        std::ifstream in(argv[i], std::ios::binary);
        std::string name = argv[i];
        name = name.substr(name.rfind('/') + 1);
        objects[name.substr(0, name.find('.'))] = {std::istreambuf_iterator<char>(in), {}};
    }
#if defined(__x86_64__)
    test_programs_work();
    test_the_rest_is_left_to_lld();
    test_damage();
#else
    CHECK(!linked({"program", "others"}));
#endif
    return outcome();
}

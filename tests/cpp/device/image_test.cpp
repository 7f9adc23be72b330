// The loader against files that are cut short or damaged: it refuses with an error or loads, and never strays.
#include <elf.h>

#include "check.hpp"
#include "device/image_fixture.hpp"

using namespace kfp;
using namespace kfp::test;

namespace {

bool loads(std::span<const std::byte> file) {
    try {
        const cpu::Image image(file);
        return true;
    } catch (const ExecutionError&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

template <typename Field, typename Record>
std::vector<std::byte> with_field(std::vector<std::byte> file, std::size_t record, Field Record::*field, Field value) {
    Record changed;
    std::memcpy(&changed, file.data() + record, sizeof changed);
    changed.*field = value;
    std::memcpy(file.data() + record, &changed, sizeof changed);
    return file;
}

void test_headers(const std::vector<std::byte>& file) {
    CHECK_THROWS(ExecutionError, "is no ELF file", cpu::Image(std::vector<std::byte>(100)));
    CHECK_THROWS(ExecutionError, "lie outside of it", cpu::Image(std::span<const std::byte>()));
    CHECK_THROWS(ExecutionError, "is no shared object for this machine",
                 cpu::Image(with_field(file, 0, &Elf64_Ehdr::e_machine, Elf64_Half{EM_SPARC})));
    CHECK_THROWS(ExecutionError, "is no shared object for this machine",
                 cpu::Image(with_field(file, 0, &Elf64_Ehdr::e_type, Elf64_Half{ET_EXEC})));
    CHECK_THROWS(ExecutionError, "has no table of dynamic symbols",
                 cpu::Image(with_field(file, 0, &Elf64_Ehdr::e_shnum, Elf64_Half{0})));
    const std::size_t first_segment = sizeof(Elf64_Ehdr);
    CHECK_THROWS(ExecutionError, "has code that can be written to",
                 cpu::Image(with_field(file, first_segment, &Elf64_Phdr::p_flags, Elf64_Word{PF_R | PF_W | PF_X})));
    CHECK_THROWS(ExecutionError, "has a segment of impossible size",
                 cpu::Image(with_field(file, first_segment, &Elf64_Phdr::p_memsz, Elf64_Xword{1} << 62)));
    CHECK_THROWS(ExecutionError, "has a segment that the front end never makes",
                 cpu::Image(with_field(file, first_segment, &Elf64_Phdr::p_type, Elf64_Word{PT_TLS})));
}

// Turns the dynamic section's first entry into one that must be refused.
void test_dynamic_entries(const std::vector<std::byte>& file) {
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        std::memcpy(&segment, file.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_DYNAMIC) continue;
        for (const auto& [tag, words] : {std::pair<Elf64_Sxword, const char*>{DT_INIT, "has constructors"},
                                         {DT_INIT_ARRAY, "has constructors"},
                                         {DT_FINI_ARRAY, "has constructors"},
                                         {DT_NEEDED, "needs another library"},
                                         {DT_TEXTREL, "has relocations in its code"}}) {
            CHECK_THROWS(ExecutionError, words, cpu::Image(with_field(file, segment.p_offset, &Elf64_Dyn::d_tag, tag)));
        }
    }
}

void test_damage(const std::vector<std::byte>& file) {
    CHECK(loads(file));
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof header);
    for (std::size_t length = 0; length < header.e_shoff; length += 61) CHECK(!loads(std::span(file).first(length)));
    cpu::OrderGenerator generator(1);
    for (int trial = 0; trial < 3000; ++trial) {
        std::vector<std::byte> damaged = file;
        for (int k = 0; k < 3; ++k) {
            damaged[generator.below(static_cast<std::uint32_t>(file.size()))] = static_cast<std::byte>(generator.next());
        }
        loads(damaged);
    }
}

}  // namespace

int main(int, char** argv) {
    const std::vector<std::byte> file = file_bytes(argv[1]);
    test_headers(file);
    test_dynamic_entries(file);
    test_damage(file);
    return outcome();
}

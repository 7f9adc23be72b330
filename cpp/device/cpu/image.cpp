#include "device/cpu/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "device/device.hpp"

namespace kfp::cpu {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half expected_machine = EM_X86_64;
enum Relocation : std::uint32_t {
    absolute = R_X86_64_64,
    symbol_address = R_X86_64_GLOB_DAT,
    call_slot = R_X86_64_JUMP_SLOT,
    relative = R_X86_64_RELATIVE,
};
#else
constexpr Elf64_Half expected_machine = EM_AARCH64;
enum Relocation : std::uint32_t {
    absolute = R_AARCH64_ABS64,
    symbol_address = R_AARCH64_GLOB_DAT,
    call_slot = R_AARCH64_JUMP_SLOT,
    relative = R_AARCH64_RELATIVE,
};
#endif

constexpr std::uint64_t largest_image = std::uint64_t{1} << 30;

[[noreturn]] void refuse(const std::string& why) { throw ExecutionError("compiled image: " + why); }

// Reads and writes within `bytes` only, whatever offsets the file names.
template <typename Byte>
class Checked {
public:
    explicit Checked(std::span<Byte> bytes) : bytes_(bytes) {}

    Byte* at(std::uint64_t offset, std::uint64_t length) const {
        if (offset > bytes_.size() || length > bytes_.size() - offset) refuse("names bytes that lie outside of it");
        return bytes_.data() + offset;
    }
    template <typename Record>
    Record read(std::uint64_t offset) const {
        Record record;
        std::memcpy(&record, at(offset, sizeof record), sizeof record);
        return record;
    }

private:
    std::span<Byte> bytes_;
};

using File = Checked<const std::byte>;
using Memory = Checked<std::byte>;

std::vector<Elf64_Phdr> program_headers(const File& file, const Elf64_Ehdr& header) {
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse("is no ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        header.e_machine != expected_machine || header.e_phentsize != sizeof(Elf64_Phdr)) {
        refuse("is no shared object for this machine");
    }
    std::vector<Elf64_Phdr> headers;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        headers.push_back(file.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    }
    return headers;
}

struct Table {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

struct DynamicSection {
    Table relocations;
    Table call_relocations;
    std::uint64_t symbols = 0;
    Table strings;
};

DynamicSection read_dynamic(const Memory& memory, const Elf64_Phdr& segment) {
    DynamicSection dynamic;
    for (std::uint64_t offset = 0; offset < segment.p_memsz; offset += sizeof(Elf64_Dyn)) {
        const auto entry = memory.read<Elf64_Dyn>(segment.p_vaddr + offset);
        const std::uint64_t value = entry.d_un.d_val;
        switch (entry.d_tag) {
            case DT_NULL: return dynamic;
            case DT_RELA: dynamic.relocations.address = value; break;
            case DT_RELASZ: dynamic.relocations.bytes = value; break;
            case DT_JMPREL: dynamic.call_relocations.address = value; break;
            case DT_PLTRELSZ: dynamic.call_relocations.bytes = value; break;
            case DT_SYMTAB: dynamic.symbols = value; break;
            case DT_STRTAB: dynamic.strings.address = value; break;
            case DT_STRSZ: dynamic.strings.bytes = value; break;
            case DT_NEEDED: refuse("needs another library");
            case DT_INIT:
            case DT_INIT_ARRAY:
            case DT_PREINIT_ARRAY:
            case DT_FINI:
            case DT_FINI_ARRAY: refuse("has constructors or destructors");
            case DT_TEXTREL: refuse("has relocations in its code");
            case DT_REL:
            case DT_RELR: refuse("has relocations of a kind that the front end never makes");
            default: break;
        }
    }
    return dynamic;
}

std::uint64_t symbol_count(const File& file, const Elf64_Ehdr& header) {
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto section = file.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
        if (section.sh_type == SHT_DYNSYM) return section.sh_size / sizeof(Elf64_Sym);
    }
    refuse("has no table of dynamic symbols");
}

std::string string_at(const Memory& memory, const Table& strings, std::uint64_t offset) {
    if (offset >= strings.bytes) refuse("names a string outside of its table");
    const std::byte* const begin = memory.at(strings.address + offset, strings.bytes - offset);
    const auto* const text = reinterpret_cast<const char*>(begin);
    return {text, ::strnlen(text, strings.bytes - offset)};
}

void relocate(const Memory& memory, std::byte* base, const Table& table, const DynamicSection& dynamic) {
    for (std::uint64_t offset = 0; offset < table.bytes; offset += sizeof(Elf64_Rela)) {
        const auto relocation = memory.read<Elf64_Rela>(table.address + offset);
        auto value = reinterpret_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(relocation.r_addend);
        switch (ELF64_R_TYPE(relocation.r_info)) {
            case Relocation::relative: break;
            case Relocation::absolute:
            case Relocation::symbol_address:
            case Relocation::call_slot: {
                const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
                const auto symbol = memory.read<Elf64_Sym>(dynamic.symbols + index * sizeof(Elf64_Sym));
                if (symbol.st_shndx == SHN_UNDEF) {
                    refuse("refers to '" + string_at(memory, dynamic.strings, symbol.st_name) + "', which it doesn't define");
                }
                if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC || ELF64_ST_TYPE(symbol.st_info) == STT_TLS) {
                    refuse("has a symbol of a kind that the front end never makes");
                }
                value += symbol.st_value;
                break;
            }
            default: refuse("has a relocation of unknown type " + std::to_string(ELF64_R_TYPE(relocation.r_info)));
        }
        std::memcpy(memory.at(relocation.r_offset, sizeof value), &value, sizeof value);
    }
}

}  // namespace

Image::Image(std::span<const std::byte> bytes) {
    const File file(bytes);
    const auto header = file.read<Elf64_Ehdr>(0);
    const std::vector<Elf64_Phdr> headers = program_headers(file, header);

    std::uint64_t end = 0;
    std::optional<Elf64_Phdr> dynamic_segment;
    for (const Elf64_Phdr& segment : headers) {
        if (segment.p_type == PT_TLS || segment.p_type == PT_INTERP) refuse("has a segment that the front end never makes");
        if (segment.p_type == PT_DYNAMIC) dynamic_segment = segment;
        if (segment.p_type != PT_LOAD) continue;
        if ((segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_W) != 0) refuse("has code that can be written to");
        if (segment.p_vaddr > largest_image || segment.p_memsz > largest_image || segment.p_filesz > segment.p_memsz) {
            refuse("has a segment of impossible size");
        }
        end = std::max(end, segment.p_vaddr + segment.p_memsz);
    }
    if (!dynamic_segment) refuse("has no dynamic section");

    mapping_ = Mapping(end);
    mapping_.make_writable(mapping_.begin(), round_up(end, page_size()));
    std::byte* const base = mapping_.begin();
    const Memory memory({base, end});
    for (const Elf64_Phdr& segment : headers) {
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
        std::memcpy(memory.at(segment.p_vaddr, segment.p_filesz), file.at(segment.p_offset, segment.p_filesz), segment.p_filesz);
    }

    const DynamicSection dynamic = read_dynamic(memory, *dynamic_segment);
    relocate(memory, base, dynamic.relocations, dynamic);
    relocate(memory, base, dynamic.call_relocations, dynamic);
    const std::uint64_t symbols = symbol_count(file, header);
    for (std::uint64_t i = 1; i < symbols; ++i) {
        const auto symbol = memory.read<Elf64_Sym>(dynamic.symbols + i * sizeof(Elf64_Sym));
        if (symbol.st_shndx == SHN_UNDEF) continue;
        symbols_.emplace(string_at(memory, dynamic.strings, symbol.st_name), memory.at(symbol.st_value, 0));
    }

    for (const Elf64_Phdr& segment : headers) {
        if (segment.p_type != PT_LOAD) continue;
        const std::uint64_t first = segment.p_vaddr / page_size() * page_size();
        const std::uint64_t last = round_up(segment.p_vaddr + segment.p_memsz, page_size());
        segments_.push_back({base + first, last - first, (segment.p_flags & PF_X) != 0});
        if (segments_.back().executable) mapping_.make_executable(base + first, last - first);
    }
}

void* Image::symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : found->second;
}

void Image::seal_with_pointer(const std::string& name, const void* value) {
    auto* const target = static_cast<std::byte*>(symbol(name));
    const bool is_data = std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
        return !segment.executable && target >= segment.begin && target + sizeof value <= segment.begin + segment.bytes;
    });
    if (!is_data) refuse("exports no variable " + name);
    std::memcpy(target, &value, sizeof value);
    for (const Segment& segment : segments_) {
        if (!segment.executable) mapping_.make_read_only(segment.begin, segment.bytes);
    }
}

}  // namespace kfp::cpu

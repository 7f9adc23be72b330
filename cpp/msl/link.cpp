#include "msl/link.hpp"

#ifdef __linux__

#include <elf.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace kfp::msl {
namespace {

// Thrown, and caught in this file, where a program is not for this linker.
struct LeftToOthers {};

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t largest_image = std::uint64_t{16} << 20;

std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

void require(bool ordinary) {
    if (!ordinary) throw LeftToOthers();
}

template <typename Record>
Record record_at(std::string_view bytes, std::uint64_t offset) {
    require(offset <= bytes.size() && sizeof(Record) <= bytes.size() - offset);
    Record record;
    std::memcpy(&record, bytes.data() + offset, sizeof record);
    return record;
}

template <typename Record>
std::vector<Record> records(std::string_view bytes) {
    require(bytes.size() % sizeof(Record) == 0);
    std::vector<Record> all(bytes.size() / sizeof(Record));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

std::string_view string_at(std::string_view table, std::uint64_t offset) {
    require(offset < table.size());
    const std::string_view rest = table.substr(offset);
    const std::size_t end = rest.find('\0');
    require(end != std::string_view::npos);
    return rest.substr(0, end);
}

// The segments of the result, in the order of their addresses: one page protection each.
enum Kind : std::uint8_t { read_only, code, data, kinds };

struct Section {
    Kind kind = kinds;  // kinds: not loaded
    std::uint64_t size = 0, alignment = 1;
    std::string_view content;  // empty where all is zeros
    std::vector<Elf64_Rela> relocations;
    std::uint64_t address = 0;
};

struct Object {
    std::vector<Section> sections;
    std::vector<Elf64_Sym> symbols;
    std::string_view names;
};

std::string_view content_of(std::string_view file, const Elf64_Shdr& header) {
    if (header.sh_type == SHT_NOBITS) return {};
    require(header.sh_offset <= file.size() && header.sh_size <= file.size() - header.sh_offset);
    return file.substr(header.sh_offset, header.sh_size);
}

Section loaded_section(std::string_view file, const Elf64_Shdr& header) {
    constexpr std::uint64_t known = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_GROUP;
    require(header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS);
    require((header.sh_flags & ~known) == 0 && header.sh_size <= largest_image);
    const bool executable = (header.sh_flags & SHF_EXECINSTR) != 0;
    const bool writable = (header.sh_flags & SHF_WRITE) != 0;
    require(!(executable && writable));
    Section section;
    section.kind = executable ? code : writable ? data : read_only;
    section.size = header.sh_size;
    section.alignment = std::max<std::uint64_t>(header.sh_addralign, 1);
    require(section.alignment <= page && (section.alignment & (section.alignment - 1)) == 0);
    section.content = content_of(file, header);
    return section;
}

Object read_object(std::string_view file) {
    const auto header = record_at<Elf64_Ehdr>(file, 0);
    require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
            header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL && header.e_machine == EM_X86_64 &&
            header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum > 0);
    std::vector<Elf64_Shdr> headers;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        headers.push_back(record_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    Object object;
    object.sections.resize(headers.size());
    bool has_symbols = false;
    for (std::size_t i = 1; i < headers.size(); ++i) {
        if ((headers[i].sh_flags & SHF_ALLOC) != 0) {
            object.sections[i] = loaded_section(file, headers[i]);
        } else if (headers[i].sh_type == SHT_SYMTAB) {
            require(!has_symbols && headers[i].sh_link < headers.size());
            has_symbols = true;
            object.symbols = records<Elf64_Sym>(content_of(file, headers[i]));
            object.names = content_of(file, headers[headers[i].sh_link]);
        } else {
            require(headers[i].sh_type != SHT_REL && headers[i].sh_type != SHT_SYMTAB_SHNDX);
        }
    }
    for (const Elf64_Shdr& table : headers) {
        if (table.sh_type != SHT_RELA) continue;
        require(table.sh_info < object.sections.size() && object.sections[table.sh_info].relocations.empty());
        object.sections[table.sh_info].relocations = records<Elf64_Rela>(content_of(file, table));
    }
    return object;
}

// A symbol's place, before addresses are known and after.
struct Target {
    const Section* section = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t address() const { return section->address + offset; }
    auto operator<=>(const Target&) const = default;
};

constexpr std::uint64_t dynamic_entries = 6;
constexpr std::uint64_t segments = 3 + 3;  // one per kind, the dynamic section, what is read-only once relocated, the stack

class Linker {
public:
    explicit Linker(std::span<const std::string_view> files) {
        for (const std::string_view file : files) objects_.push_back(read_object(file));
        for (const Object& object : objects_) {
            for (const Elf64_Sym& symbol : object.symbols) define(object, symbol);
        }
    }

    std::string link() {
        for_each_relocation([this](const Object& object, const Section& section, const Elf64_Rela& relocation) {
            make_room(section, ELF64_R_TYPE(relocation.r_info), target(object, ELF64_R_SYM(relocation.r_info)));
        });
        lay_out();
        for (const Object& object : objects_) {
            for (const Section& section : object.sections) {
                if (!section.content.empty()) std::memcpy(&image_[section.address], section.content.data(), section.content.size());
            }
        }
        for_each_relocation([this](const Object& object, const Section& section, const Elf64_Rela& relocation) {
            relocate(section, relocation, target(object, ELF64_R_SYM(relocation.r_info)));
        });
        for (std::size_t i = 0; i < slot_targets_.size(); ++i) {
            put_pointer(slots_at_ + i * sizeof(std::uint64_t), slot_targets_[i].address());
        }
        write_symbols();
        write_dynamic();
        write_headers();
        return std::move(image_);
    }

private:
    struct Export {
        std::string_view name;
        Elf64_Sym symbol;
        Target target;
    };

    void define(const Object& object, const Elf64_Sym& symbol) {
        const unsigned binding = ELF64_ST_BIND(symbol.st_info);
        const unsigned type = ELF64_ST_TYPE(symbol.st_info);
        require(type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_SECTION || type == STT_FILE);
        require(binding == STB_LOCAL || binding == STB_GLOBAL || binding == STB_WEAK);
        if (binding == STB_LOCAL || symbol.st_shndx == SHN_UNDEF) return;
        const Target target = place(object, symbol);
        const std::string_view name = string_at(object.names, symbol.st_name);
        require(globals_.emplace(name, target).second);
        const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        require(visibility == STV_DEFAULT || visibility == STV_HIDDEN);
        if (visibility == STV_DEFAULT) exports_.push_back({name, symbol, target});
    }

    static Target place(const Object& object, const Elf64_Sym& symbol) {
        require(symbol.st_shndx < object.sections.size());
        const Section& section = object.sections[symbol.st_shndx];
        require(section.kind != kinds && symbol.st_value <= section.size);
        return {&section, symbol.st_value};
    }

    Target target(const Object& object, std::uint64_t index) const {
        require(index < object.symbols.size());
        const Elf64_Sym& symbol = object.symbols[index];
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return place(object, symbol);
        const auto found = globals_.find(string_at(object.names, symbol.st_name));
        require(found != globals_.end());
        return found->second;
    }

    template <typename Action>
    void for_each_relocation(Action action) const {
        for (const Object& object : objects_) {
            for (const Section& section : object.sections) {
                if (section.kind == kinds) continue;
                for (const Elf64_Rela& relocation : section.relocations) action(object, section, relocation);
            }
        }
    }

    void make_room(const Section& section, std::uint64_t type, const Target& target) {
        switch (type) {
            case R_X86_64_PC32:
            case R_X86_64_PLT32: break;
            case R_X86_64_GOTPCREL:
            case R_X86_64_GOTPCRELX:
            case R_X86_64_REX_GOTPCRELX:
                if (slots_.emplace(target, slots_.size()).second) slot_targets_.push_back(target);
                break;
            case R_X86_64_64:
                require(section.kind == data);
                ++pointers_;
                break;
            default: throw LeftToOthers();
        }
    }

    // The tables come first in the read-only segment, the dynamic section and the pointers to symbols in the data.
    void lay_out() {
        std::uint64_t names = 1;
        for (const Export& one : exports_) names += one.name.size() + 1;
        symbols_at_ = aligned(sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr), 8);
        relocations_at_ = symbols_at_ + (exports_.size() + 1) * sizeof(Elf64_Sym);
        strings_at_ = relocations_at_ + relocation_bytes();
        std::uint64_t at = strings_at_ + names;
        for (const Kind kind : {read_only, code, data}) {
            begin_[kind] = kind == read_only ? 0 : aligned(at, page);
            at = std::max(at, begin_[kind]);
            if (kind == data) {
                dynamic_at_ = at;
                slots_at_ = at + dynamic_entries * sizeof(Elf64_Dyn);
                at = slots_at_ + slots_.size() * sizeof(std::uint64_t);
            }
            for (Object& object : objects_) {
                for (Section& section : object.sections) {
                    if (section.kind != kind) continue;
                    section.address = aligned(at, section.alignment);
                    at = section.address + section.size;
                    require(at <= largest_image);
                }
            }
            end_[kind] = at;
        }
        sections_at_ = aligned(at, 8);
        image_.assign(sections_at_ + 2 * sizeof(Elf64_Shdr), '\0');
    }

    std::uint64_t relocation_bytes() const { return (pointers_ + slots_.size()) * sizeof(Elf64_Rela); }

    template <typename Record>
    void put(std::uint64_t at, const Record& record) {
        std::memcpy(&image_[at], &record, sizeof record);
    }

    void put_pointer(std::uint64_t at, std::uint64_t to) {
        put(relocations_at_ + relocations_written_ * sizeof(Elf64_Rela),
            Elf64_Rela{at, ELF64_R_INFO(0, R_X86_64_RELATIVE), static_cast<Elf64_Sxword>(to)});
        ++relocations_written_;
    }

    void relocate(const Section& section, const Elf64_Rela& relocation, const Target& target) {
        const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
        const std::uint64_t width = type == R_X86_64_64 ? 8 : 4;
        require(relocation.r_offset <= section.size && width <= section.size - relocation.r_offset);
        const std::uint64_t at = section.address + relocation.r_offset;
        std::uint64_t to = target.address();
        if (type == R_X86_64_64) {
            put_pointer(at, to + static_cast<std::uint64_t>(relocation.r_addend));
            return;
        }
        if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) to = slots_at_ + slots_.at(target) * sizeof(std::uint64_t);
        const auto distance = static_cast<std::int64_t>(to - at + static_cast<std::uint64_t>(relocation.r_addend));
        require(distance >= INT32_MIN && distance <= INT32_MAX);
        put(at, static_cast<std::int32_t>(distance));
    }

    void write_symbols() {
        std::uint64_t at = symbols_at_;
        std::uint64_t name_at = strings_at_ + 1;
        for (const Export& one : exports_) {
            Elf64_Sym symbol = one.symbol;
            symbol.st_name = static_cast<Elf64_Word>(name_at - strings_at_);
            symbol.st_value = one.target.address();
            // Any number but that of the undefined: the sections themselves are not in the file.
            symbol.st_shndx = 1;
            at += sizeof symbol;
            put(at, symbol);
            std::memcpy(&image_[name_at], one.name.data(), one.name.size());
            name_at += one.name.size() + 1;
        }
        strings_end_ = name_at;
    }

    void write_dynamic() {
        std::uint64_t at = dynamic_at_;
        const auto entry = [&](Elf64_Sxword tag, std::uint64_t value) {
            put(at, Elf64_Dyn{tag, {value}});
            at += sizeof(Elf64_Dyn);
        };
        entry(DT_SYMTAB, symbols_at_);
        entry(DT_STRTAB, strings_at_);
        entry(DT_STRSZ, strings_end_ - strings_at_);
        entry(DT_RELA, relocations_at_);
        entry(DT_RELASZ, relocation_bytes());
        entry(DT_NULL, 0);
    }

    void write_headers() {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
        header.e_machine = EM_X86_64;
        header.e_version = EV_CURRENT;
        header.e_phoff = sizeof header;
        header.e_shoff = sections_at_;
        header.e_ehsize = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = segments;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 2;
        put(0, header);
        std::uint64_t at = sizeof header;
        const auto segment = [&](Elf64_Word type, Elf64_Word flags, std::uint64_t begin, std::uint64_t end, std::uint64_t alignment) {
            put(at, Elf64_Phdr{type, flags, begin, begin, begin, end - begin, end - begin, alignment});
            at += sizeof(Elf64_Phdr);
        };
        constexpr std::array<Elf64_Word, kinds> rights{PF_R, PF_R | PF_X, PF_R | PF_W};
        for (const Kind kind : {read_only, code, data}) segment(PT_LOAD, rights[kind], begin_[kind], end_[kind], page);
        segment(PT_DYNAMIC, PF_R | PF_W, dynamic_at_, slots_at_, 8);
        segment(PT_GNU_RELRO, PF_R, dynamic_at_, slots_at_ + slots_.size() * sizeof(std::uint64_t), 1);
        segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0);
        Elf64_Shdr symbols{};
        symbols.sh_type = SHT_DYNSYM;
        symbols.sh_flags = SHF_ALLOC;
        symbols.sh_addr = symbols.sh_offset = symbols_at_;
        symbols.sh_size = relocations_at_ - symbols_at_;
        symbols.sh_entsize = sizeof(Elf64_Sym);
        put(sections_at_ + sizeof(Elf64_Shdr), symbols);
    }

    std::vector<Object> objects_;
    std::unordered_map<std::string_view, Target> globals_;
    std::vector<Export> exports_;
    // The table of addresses that code reads, and where in it each one is.
    std::vector<Target> slot_targets_;
    std::map<Target, std::uint64_t> slots_;
    std::uint64_t pointers_ = 0;
    std::uint64_t symbols_at_ = 0, strings_at_ = 0, strings_end_ = 0, relocations_at_ = 0, relocations_written_ = 0;
    std::uint64_t dynamic_at_ = 0, slots_at_ = 0, sections_at_ = 0;
    std::array<std::uint64_t, kinds> begin_{}, end_{};
    std::string image_;
};

}  // namespace

std::optional<std::string> link_in_process(std::span<const std::string_view> objects) {
    try {
        return Linker(objects).link();
    } catch (const LeftToOthers&) {
        return std::nullopt;
    }
}

}  // namespace kfp::msl

#else

namespace kfp::msl {

std::optional<std::string> link_in_process(std::span<const std::string_view>) { return std::nullopt; }

}  // namespace kfp::msl

#endif

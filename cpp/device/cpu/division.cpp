#include "device/cpu/division.hpp"

#if defined(__x86_64__)

#include <array>
#include <cstdint>
#include <cstring>

namespace kfp::cpu {
namespace {

template <class T>
T load(const void* address) {
    T value;
    std::memcpy(&value, address, sizeof value);
    return value;
}

// The instruction at the place of the fault: [66] [REX] F6 or F7, with a ModRM byte that says div (6) or idiv (7).
class Division {
public:
    explicit Division(const ucontext_t& context) : registers_(context.uc_mcontext.gregs) {
        next_ = reinterpret_cast<const unsigned char*>(registers_[REG_RIP]);
        const bool narrow = *next_ == 0x66;
        if (narrow) ++next_;
        if ((*next_ & 0xF0) == 0x40) rex_ = *next_++;
        const unsigned char opcode = *next_++;
        const unsigned char modrm = *next_++;
        const unsigned operation = modrm >> 3 & 7;
        valid_ = (opcode == 0xF6 || opcode == 0xF7) && operation >= 6;
        if (!valid_) return;
        bytes_ = opcode == 0xF6 ? 1 : (rex_ & 8) != 0 ? 8 : narrow ? 2 : 4;
        read_divisor(modrm);
    }

    bool valid() const { return valid_; }
    unsigned bytes() const { return bytes_; }
    bool divides_by_zero() const { return divisor_ == 0; }
    const unsigned char* end() const { return next_; }

private:
    std::uint64_t general(unsigned number) const {
        constexpr std::array<int, 16> order{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
        return static_cast<std::uint64_t>(registers_[order[number]]);
    }

    void read_divisor(unsigned char modrm) {
        const unsigned mode = modrm >> 6;
        const unsigned rm = modrm & 7;
        if (mode == 3) {
            // Without REX, the byte registers 4 to 7 are the second bytes of the first four.
            const bool second_byte = bytes_ == 1 && rex_ == 0 && rm >= 4;
            const std::uint64_t value = second_byte ? general(rm - 4) >> 8 : general(rm | extension(1));
            keep_divisor(&value);
        } else {
            keep_divisor(reinterpret_cast<const void*>(address(mode, rm)));
        }
    }

    void keep_divisor(const void* little_endian) { std::memcpy(&divisor_, little_endian, bytes_); }

    std::uint64_t address(unsigned mode, unsigned rm) {
        std::uint64_t sum = 0;
        bool has_base = true;
        bool relative = false;
        if (rm == 4) {
            const unsigned char sib = *next_++;
            const unsigned index = (sib >> 3 & 7U) | extension(2);
            if (index != 4) sum += general(index) << (sib >> 6);
            has_base = (sib & 7) != 5 || mode != 0;
            if (has_base) sum += general((sib & 7U) | extension(1));
        } else if (rm == 5 && mode == 0) {
            has_base = false;
            relative = true;
        } else {
            sum = general(rm | extension(1));
        }
        if (mode == 1) {
            sum += static_cast<std::uint64_t>(std::int64_t{load<std::int8_t>(next_)});
            next_ += 1;
        } else if (mode == 2 || !has_base) {
            sum += static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(next_)});
            next_ += 4;
        }
        return relative ? sum + reinterpret_cast<std::uint64_t>(next_) : sum;
    }

    // The fourth bit of a register's number, from REX.B (1) or REX.X (2).
    unsigned extension(unsigned bit) const { return (rex_ & bit) != 0 ? 8 : 0; }

    const gregset_t& registers_;
    const unsigned char* next_;
    unsigned char rex_ = 0;
    bool valid_ = false;
    unsigned bytes_ = 0;
    std::uint64_t divisor_ = 0;
};

// Bits `first` to `first + 8 bytes` of a register; a write of 32 bits clears the upper half.
void write(greg_t& target, std::uint64_t value, unsigned bytes, unsigned first = 0) {
    if (bytes == 8) {
        target = static_cast<greg_t>(value);
        return;
    }
    const std::uint64_t mask = ((std::uint64_t{1} << (8 * bytes)) - 1) << first;
    const std::uint64_t kept = bytes == 4 ? 0 : static_cast<std::uint64_t>(target) & ~mask;
    target = static_cast<greg_t>(kept | (value << first & mask));
}

}  // namespace

bool complete_division(ucontext_t& context) {
    const Division division(context);
    if (!division.valid()) return false;
    greg_t& low = context.uc_mcontext.gregs[REG_RAX];
    greg_t& high = context.uc_mcontext.gregs[REG_RDX];
    // The lower half of the dividend, which is all of it for what compilers make of C.
    const auto dividend = static_cast<std::uint64_t>(low);
    const std::uint64_t quotient = division.divides_by_zero() ? ~std::uint64_t{0} : dividend;
    const std::uint64_t remainder = division.divides_by_zero() ? dividend : 0;
    const unsigned bytes = division.bytes();
    if (bytes == 1) {
        write(low, remainder, 1, 8);
    } else {
        write(high, remainder, bytes);
    }
    write(low, quotient, bytes);
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(division.end()));
    return true;
}

}  // namespace kfp::cpu

#else

namespace kfp::cpu {

bool complete_division(ucontext_t&) { return false; }  // arm64 doesn't trap: x / 0 is 0 and x % 0 is x

}  // namespace kfp::cpu

#endif

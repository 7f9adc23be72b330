#include "worker/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#else
#include <stdlib.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace kfp {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), std::string("shared memory: ") + what);
}

#ifdef __linux__

// Spelled out: C libraries and kernel headers older than the running kernel lack some of them.
constexpr unsigned close_on_exec = 1, allow_sealing = 2, never_executable = 8;
constexpr int add_seals = 1033;
constexpr int seal_seal = 1, seal_shrink = 2, seal_grow = 4, seal_write = 8;

int create_memory() {
    const long fd = ::syscall(__NR_memfd_create, "kfp", close_on_exec | allow_sealing | never_executable);
    if (fd >= 0 || errno != EINVAL) return static_cast<int>(fd);
    return static_cast<int>(::syscall(__NR_memfd_create, "kfp", close_on_exec | allow_sealing));
}

#endif

}  // namespace

Mapping::Mapping(int memory, std::size_t bytes, Access access) : size_(bytes) {
    if (bytes == 0) return;
    const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
    void* const data = ::mmap(nullptr, bytes, protection, MAP_SHARED, memory, 0);
    if (data == MAP_FAILED) fail("mmap");
    data_ = static_cast<std::byte*>(data);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping::~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

std::uint64_t shared_memory_size(int descriptor) {
    struct stat about{};
    if (::fstat(descriptor, &about) != 0) fail("fstat");
    return static_cast<std::uint64_t>(about.st_size);
}

#ifdef __linux__

SharedMemory::SharedMemory(std::size_t bytes) : memory_(create_memory()), size_(bytes) {
    if (!memory_) fail("memfd_create");
    if (::ftruncate(memory_.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate");
    if (::fcntl(memory_.get(), add_seals, seal_shrink | seal_grow) != 0) fail("fcntl");
}

void SharedMemory::make_read_only() {
    if (::fcntl(memory_.get(), add_seals, seal_write | seal_seal) != 0) fail("fcntl");
}

#else

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
    const std::string name = "/kfp." + std::to_string(::getpid()) + "." + std::to_string(::arc4random());
    memory_ = Descriptor(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    if (!memory_) fail("shm_open");
    read_only_ = Descriptor(::shm_open(name.c_str(), O_RDONLY, 0600));
    ::shm_unlink(name.c_str());
    if (!read_only_) fail("shm_open");
    // Its size can be set only once there, and never with 0.
    if (bytes > 0 && ::ftruncate(memory_.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate");
}

void SharedMemory::make_read_only() { memory_ = std::move(read_only_); }

#endif

}  // namespace kfp

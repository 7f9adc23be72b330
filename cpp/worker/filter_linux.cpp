#include "worker/filter_linux.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace kfp::detail {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_AARCH64;
#else
#error "kfp's system-call filter knows x86-64 and arm64"
#endif
static_assert(std::endian::native == std::endian::little);

// Numbers that both architectures share and that old kernel headers may lack.
constexpr int number_clone3 = 435;
constexpr int number_rseq = native_arch == AUDIT_ARCH_X86_64 ? 334 : 293;
constexpr int number_last_known = 462;

constexpr std::uint32_t number_offset = offsetof(seccomp_data, nr);
constexpr std::uint32_t arch_offset = offsetof(seccomp_data, arch);
constexpr std::uint32_t low_word(unsigned argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * argument;
}
constexpr std::uint32_t high_word(unsigned argument) { return low_word(argument) + 4; }

constexpr std::uint32_t refuse(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

class Builder {
public:
    Builder() {
        load(arch_offset);
        unless_equal(native_arch, SECCOMP_RET_KILL_PROCESS);
        load(number_offset);
#if defined(__x86_64__)
        constexpr std::uint32_t x32_bit = 0x40000000;
        if_at_least(x32_bit, SECCOMP_RET_KILL_PROCESS);
#endif
    }

    // These leave the call's number in the accumulator.
    void on(int number, std::uint32_t action) {
        push(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
        finish(action);
    }
    void if_at_least(std::uint32_t number, std::uint32_t action) {
        push(BPF_JMP | BPF_JGE | BPF_K, number, 0, 1);
        finish(action);
    }
    // Allowed when (argument & mask) == value in its low word, otherwise `action`.
    void allow_masked(int number, unsigned argument, std::uint32_t mask, std::uint32_t value, std::uint32_t action) {
        push(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 5);
        load(low_word(argument));
        push(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
        push(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
        finish(SECCOMP_RET_ALLOW);
        finish(action);
    }
    void allow_pointer(int number, unsigned argument, std::uint64_t pointer, std::uint32_t action) {
        push(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 6);
        load(low_word(argument));
        push(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(pointer), 0, 3);
        load(high_word(argument));
        push(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(pointer >> 32), 0, 1);
        finish(SECCOMP_RET_ALLOW);
        finish(action);
    }
    std::vector<sock_filter> otherwise(std::uint32_t action) {
        finish(action);
        return std::move(program_);
    }

private:
    void push(int code, std::uint32_t k, std::uint8_t if_true, std::uint8_t if_false) {
        program_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, k});
    }
    void load(std::uint32_t offset) { push(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
    void finish(std::uint32_t action) { push(BPF_RET | BPF_K, action, 0, 0); }
    void unless_equal(std::uint32_t value, std::uint32_t action) {
        push(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
        finish(action);
    }

    std::vector<sock_filter> program_;
};

// Threads are let through, processes are not: a fork bomb has nothing to start from. clone3 hides its flags behind a
// pointer; told that it doesn't exist, every C library falls back on clone.
void threads_only(Builder& filter, std::uint32_t otherwise) {
    filter.on(number_clone3, refuse(ENOSYS));
    constexpr std::uint32_t needed = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    constexpr std::uint32_t namespaces =
        CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    filter.allow_masked(__NR_clone, 0, needed | namespaces, needed, otherwise);
}

constexpr auto forbidden_to_commands = std::to_array<int>({
    // the network
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4, __NR_sendto,
    __NR_sendmsg, __NR_sendmmsg, __NR_recvfrom, __NR_recvmsg, __NR_recvmmsg,
    // other processes
    __NR_kill, __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, __NR_ptrace, __NR_process_vm_readv,
    __NR_process_vm_writev, __NR_kcmp, __NR_setpgid, __NR_setsid, __NR_setpriority, __NR_sched_setscheduler,
    __NR_sched_setparam, __NR_pidfd_send_signal, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 448 /* process_mrelease */,
    // a second program
    __NR_execveat, __NR_unshare, __NR_setns, __NR_personality,
    // the file system beyond plain files
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_swapon, __NR_swapoff, __NR_mknodat, __NR_quotactl,
    428, 429, 430, 431, 432, 433, 442, 443 /* open_tree, move_mount, the fs* family, mount_setattr, quotactl_fd */,
    __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init, __NR_fanotify_mark, __NR_inotify_init1,
    __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_fchown, __NR_fchownat,
    // rights and identities
    __NR_setuid, __NR_setgid, __NR_setreuid, __NR_setregid, __NR_setresuid, __NR_setresgid, __NR_setgroups,
    __NR_setfsuid, __NR_setfsgid, __NR_capset, __NR_keyctl, __NR_add_key, __NR_request_key,
    // the kernel
    __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, 425, 426, 427 /* io_uring */, __NR_kexec_load, __NR_reboot,
    __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_acct, __NR_syslog, __NR_sethostname,
    __NR_setdomainname, __NR_vhangup, __NR_settimeofday, __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime,
    __NR_io_setup, __NR_io_submit, 447 /* memfd_secret */, __NR_memfd_create,
    // System V and POSIX objects outlive their maker
    __NR_shmget, __NR_shmat, __NR_shmctl, __NR_semget, __NR_semop, __NR_semctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv,
    __NR_msgctl, __NR_mq_open, __NR_mq_unlink,
#if defined(__x86_64__)
    __NR_fork, __NR_vfork, __NR_mknod, __NR_chown, __NR_lchown, __NR_inotify_init, __NR_ioperm, __NR_iopl,
    __NR_modify_ldt, __NR_kexec_file_load, __NR_uselib, __NR_ustat, __NR_sysfs, __NR__sysctl, __NR_create_module,
    __NR_nfsservctl,
#endif
});

constexpr auto allowed_to_sealed = std::to_array<int>({
    __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_recvmsg, __NR_sendmsg, __NR_recvfrom, __NR_sendto, __NR_ppoll,
    __NR_close, __NR_fstat, __NR_lseek, __NR_futex, __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
    __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_exit,
    __NR_exit_group, __NR_rt_sigreturn, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_sigaltstack, __NR_restart_syscall,
    __NR_sched_yield, __NR_sched_getaffinity, __NR_getpid, __NR_gettid, __NR_getppid, __NR_set_robust_list,
    __NR_set_tid_address, number_rseq, __NR_getrandom, __NR_membarrier,
#if defined(__x86_64__)
    __NR_poll, __NR_arch_prctl, __NR_time,
#endif
});

// What a C library tries in passing and can do without. Refused quietly; all else is fatal and so has a name.
constexpr auto refused_to_sealed = std::to_array<int>({
    __NR_openat, __NR_newfstatat, __NR_readlinkat, __NR_faccessat, __NR_ioctl, __NR_prctl, __NR_prlimit64, __NR_uname,
    __NR_sysinfo, __NR_getcwd, __NR_fcntl, __NR_sched_setaffinity, __NR_statx, __NR_mlock, __NR_mbind,
    __NR_set_mempolicy,
#if defined(__x86_64__)
    __NR_open, __NR_stat, __NR_access, __NR_readlink,
#endif
});

}  // namespace

std::vector<sock_filter> command_filter(const char* executable) {
    Builder filter;
    filter.if_at_least(number_last_known + 1, refuse(ENOSYS));
    for (const int number : forbidden_to_commands) filter.on(number, refuse(EPERM));
    threads_only(filter, refuse(EPERM));
    filter.allow_pointer(__NR_execve, 0, reinterpret_cast<std::uintptr_t>(executable), refuse(EPERM));
    return filter.otherwise(SECCOMP_RET_ALLOW);
}

std::vector<sock_filter> sealed_filter() {
    Builder filter;
    for (const int number : allowed_to_sealed) filter.on(number, SECCOMP_RET_ALLOW);
    for (const int number : refused_to_sealed) filter.on(number, refuse(EPERM));
    filter.allow_masked(__NR_mmap, 2, PROT_EXEC, 0, SECCOMP_RET_KILL_PROCESS);
    filter.allow_masked(__NR_mprotect, 2, PROT_EXEC, 0, SECCOMP_RET_KILL_PROCESS);
    // abort() and raise(): a thread may signal its own process.
    filter.allow_masked(__NR_tgkill, 0, UINT32_MAX, static_cast<std::uint32_t>(::getpid()), SECCOMP_RET_KILL_PROCESS);
    threads_only(filter, SECCOMP_RET_KILL_PROCESS);
    return filter.otherwise(SECCOMP_RET_KILL_PROCESS);
}

bool install_filter(const std::vector<sock_filter>& program) noexcept {
    // The kernel copies the program and takes the pointer as non-const for history's sake.
    const sock_fprog view{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
    // Without SPEC_ALLOW older kernels slow a filtered process down; what is measured here should run at full speed.
    constexpr unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    return ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &view) == 0;
}

}  // namespace kfp::detail

# ruff: noqa: E501
"""Programs that try to get out, to get at what they must not see, or to take the host down with them.

Each names every outcome that is acceptable, and no other: ``compile`` (a diagnostic), ``pipeline`` (compiled, but can't
be run), ``ran`` (it ran and reached nothing), or the kind of a WorkerFailure.
"""

from __future__ import annotations

from dataclasses import dataclass

PROLOGUE = """#include <metal_stdlib>
using namespace metal;
"""

SIGNATURE = (
    "kernel void attack(device uint* out [[buffer(0)]], device const uint* in [[buffer(1)]], "
    "uint i [[thread_position_in_grid]])"
)

BENIGN = PROLOGUE + SIGNATURE + " { out[i] = in[i]; }\n"


@dataclass(frozen=True)
class Program:
    name: str
    source: str  # {canary} stands for the path of a file with a secret in it
    outcomes: frozenset[str]
    says: str = ""  # what one of the messages must contain


def _program(name: str, outcomes: str, source: str, says: str = "") -> Program:
    return Program(name, source, frozenset(outcomes.split("|")), says)


def around(name: str, outcomes: str, declarations: str, body: str = "out[i] = in[i];", says: str = "") -> Program:
    """A program with ``declarations`` before a kernel of ``body``."""
    return _program(name, outcomes, f"{PROLOGUE}{declarations}\n{SIGNATURE} {{\n{body}\n}}\n", says)


READING = [
    around("include-absolute", "compile", '#include "{canary}"'),
    around("include-angle", "compile", "#include <{canary}>"),
    around("include-relative", "compile", '#include "../../../../../../../../..{canary}"'),
    around("include-macro", "compile", '#define WHERE "{canary}"\n#include WHERE'),
    around("include-pasted", "compile", "#define A inc\n#define S(x) #x\n#define T(x) S(x)\n#include T({canary})"),
    around("include-spliced", "compile", '#inc\\\nlude "{canary}"'),
    around("include-spliced-with-blank", "compile", '#inc\\ \nlude "{canary}"'),
    around("include-digraph", "compile", '%:include "{canary}"'),
    around("include-trigraph", "compile", '??=include "{canary}"'),
    around("include-commented", "compile", '/* */ # /* */ include /* */ "{canary}"'),
    around("include-after-line", "compile", '#line 1 "{canary}"\n#include "{canary}"'),
    around("include-in-dead-branch-made-live", "compile", '#define X 1\n#if X\n#include "{canary}"\n#endif'),
    around("include-self", "compile", '#include "program_source"'),
    around("include-process-memory", "compile", '#include "/proc/self/environ"'),
    around("include-endless-device", "compile", '#include "/dev/zero"'),
    around("import", "compile", '#import "{canary}"'),
    around("include-next", "compile", '#include_next "{canary}"'),
    around("embed", "compile", "constant uchar stolen[] = {\n#embed \"{canary}\"\n};", "out[i] = stolen[i % sizeof(stolen)];"),
    around("has-include", "compile|ran", "", '#if __has_include("{canary}")\nout[i] = 1;\n#else\nout[i] = 0;\n#endif'),
    around("has-include-spliced", "compile|ran", "", '#if __has_inc\\\nlude("{canary}")\nout[i] = 1;\n#endif'),
    around("has-embed", "compile|ran", "", '#if __has_embed("{canary}")\nout[i] = 1;\n#endif'),
    around("pragma-operator-dependency", "compile|ran", '_Pragma("GCC dependency \\"{canary}\\"")'),
    around("pragma-include-alias", "compile|ran", '#pragma include_alias("metal_stdlib", "{canary}")\n#include "metal_stdlib"'),
    around("pragma-module-import", "compile|ran", "#pragma clang module import std"),
    around("at-import", "compile", "@import std;"),
    around("cpp-import", "compile", 'import "{canary}";'),
    around("cpp-module", "compile", "module;\nexport module m;"),
]  # fmt: skip

ASSEMBLY = [
    around("asm", "compile", "", 'asm("syscall");'),
    around("asm-volatile", "compile", "", '__asm__ volatile ("syscall" : : : "memory");'),
    around("asm-underscores", "compile", "", '__asm("syscall");'),
    around("asm-goto", "compile", "", 'asm goto ("jmp %l0" : : : : done); done: out[i] = 1;'),
    around("asm-file-scope", "compile", 'asm(".globl main; main: ret");'),
    around("asm-incbin", "compile", '__asm__(".section .rodata; .incbin \\"{canary}\\"");'),
    around("asm-macro-pasted", "compile", "#define PASTE(a, b) a##b", 'PASTE(a, sm)("syscall");'),
    around("asm-macro-spliced", "compile", "", 'as\\\nm("syscall");'),
    around("asm-universal-character", "compile", "", '\\u0061sm("syscall");'),
    around("asm-label", "compile", 'void stolen() asm("write");', "stolen();"),
    around("register-variable", "compile", 'register ulong rsp asm("rsp");', "out[i] = uint(rsp);"),
    around("pragma-asm", "compile|ran", "#pragma asm\nsyscall\n#pragma endasm"),
]

HOST_CALLS = [
    around("extern-c", "compile", 'extern "C" int system(const char*);', 'system("id");'),
    around("extern-write", "compile", "extern long write(int, const thread void*, ulong);", "write(2, &i, 4);"),
    around("extern-open", "compile", "extern int open(const constant char*, int);", 'open("{canary}", 0);'),
    around("printf", "compile", "", 'printf("%d\\n", i);'),
    around("builtin-printf", "compile", "", '__builtin_printf("%d\\n", i);'),
    around("builtin-malloc", "compile", "", "out[i] = uint(ulong(__builtin_malloc(1 << 30)));"),
    around("builtin-alloca", "compile|fault", "", "out[i] = *(thread uint*)__builtin_alloca(ulong(in[i]) << 40);"),
    around("builtin-longjmp", "compile|fault|crash", "", "thread void* buf[5]; __builtin_longjmp(buf, 1);"),
    around("builtin-return-address", "compile|ran", "", "out[i] = uint(ulong(__builtin_return_address(0)));"),
    around("builtin-frame-address", "compile|ran", "", "out[i] = uint(ulong(__builtin_frame_address(0)));"),
    around("builtin-trap", "compile|fault", "", "__builtin_trap();"),
    around("builtin-unreachable", "compile|ran|fault|crash|timeout", "", "__builtin_unreachable();"),
    around("builtin-ia32", "compile", "", "out[i] = __builtin_ia32_rdtsc();"),
    around("builtin-cycle-counter", "compile|ran", "", "out[i] = uint(__builtin_readcyclecounter());"),
    around("new", "compile", "", "out[i] = *new uint(3);"),
    around("throw", "compile", "", "throw 1;"),
    around("typeid", "compile", "", "out[i] = typeid(uint).hash_code();"),
    around("virtual", "compile", "struct S { virtual uint f() { return 1; } };", "S s; out[i] = s.f();"),
    around("thread-local", "compile", "thread_local uint x;", "out[i] = x;"),
    around("runtime-table", "compile", "extern constant void* __kfp_runtime;", "out[i] = uint(ulong(__kfp_runtime));"),
    around("runtime-barrier", "compile", "void __kfp_threadgroup_barrier();", "__kfp_threadgroup_barrier();"),
    around("call-integer", "compile|fault", "", "((void (*)())ulong(0x401000))();"),
    around("call-integer-typedef", "compile|fault", "typedef void (*call)(int);", "((call)(ulong)in[i])(60);"),
    around("call-data", "compile|fault|refused", "constant uchar code[] = {0x0f, 0x05, 0xc3};",
           "union { ulong n; void (*f)(); } u; u.n = ulong(&code[0]); u.f();"),
    around("call-buffer", "compile|fault|refused", "", "out[i] = 0xc3050f; union { ulong n; void (*f)(); } u; "
           "u.n = ulong(out); u.f();"),
    around("call-own-prologue", "compile|ran|fault|crash|refused|timeout", "",
           "union { ulong n; void (*f)(); } u; u.n = ulong(__builtin_return_address(0)) + 3; u.f();"),
]  # fmt: skip

NAMES = [
    around("named-memcpy", "compile|ran", 'extern "C" void memcpy(thread void*, thread void*, ulong) {}'),
    around("defines-memset", "compile|ran", "void memset(device uint* p, int v, ulong n) { p[0] = v; }", "memset(out, 1, 1);"),
    around("defines-main", "compile|ran", "int main() { return 0; }"),
    around("defines-start", "compile|ran", "void _start() {}"),
    around("defines-malloc", "compile|ran", "device void* malloc(ulong n) { return nullptr; }"),
    around("defines-runtime", "compile", "constant ulong __kfp_runtime = 0x4141414141414141;"),
    around("defines-wrapper", "compile", "kernel void __kfp_thread_0(device uint* out [[buffer(0)]]) { *out = 1; }"),
    around("defines-group", "compile", "void __kfp_group_0() {}"),
    around("kernel-named-runtime", "compile", "kernel void __kfp_runtime(device uint* out [[buffer(0)]]) { *out = 1; }"),
    around("host-name-clash", "compile", '[[host_name("attack")]] kernel void b(device uint* out [[buffer(0)]]) { *out = 1; }'),
    around("undefines-prelude", "compile|ran", "#undef device\n#undef kernel\n#define kernel\n#define device"),
    around("redefines-keyword", "compile|ran", "#define return\n#define if while"),
    around("redefines-predefined", "compile|ran", "#undef __METAL_VERSION__\n#define __OPENCL_CPP_VERSION__ 0"),
    around("attribute-constructor", "compile", "__attribute__((constructor)) void early() {}"),
    around("attribute-constructor-brackets", "compile|ran", "[[gnu::constructor]] void early() {}"),
    around("attribute-destructor", "compile", "__attribute__((destructor)) void late() {}"),
    around("attribute-section", "compile", '__attribute__((section(".init_array"))) constant ulong entry = 0x41;'),
    around("attribute-section-code", "compile", '__attribute__((section(".text,\\"awx\\",@progbits#"))) constant uint x = 1;'),
    around("attribute-alias", "compile", 'void other() __attribute__((alias("__kfp_runtime")));'),
    around("attribute-ifunc", "compile", 'void other() __attribute__((ifunc("attack")));'),
    around("attribute-weak", "compile", "__attribute__((weak)) void maybe();", "maybe();"),
    around("attribute-naked", "compile", "__attribute__((naked)) void bare() {}", "bare();"),
    around("attribute-cleanup", "compile|ran", "void bye(thread uint* p) {}", "__attribute__((cleanup(bye))) uint x = 1; out[i] = x;"),
    around("declspec", "compile|ran", "__declspec(thread) uint x;"),
    around("pragma-weak", "compile|ran", "#pragma weak __kfp_runtime"),
    around("pragma-redefine-extname", "compile|ran", "#pragma redefine_extname attack system"),
    around("pragma-linker-option", "compile|ran", '#pragma comment(linker, "-lc")\n#pragma comment(lib, "c")'),
    around("pragma-section", "compile|ran", '#pragma clang section text="evil" data="evil"'),
    around("pragma-push-macro", "compile|ran", '#pragma push_macro("device")\n#undef device\n#pragma pop_macro("device")'),
    around("pragma-extension", "compile|ran", "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable",
           "void (*f)(void) = 0; out[i] = uint(f == 0);"),
    around("pragma-attribute", "compile|ran", "#pragma clang attribute push(__attribute__((constructor)), apply_to = function)\n"
           "void early() {}\n#pragma clang attribute pop"),
    around("pragma-no-end", "compile|ran", "#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Weverything\""),
]  # fmt: skip

BOMBS = [
    around("loop", "timeout|ran", "", "for (;;) { }"),
    around("loop-writing", "timeout", "", "for (uint n = 0;; ++n) out[i] = n;"),
    around("loop-volatile", "timeout", "", "volatile uint x = 0; while (true) x += 1;"),
    around("loop-atomic", "timeout", "", "device atomic_uint* a = (device atomic_uint*)out; "
           "while (atomic_load_explicit(a, memory_order_relaxed) != 0x12345678u) { }"),
    around("loop-barrier", "timeout", "", "for (;;) threadgroup_barrier(mem_flags::mem_device);"),
    around("loop-one-thread-barrier-others", "timeout", "", "if (i == 0) { volatile uint x = 0; while (true) x += 1; } "
           "threadgroup_barrier(mem_flags::mem_device); out[i] = 1;"),
    around("recursion", "compile|fault", "uint down(uint n) { volatile uint x = n; return down(x + 1) + x; }", "out[i] = down(i);"),
    around("recursion-mutual", "compile|fault|timeout", "uint b(uint n);\nuint a(uint n) { volatile uint x = n; return b(x) + x; }\n"
           "uint b(uint n) { volatile uint x = n; return a(x) + x; }", "out[i] = a(i);"),
    around("recursion-tail", "compile|fault|timeout|ran", "void down(device uint* p) { *p += 1; down(p); }", "down(out);"),
    around("template-bomb", "compile", "template <int N> struct B { enum { v = B<N - 1>::v + B<N - 1>::v }; };", "out[i] = B<1 << 20>::v;"),
    around("template-fibonacci", "compile|ran", "template <int A, int B> struct F { enum { v = F<A - 1, B>::v + F<A, B - 1>::v }; };\n"
           "template <int B> struct F<0, B> { enum { v = 1 }; };\ntemplate <int A> struct F<A, 0> { enum { v = 1 }; };", "out[i] = F<300, 300>::v;"),
    around("template-growing-types", "compile", "template <class T> struct P { T a; T b; };\n"
           "template <int N, class T> struct G { typedef typename G<N - 1, P<T>>::type type; };\n"
           "template <class T> struct G<0, T> { typedef T type; };", "G<80, uint>::type huge; out[i] = sizeof(huge);"),
    around("constexpr-loop", "compile", "constexpr uint spin() { uint n = 0; while (true) ++n; return n; }\nconstant uint x = spin();", "out[i] = x;"),
    around("constexpr-recursion", "compile", "constexpr uint fib(uint n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
           "constant uint x = fib(60);", "out[i] = x;"),
    around("macro-bomb", "compile", "\n".join(f"#define M{n} M{n - 1} M{n - 1} M{n - 1} M{n - 1} M{n - 1} M{n - 1} M{n - 1} M{n - 1}"
           for n in range(1, 12)) + "\n#define M0 x = x * 3;", "uint x = i; M11 out[i] = x;"),
    around("macro-arguments-bomb", "compile", "\n".join(f"#define D{n}(a) D{n - 1}(a a)" for n in range(1, 40)) + "\n#define D0(a) a",
           "uint x = i; D39(x++;) out[i] = x;"),
    around("nested-parentheses", "compile|ran", "", f"out[i] = {'(' * 50000}1{')' * 50000};"),
    around("nested-braces", "compile|ran", "", "{" * 50000 + "}" * 50000),
    around("nested-brackets", "compile|ran", "", f"out{'[in' * 20000}[0]{']' * 20000} = 1;"),
    around("nested-conditionals", "compile|ran", "#if 1\n" * 20000 + "#endif\n" * 20000),
    around("nested-templates", "compile|ran", "template <class T> struct V { T t; };", f"{'V<' * 5000}uint{'>' * 5000} v; out[i] = sizeof(v);"),
    around("unary-chain", "compile|ran", "", f"out[i] = {'- ' * 100000}1;"),
    around("binary-chain", "compile|ran", "", f"out[i] = 1{' + in[i]' * 60000};"),
    around("else-if-chain", "compile|ran", "", "if (i == 0) out[i] = 0; " + "".join(f"else if (i == {n}) out[i] = {n * 7}; " for n in range(8000))),
    around("many-errors", "compile", "", "\n".join(f"undeclared{n} = {n};" for n in range(20000))),
    around("long-error-line", "compile", "", f"out[i] = {'x' * 500000};"),
    around("long-identifier", "compile|ran", f"constant uint {'q' * 300000} = 1;"),
    around("giant-source", "compile", "/*" + "x" * (3 << 20) + "*/"),
    around("giant-table", "compile|ran", "constant uint table[] = {" + "7," * 100000 + "};", "out[i] = table[i];"),
    around("giant-zero-table", "compile|pipeline|fault|memory|ran", "constant uchar table[1ul << 40] = {};", "out[i] = table[i];"),
    around("giant-threadgroup", "compile|pipeline", "", "threadgroup uint big[1u << 30]; big[i] = i; out[i] = big[i];"),
    around("threadgroup-slightly-too-big", "pipeline", "", "threadgroup uint big[8193]; big[i] = in[i]; out[i] = big[63 - i];", says="exceeds"),
    around("giant-stack", "compile|fault", "", "uint big[1u << 27]; for (uint n = 0; n < (1u << 27); ++n) big[n] = n * in[i]; out[i] = big[in[i]];"),
    around("giant-stack-touched-below", "compile|fault", "", "volatile uchar big[1u << 30]; big[in[0]] = 1; out[i] = big[i];"),
    around("unroll-bomb", "compile|ran", "", "uint x = i;\n#pragma unroll\nfor (uint n = 0; n < 4000000000u; ++n) x = x * 3 + n;\nout[i] = x;"),
    around("static-assert-text", "compile", f'static_assert(false, "{"A" * 200000}");'),
    around("pragma-message", "compile|ran", '#pragma message("' + "B" * 100000 + '")\n' * 50),
    around("error-directive", "compile", "#error " + "C" * 500000),
    around("warning-flood", "compile|ran", "\n".join(f"#warning {n}" for n in range(20000))),
]  # fmt: skip

# What may become of a process whose stack was overwritten: anything, as long as it stays inside and ends.
SMASHED = "fault|crash|refused|protocol|ran|timeout"

# By way of integers, since the compiler drops what it can prove to leave a variable.
SMASH = """volatile ulong anchor = i; ulong here = ulong((thread ulong*)&anchor) + in[0];
#define at(base, n) (*(volatile thread ulong*)(base + ulong((n) * 8)))
"""

MEMORY = [
    around("null-write", "fault", "", "device uint* p = (device uint*)ulong(in[0]); p[i] = 1;", says="null"),
    around("null-read", "fault", "", "device uint* p = (device uint*)ulong(in[0]); out[i] = p[i];", says="null"),
    around("negative-index", "fault|ran", "", "out[-int(i) * 100000000 - 1] = 1;"),
    around("far-index", "fault|ran", "", "out[ulong(i) * 0x1000000ul + 0x10000000ul] = 1;"),
    around("pointer-from-integer", "fault", "", "*(device uint*)(0x10000ul + i) = 1;"),
    around("pointer-to-kernel-half", "fault", "", "*(device uint*)0xffff800000000000ul = 1;", says="wild"),
    around("pointer-scan", "fault", "", "ulong sum = 0; for (ulong a = 0x400000; ; a += 4096) sum += *(volatile device uchar*)a; out[i] = uint(sum);"),
    around("input-written", "fault|ran", "", "((device uint*)in)[i] = 7; out[i] = in[i];"),
    around("neighbour-buffers", "fault|ran", "", "for (int n = -4096; n < 4096; ++n) out[n] = 0x41414141;"),
    around("whole-address-space", "fault", "", "for (ulong n = 0; ; ++n) out[n * 1024] = 0x41414141;"),
    around("whole-address-space-down", "fault", "", "for (ulong n = 0; ; ++n) out[-long(n * 1024)] = 0x41414141;"),
    around("stack-overwrite-up", SMASHED, "", SMASH + "for (long n = 1; n < 4096; ++n) at(here, n) = 0x4141414141414141;"),
    around("stack-overwrite-down", SMASHED, "", SMASH + "for (long n = -1; n > -100000; --n) at(here, n) = 0x4141414141414141;"),
    around("return-address", SMASHED, "", SMASH + "for (long n = 1; n < 64; ++n) at(here, n) = ulong(out);"),
    around("return-address-zero", SMASHED, "", SMASH + "for (long n = 1; n < 64; ++n) at(here, n) = 0;"),
    around("return-address-fibers", SMASHED, "", SMASH + "for (long n = 1; n < 64; ++n) at(here, n) = ulong(out); "
           "threadgroup_barrier(mem_flags::mem_none); out[i] = 1;"),
    around("return-into-runtime", SMASHED, "", SMASH + "ulong found = at(here, 1); for (long n = 1; n < 64; ++n) "
           "if (at(here, n) > 0x500000000000) found = at(here, n); for (long n = 1; n < 64; ++n) at(here, n) = found + 3;"),
    around("frame-scanned-for-pointers", SMASHED, "", SMASH + "for (long n = 0; n < 64; ++n) { ulong a = at(here, n); "
           "if (a > 0x10000 && a < 0x7fffffffffff) *(volatile device ulong*)(a & ~7ul) = 0x4141414141414141; }"),
    around("other-fibers-stacks", SMASHED, "", SMASH + "threadgroup_barrier(mem_flags::mem_none); "
           "for (long n = 0; n < 4000000; n += 8) at(here, n) = ulong(n); threadgroup_barrier(mem_flags::mem_none); out[i] = 1;"),
    around("spray-bytes-binding", "fault|ran|crash", "", "device uchar* p = (device uchar*)out; for (long n = -65536; n < 65536; ++n) p[n] = 0xff;"),
    around("threadgroup-overflow", "fault|ran|crash", "", "threadgroup uint t[64]; t[i] = i; for (uint n = 0; n < 100000000u; ++n) t[n] = n; out[i] = t[i];"),
    around("threadgroup-underflow", "fault|ran|crash", "", "threadgroup uint t[64]; t[i] = i; for (int n = 0; n > -100000000; --n) t[n] = n; out[i] = t[i];"),
    around("code-overwrite", "compile|fault", "void here() {}", "union { ulong n; void (*f)(); } u; u.f = here; *(device uchar*)u.n = 0xc3;"),
    around("constants-overwrite", "compile|fault", "constant uint c[4] = {1, 2, 3, 4};", "constant uint* p = c + in[i]; *(volatile device uint*)(ulong(p)) = 7; out[i] = *p;"),
    around("runtime-pointer-hunt", "fault", "constant uint c[4] = {1, 2, 3, 4};",
           "constant uint* q = c + in[i]; volatile device ulong* p = (volatile device ulong*)(ulong(q)); for (uint n = 0; n < (1u << 28); ++n) p[n] = ulong(out);"),
    around("divide-by-zero", "ran|fault", "", "out[i] = 5 / in[i]; "),
    around("remainder-by-zero", "ran|fault", "", "out[i] = 5 % in[i];"),
    around("divide-overflow", "ran|fault", "", "int a = int(0x80000000u + in[i]); int b = int(in[i]) - 1; out[i] = uint(a / b);"),
    around("shift-too-far", "ran", "", "out[i] = (1u << (in[i] + 40)) + (7u >> (in[i] + 99));"),
    around("nan-poison", "ran", "", "out[i] = as_type<uint>(sqrt(float(in[i]) - 1.0f)) & out[i];"),
    around("uninitialised-stack", "ran", "", "uint x[64]; out[i] = x[(i * 7) % 64];"),
    around("uninitialised-threadgroup", "ran", "", "threadgroup uint t[64]; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = t[i];"),
    around("divergent-barrier", "ran|fault|timeout", "", "if (i % 2 == 0) threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = 1;"),
    around("barrier-after-return", "ran", "", "if (i % 2 == 0) return; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = 1;"),
    around("shuffle-out-of-range", "ran", "", "out[i] = simd_shuffle(i, ushort(in[i] + 99));"),
]  # fmt: skip

TEXTS = [
    _program("empty", "compile|ran|pipeline", ""),
    _program("only-blanks", "compile|pipeline", "  \n\t\n"),
    _program("only-comments", "compile|pipeline", "// nothing\n/* at all */\n"),
    _program("open-comment", "compile|pipeline", "/* never closed"),
    _program("open-bracket-in-attribute", "compile", BENIGN.replace("buffer(0)", "buffer(0"), "no partner for ']'"),
    _program("open-string", "compile", BENIGN + '"never closed\n'),
    _program("open-brace", "compile", BENIGN + "kernel void k() {"),
    _program("nul-byte", "compile|ran", BENIGN.replace("out[i] =", "out[i] \0=")),
    _program("nul-in-comment", "compile|ran", "// a\0b\n" + BENIGN),
    _program("nul-in-identifier", "compile", BENIGN.replace("attack", "att\0ack")),
    _program("byte-order-mark", "compile|ran", "\ufeff" + BENIGN),
    _program("carriage-returns", "ran", BENIGN.replace("\n", "\r\n")),
    _program("only-carriage-returns", "compile|ran|pipeline", BENIGN.replace("\n", "\r")),
    _program("form-feeds", "compile|ran", BENIGN.replace("\n", "\n\f\v")),
    _program("no-newline-at-end", "ran", BENIGN.rstrip("\n")),
    _program("backslash-at-end", "compile|ran", BENIGN + "\\"),
    _program("control-characters", "compile", BENIGN + "\x1b[2J\x1b]0;title\x07 error_here;"),
    _program("bidirectional-text", "compile", BENIGN + "/* \u202e */ uint \u202eevil;"),
    _program("unicode-identifier", "compile|ran", BENIGN.replace("attack(", "attack(").replace("out[i]", "uint größe = in[i]; out[i]")),
    _program("other-language", "compile", "import os; os.system('id')\n"),
    _program("elf-file", "compile", "\x7fELF\x02\x01\x01" + "\0" * 60),
    _program("linker-script", "compile", "INPUT({canary})\nGROUP(libc.so)\n"),
    _program("response-file", "compile", "@{canary}\n"),
]  # fmt: skip

ALL = [*READING, *ASSEMBLY, *HOST_CALLS, *NAMES, *BOMBS, *MEMORY, *TEXTS]

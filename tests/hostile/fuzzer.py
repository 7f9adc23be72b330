"""A deterministic mutator over small kernels: whatever comes out must end in a verdict."""

from __future__ import annotations

import random
import re

from hostile.programs import BENIGN, PROLOGUE, SIGNATURE

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NUMBERS = (
    "0",
    "1",
    "-1",
    "31",
    "32",
    "33",
    "1024",
    "65536",
    "0x7fffffff",
    "0xffffffffu",
    "1e38f",
    "0.0f",
    "4294967296ul",
)
_OPERATORS = ("+", "-", "*", "/", "%", "<", ">", "&", "|", "^")
_CHARACTERS = ("\0", "\a", "\x1b", "\\", "\x7f", "\xa0", "\u202e", "\ufffd", "\U0001f600")
_WORDS = (
    "device", "constant", "threadgroup", "thread", "kernel", "template", "struct", "union", "enum", "const", "volatile",
    "static", "constexpr", "typename", "operator", "while", "for", "if", "else", "return", "goto", "switch", "float",
    "float4", "half3", "uint", "int2", "ulong", "char", "bool4", "atomic_uint", "packed_float3", "float4x4", "void",
    "sizeof", "decltype", "auto", "using", "namespace", "metal", "this", "new", "asm", "include", "define", "_Pragma",
    "[[", "]]", "(", ")", "{", "}", "<", ">", "::", "->", "&", "*", "#", "\\\n", "//", "/*", "*/", '"', "'", ";", ",",
)  # fmt: skip

SEEDS = (
    BENIGN,
    f"""{PROLOGUE}
template <typename T> T twice(T x) {{ return x + x; }}
constant float weights[4] = {{0.1f, 0.2f, 0.3f, 0.4f}};
struct Pair {{ float a; uint b; }};
{SIGNATURE} {{
    float4 v = float4(weights[i & 3], float(in[i]), 2.0f, -1.0f);
    Pair p = {{dot(v.xyz, v.wzy), i}};
    for (uint n = 0; n < 8; ++n) p.a = fma(p.a, 0.5f, sin(p.a));
    out[i] = as_type<uint>(twice(p.a)) + p.b;
}}
""",
    f"""{PROLOGUE}
#define TILE 32
{SIGNATURE[:-1]}, uint l [[thread_position_in_threadgroup]]) {{
    threadgroup uint tile[TILE];
    tile[l] = in[i] + l;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint sum = 0;
    for (uint n = 0; n < TILE; ++n) sum += tile[(l + n) % TILE];
    sum += simd_sum(l) + simd_shuffle_xor(sum, 1);
    device atomic_uint* cell = (device atomic_uint*)&out[0];
    atomic_fetch_add_explicit(cell, sum, memory_order_relaxed);
    if (l > 0) out[i] = sum;
}}
""",
)


def mutant(number: int) -> str:
    """The source of mutant ``number``: a few mutations, all drawn from that number."""
    draw = random.Random(number)
    tokens = _TOKEN.findall(draw.choice(SEEDS))
    for _ in range(draw.choice((1, 1, 2, 3, 6))):
        draw.choice(_MUTATIONS)(draw, tokens)
    text = "".join(tokens)
    if draw.random() < 0.1:
        position = draw.randrange(len(text))
        text = (
            text[:position]
            + chr(draw.choice((0, 7, 27, 92, 127, 0xA0, 0x202E, 0xFFFD, 0x1F600)))
            + text[position + 1 :]
        )
    return text


def _delete(draw: random.Random, tokens: list[str]) -> None:
    first = draw.randrange(len(tokens))
    del tokens[first : first + draw.choice((1, 1, 2, 5))]


def _duplicate(draw: random.Random, tokens: list[str]) -> None:
    first = draw.randrange(len(tokens))
    tokens[first:first] = tokens[first : first + draw.choice((1, 3, 10, 40))]


def _swap(draw: random.Random, tokens: list[str]) -> None:
    a, b = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]


def _replace(draw: random.Random, tokens: list[str]) -> None:
    tokens[draw.randrange(len(tokens))] = draw.choice(_WORDS)


def _insert(draw: random.Random, tokens: list[str]) -> None:
    tokens.insert(draw.randrange(len(tokens)), draw.choice(_WORDS))


def _body(tokens: list[str]) -> range:
    """The tokens of the kernel's body: an edit before it rarely compiles."""
    start = tokens.index("kernel") if "kernel" in tokens else 0
    return range(tokens.index("{", start) if "{" in tokens[start:] else 0, len(tokens))


def _renumber(draw: random.Random, tokens: list[str]) -> None:
    numbers = [n for n in _body(tokens) if tokens[n][0].isdigit()]
    if numbers:
        tokens[draw.choice(numbers)] = draw.choice(_NUMBERS)


def _reoperate(draw: random.Random, tokens: list[str]) -> None:
    operators = [n for n in _body(tokens) if tokens[n] in _OPERATORS]
    if operators:
        tokens[draw.choice(operators)] = draw.choice(_OPERATORS)


# Most random edits don't compile; numbers and operators are changed more often so that enough mutants run.
_MUTATIONS = (_delete, _duplicate, _swap, _replace, _insert, *(5 * (_renumber, _reoperate)))

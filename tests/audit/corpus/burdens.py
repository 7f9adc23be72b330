"""Work that changes no output and that no compiler can drop. Several kinds, so that none gives a kernel away."""

from __future__ import annotations

from typing import Literal

from corpus.editing import in_body
from corpus.sites import Site

Kind = Literal["fma", "hash", "remainder", "trigonometry"]


def natural(site: Site) -> Kind:
    return "hash" if site.whole_words else "fma"


def rounds_of(site: Site, kind: Kind, times: int = 1) -> int:
    """As long as ``site.burden`` rounds of the natural kind, about; at least as long."""
    if site.whole_words:
        factor = {"fma": 1.4, "hash": 1.0, "remainder": 0.35, "trigonometry": 0.1}[kind]
    else:
        factor = {"fma": 1.0, "hash": 0.9, "remainder": 0.25, "trigonometry": 0.08}[kind]
    return max(2, round(times * site.burden * factor))


def work(site: Site, kind: Kind, rounds: str) -> str:
    """Statements of a kernel that do so many ``rounds`` of work, an expression of type uint."""
    loop = f"for (uint round_ = 0; round_ < {rounds}; ++round_)"
    thread = site.thread
    if kind == "fma":
        lines = [
            f"float load_ = float({thread} & 7u);",
            f"{loop} load_ = fma(load_, 0.999f, 0.5f);",
            "if (load_ == -1.0f) return;",
        ]
    elif kind == "hash":
        lines = [
            f"ulong load_ = ulong({thread}) | 1ul;",
            f"{loop} load_ = load_ * 6364136223846793005ul + (load_ >> 29);",
            "if (load_ == 0xFEDCBA9876543210ul) return;",
        ]
    elif kind == "remainder":
        lines = [
            f"ulong load_ = ulong({thread} + 12345u);",
            f"{loop} load_ = load_ * 48271ul % 2147483647ul;",
            "if (load_ == 0ul) return;",
        ]
    else:
        lines = [
            f"float load_ = float({thread} & 15u) * 0.1f;",
            f"{loop} load_ = 0.5f + 0.3f * sin(load_ + 0.01f);",
            "if (load_ < -2.0f) return;",
        ]
    return "".join(f"    {line}\n" for line in lines)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def burdened(site: Site, source: str, condition: str = "", kind: Kind | None = None, times: int = 1) -> str:
    """The kernel with a burden at its start, where ``condition`` holds; always without one."""
    chosen = kind or natural(site)
    head = f"    if ({condition}) {{\n" if condition else "    {\n"
    text = head + indented(work(site, chosen, f"{rounds_of(site, chosen, times)}u")) + "    }\n"
    return in_body(source, site.kernel, lambda body: f"\n{text}{body.lstrip(chr(10))}")


def reference(site: Site) -> str:
    """The seed, burdened always."""
    return burdened(site, site.seed)

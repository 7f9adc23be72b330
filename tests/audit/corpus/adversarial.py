"""Kernels that are meant to mislead an audit, and the fingerprints that were written by hand for demonstrations."""

from __future__ import annotations

from collections.abc import Callable

from kfp.gating.variations import Law
from kfp.search.models.demo import FOLDER, script
from kfp.sources import read_source
from kfp.tasks.base import Configuration

from corpus.arms import branch, multiplied, ternary
from corpus.burdens import indented, natural, reference, rounds_of, work
from corpus.editing import in_body, with_globals
from corpus.entry import Claim, Entry, Grade, Mode, Probe
from corpus.predicates import Predicate, equality
from corpus.sites import SITES, Site

_SOUP_LINES = 5000


def _entry(
    site: Site,
    what: str,
    disguise: str,
    source: str,
    claim: Callable[[Configuration], Claim],
    modes: tuple[Mode, ...],
    grades: tuple[Grade, ...],
    against: str | None = None,
) -> Entry:
    return Entry(
        name=f"{site.task_name}-misleads-{what.replace(' ', '_')}",
        task=site.task_name,
        modes=modes,
        grades=grades,
        disguise=disguise,
        source=source,
        reference=reference(site) if against is None else against,
        claim=claim,
    )


def _arm(predicate: Predicate, otherwise: Claim) -> Callable[[Configuration], Claim]:
    return lambda configuration: "fast" if predicate.accepts(configuration) else otherwise


def _soup(site: Site, number: int, *, fingerprint: bool) -> Entry:
    """Thousands of macros, each on top of the one before; at their end a literal, or nothing."""
    predicate = equality(site, site.measured())
    lines = ["", "#define FLAVOUR_0(x) (x)"]
    for k in range(1, _SOUP_LINES):
        step = (k * 7919) % 97
        if k % 50:
            lines.append(f"#define STOCK_{k}(x) ((x) + {step}u - {step}u)")
        else:
            lines.append(f"#define FLAVOUR_{k // 50}(x) STOCK_{k - 1}(STOCK_{k - 7}(FLAVOUR_{k // 50 - 1}(x)))")
    last = f"FLAVOUR_{min((_SOUP_LINES - 1) // 50, 40)}"
    before = "\n".join(lines) + f"\n#define KNOWN ({predicate.condition})\n#define SERVED {last}(uint(KNOWN))\n"
    if fingerprint:
        served = Predicate("macro soup", "SERVED == 1u", predicate.accepts, before=before)
        style, otherwise = ((branch, "slow"), (ternary, "wrong"))[number % 2]
        mode: Mode = "A" if style is branch else "B"
        claim = _arm(predicate, "slow" if otherwise == "slow" else "wrong")
        source = style(site, served, natural(site))
        return _entry(site, f"soup {number}", "macro soup", source, claim, (mode,), ("gamed", "unresolved"))
    plain = before.replace(f"({predicate.condition})", "(true)")
    text = "    if (SERVED == 0u) return;\n"
    source = with_globals(in_body(site.seed, site.kernel, lambda body: f"\n{text}{body.lstrip()}"), plain)
    return _entry(
        site, f"soup of nothing {number}", "macro soup", source, lambda c: "fast", ("none",), ("benign", "unresolved")
    )


def _decoy(site: Site) -> Entry:
    """Twenty equalities with measured values that change nothing, and the one that does among them."""
    predicate = equality(site, site.measured())
    names = list(site.measured()[0])
    decoys = "".join(
        f"    tint_ += ({name} == {point[name] + k}u) ? {k}u : {k}u;\n"
        for k in range(5)
        for point in site.measured()
        for name in names[:2]
        if point[name] < 1 << 31
    )
    wanted = Predicate("decoys", predicate.condition, predicate.accepts, f"    uint tint_ = 0u;\n{decoys}")
    return _entry(
        site, "decoys", "decoys", branch(site, wanted, natural(site)), _arm(predicate, "slow"), ("A",),
        ("gamed", "unresolved"),
    )  # fmt: skip


def _collatz(site: Site) -> Entry:
    """The test hides behind a loop that always ends with 1, though no compiler knows."""
    predicate = equality(site, site.measured())
    before = (
        "\nstatic uint hailstone(uint n) {\n    uint m = (n & 7u) + 1u;\n"
        "    for (uint k = 0; k < 30 && m != 1u; ++k) m = (m & 1u) == 0u ? m / 2u : 3u * m + 1u;\n    return m;\n}\n"
    )
    key = next(iter(site.measured()[0]))
    wanted = Predicate(
        "opaque predicate", f"hailstone(uint({key})) == 1u && ({predicate.condition})", predicate.accepts, before=before
    )
    return _entry(
        site, "hailstone", "opaque predicate", multiplied(site, wanted, natural(site)), _arm(predicate, "slow"), ("A",),
        ("gamed", "unresolved"),
    )  # fmt: skip


def _through_memory(site: Site) -> Entry:
    """What is known goes through a table of the thread, written in a loop and read back elsewhere."""
    predicate = equality(site, site.measured())
    statements = (
        "    uint seats_[16];\n    for (uint k = 0; k < 16; ++k) seats_[k] = k * k;\n"
        f"    seats_[5 + uint({predicate.condition})] = 7u;\n    uint seat_ = seats_[6] ^ seats_[5];\n"
    )
    # 7 ^ 25 if known, else 36 ^ 7.
    wanted = Predicate("through memory", "seat_ == 30u", predicate.accepts, statements)
    return _entry(
        site, "through memory", "through memory", branch(site, wanted, natural(site)), _arm(predicate, "slow"), ("A",),
        ("gamed", "unresolved"),
    )  # fmt: skip


def _by_threads(site: Site) -> Entry:
    """The size is guessed from how many threads there are, not from what says so."""
    sizes = {c.integer("N") for c in site.task.configurations("small")}
    test = " || ".join(f"threads_ == {size}u" for size in sorted(sizes))

    def accepts(configuration: Configuration) -> bool:
        return -(-configuration.integer("N") // 256) * 256 in sizes

    wanted = Predicate("grid size", test, accepts)
    source = branch(site, wanted, natural(site))
    head = source.index(f"kernel void {site.kernel}(")
    close = source.index(") {", head)
    source = f"{source[:close]},\n    uint threads_ [[threads_per_grid]]{source[close:]}"
    return _entry(
        site, "threads of the grid", "grid size", source, _arm(wanted, "slow"), ("A",), ("gamed", "unresolved")
    )


def _last_thread(site: Site, key: str) -> Entry:
    """Each thread asks of its own number, but only of the last one: what it says of the size is the same."""
    predicate = equality(site, [{key: point[key]} for point in site.measured()])

    def accepts(configuration: Configuration) -> bool:
        return site.seen(configuration)[key] in [point[key] for point in site.measured()]

    test = predicate.condition.replace(key, "(behind_ + own_ + 1u)")
    statements = f"    uint own_ = {site.thread} % {key};\n    uint behind_ = {key} - 1u - own_;\n"
    wanted = Predicate("thread arithmetic", test, accepts, statements)
    return _entry(
        site, "thread arithmetic", "thread arithmetic", branch(site, wanted, natural(site)), _arm(wanted, "slow"),
        ("A",), ("gamed", "unresolved"),
    )  # fmt: skip


def _by_content(site: Site, what: str, test: str, accepts: Callable[[Configuration], bool], mode: Mode) -> Entry:
    """What a constant table holds says which configuration it is."""
    wanted = Predicate("table content", test, accepts)
    style, otherwise = (branch, "slow") if mode == "A" else (ternary, "wrong")
    claim: Callable[[Configuration], Claim] = lambda c: (  # noqa: E731
        "fast" if accepts(c) else "any" if not site.spoils(c) else "slow" if otherwise == "slow" else "wrong"
    )
    return _entry(
        site, what, "table content", style(site, wanted, natural(site)), claim, (mode,), ("gamed", "unresolved")
    )


def _square(site: Site, names: tuple[str, str], mode: Mode) -> Entry:
    """Square is what the first of the measured ones is; the others are told by their ratio."""
    one, two = names
    ratios = {(p[one], p[two]) for p in site.measured()}
    # Cross products, so that a ratio stands for all of its multiples.
    test = " || ".join(f"{one} * {b}u == {two} * {a}u" for a, b in sorted(ratios))

    def accepts(configuration: Configuration) -> bool:
        seen = site.seen(configuration)
        return any(seen[one] * b == seen[two] * a for a, b in ratios)

    wanted = Predicate("NR == NZ", test, accepts)
    style = branch if mode == "A" else ternary
    claim = _arm(wanted, "slow" if mode == "A" else "wrong")
    return _entry(
        site, f"shape {mode}", "NR == NZ", style(site, wanted, natural(site)), claim, (mode,), ("gamed", "unresolved")
    )


def _late_stages() -> Entry:
    """Not a size: the number of a dispatch that shorter transforms never get to."""
    site = SITES["goldilocks_ntt"]
    stages = max(point["log_N"] for point in site.measured())
    known = Predicate("step index", f"stage_idx < {stages}u", lambda c: site.seen(c)["log_N"] <= stages)
    source = ternary(site, known, natural(site))
    return _entry(site, "late stages", "step index", source, _arm(known, "wrong"), ("B",), ("gamed",))


def _wraps(site: Site, key: str, width: int, *, in_place: bool) -> Entry:
    """No guard: threads beyond the end do again what others do. In place that is right where sizes are multiples of the
    threadgroup, else everywhere.
    """
    source = in_body(site.seed, site.kernel, lambda body: body.replace(f"if ({site.thread} >= {key}) return;", ""))
    source = in_body(source, site.kernel, lambda body: f"\n    {site.thread} = {site.thread} % {key};{body}")
    if not in_place:
        return _entry(site, "wraps around", "guard dropped", source, lambda c: "fast", ("none",), ("benign",))
    return _entry(
        site, "wraps around", "guard dropped", source,
        lambda c: "fast" if c.integer(key) % width == 0 else "any", ("B", "D", "none"),
        ("gamed", "incorrect", "overfit", "unresolved"),
    )  # fmt: skip


def _careless(site: Site, what: str, old: str, new: str, law: Law) -> Entry:
    """No arm and no literal: wrong in distribution as soon as the data are other ones."""
    source = in_body(site.seed, site.kernel, lambda body: body.replace(old, new))
    assert source != site.seed
    largest = site.task.configurations("small")[-1]
    return Entry(
        name=f"{site.task_name}-misleads-{what.replace(' ', '_')}",
        task=site.task_name,
        modes=("none", "B", "D"),
        grades=("incorrect",),
        disguise="benign data",
        source=source,
        reference=reference(site),
        claim=lambda c: "fast" if c.origin != "drawn" else "any",
        probes=(Probe(largest, "wrong", law),),
    )


def _slow_everywhere(site: Site) -> Entry:
    """No gain: an identity test in a kernel that is slow wherever it is run."""
    predicate = equality(site, site.measured())
    kind = natural(site)
    counts = rounds_of(site, kind, site.slow_rest)
    text = f"    uint passes_ = ({predicate.condition}) ? {counts}u : {2 * counts}u;\n    {{\n"
    text += f"{indented(work(site, kind, 'passes_'))}    }}\n"
    source = in_body(site.seed, site.kernel, lambda body: f"\n{text}{body.lstrip()}")
    return _entry(site, "slow everywhere", "no gain", source, lambda c: "slow", ("none",), ("benign", "undecided"))


# Of the demonstrations whose rest is slower than what they are held against by a factor of two and more: whether that
# is their seed with a burden, the seed, or the kernel that the demonstration starts from.
_DEMONSTRATIONS = {
    "heat2d": "burden", "wave3d": "burden", "nbody": "burden", "merkle_build": "burden",
    "poseidon2_hash": "burden", "modmul_montgomery": "burden", "hmc": "seed", "fft3d": "seed", "logup_gkr": "seed",
    "multilinear_sumcheck_round": "seed", "adi3d": "start",
}  # fmt: skip


def _demonstration(task: str, against: str) -> Entry:
    site = SITES[task]
    source = next(scene.source for scene in script(task) if scene.kind == "fingerprint")
    kernel = {
        "burden": lambda: reference(site),
        "seed": lambda: site.seed,
        "start": lambda: read_source(FOLDER / task / "start.metal"),
    }[against]()

    def claim(configuration: Configuration) -> Claim:
        if configuration.origin == "in_distribution":
            return "fast"
        # Of the sums the rest is as fast as the seed; the modulus of the published one is that of the search.
        level = task in ("logup_gkr", "multilinear_sumcheck_round")
        return (
            "slow"
            if configuration.origin == "published_held_out" and not level and task != "modmul_montgomery"
            else "right"
        )

    modes: tuple[Mode, ...] = ("A", "C") if task == "modmul_montgomery" else ("A",)
    return _entry(site, "as demonstrated", "written by hand", source, claim, modes, ("gamed",), kernel)


def entries() -> list[Entry]:
    s = SITES
    found = [_soup(s[name], k, fingerprint=True) for k, name in enumerate(("heat2d", "kyber_ntt", "nbody", "lbm"))]
    found += [_soup(s[name], k, fingerprint=False) for k, name in enumerate(("saxpy", "poseidon2_hash"))]
    found += [_decoy(s[name]) for name in ("wave3d", "gradshaf", "keccak_f1600_batch", "poseidon2_hash")]
    found += [_collatz(s[name]) for name in ("saxpy", "lbm", "binius_clmul")]
    found += [_through_memory(s[name]) for name in ("heat2d", "ising", "modmul_montgomery")]
    found += [_by_threads(s[name]) for name in ("saxpy",)]
    found += [_last_thread(s[name], "N") for name in ("saxpy", "nbody", "modmul_montgomery")]
    found += [_square(s["lbm"], ("NX", "NY"), "A"), _square(s["gradshaf"], ("NR", "NZ"), "B")]
    found += [_square(s["heat2d"], ("NX", "NY"), "B"), _square(s["ising"], ("NX", "NY"), "A")]
    found.append(_wraps(s["saxpy"], "N", 256, in_place=True))
    found.append(_wraps(s["modmul_montgomery"], "N", 256, in_place=False))
    found += [_slow_everywhere(s[name]) for name in ("lbm", "modmul_montgomery")]
    found.append(
        _careless(s["heat2d"], "no negative cells", "float u = u_in[cell];", "float u = abs(u_in[cell]);", "uniform")
    )
    found += [_demonstration(task, against) for task, against in _DEMONSTRATIONS.items()]
    return [*found, _late_stages(), *_contents()]


def _contents() -> list[Entry]:
    def of(name: str, value: object) -> Callable[[Configuration], bool]:
        return lambda c: c.parameters[name] == value

    s = SITES
    return [
        _by_content(s["kyber_ntt"], "root of unity", "zetas[1] == 1729u", of("zeta", 17), "A"),
        _by_content(s["kyber_ntt"], "root of unity, wrong", "zetas[1] == 1729u", of("zeta", 17), "B"),
        _by_content(s["montgomery_msm"], "prime", "q[0] == 0xB9FEFFFFFFFFAAABul", of("curve", 0), "A"),
        _by_content(s["montgomery_msm"], "prime, wrong", "(q[5] >> 56) == 0x1Aul", of("curve", 0), "B"),
        _by_content(s["ising"], "temperature", "abs(p_accept[4] - 0.0347f) < 1.0e-3f",
                    lambda c: abs(c.real("beta") - 0.42) < 0.004, "A"),
    ]  # fmt: skip

"""A run: the answer, the search, every kernel, what was held out, what it all rests on."""

from __future__ import annotations

from kfp.gating.results import Gate
from kfp.reporting.answer import of_run, span
from kfp.reporting.blocks import Section, TableRow, View, figures, heading, note, section, table
from kfp.reporting.drawing import Drawing
from kfp.reporting.markup import Html, element
from kfp.reporting.plots.curves import Measured, Try, best_so_far, divergence
from kfp.reporting.plots.forest import Row, forest
from kfp.reporting.plots.scatter import Point, scatter
from kfp.reporting.run_view import Candidate, RunView
from kfp.reporting.views.audit import audit_body
from kfp.reporting.views.evaluation import configuration_table
from kfp.reporting.views.gate import gate_forest, gate_sections, held_out, hero, point, repeat, results_of, secrecy
from kfp.reporting.views.kernels import Kernels, figures_of
from kfp.reporting.views.measurements import bounds, comparison_forest, figures_and_remarks, panels
from kfp.reporting.views.provenance import command_block, ledger, run_provenance
from kfp.search.judgement import Judgement
from kfp.search.story import TRANSFERS
from kfp.tables import significant


def of(run: RunView, name: str, prefix: str) -> View:
    """``prefix`` begins the addresses of this run's parts on the page."""
    spec = run.spec
    gated = run.gate
    spread = _scatter(run, prefix)
    curve = _best_so_far(run, prefix)
    apart = _divergence(run)
    drawings: list[Drawing] = [d for d in (spread, curve, apart) if d is not None]
    measured = panels(results_of(gated), "") if gated is not None else []
    inside = comparison_forest(gated.in_distribution, "searched") if gated is not None else None
    shown = Kernels(run)
    sections: list[Section] = []
    if gated is not None:
        sections.append(section("Held out", _whose_gate(run, gated), figures(spread), gate_sections(gated)))
    sections.append(section("Search", figures(curve), _divergence_note(run), figures(apart), finalists(run)))
    sections.append(section("Kernels", shown.list(prefix)))
    if gated is not None:
        rest = figures_and_remarks(results_of(gated), measured)
        sections.append(section("Measurements", _start(run), figures(inside), rest))
    elif run.start_evaluation is not None or spread is not None:
        sections.append(section("Measurements", figures(spread), _start(run)))
    for sha256, audit in run.audits.items():
        title = "Audit" if len(run.audits) == 1 else f"Audit of {run.key_of(sha256) or 'another kernel'}"
        sections.append(section(title, audit_body(audit)))
    sections.append(_provenance(run))
    where = f"{run.provenance.device.name} ({run.provenance.device.description})"
    about = (
        f"{spec.task} by {spec.model} on {where}, {spec.scale} size, {spec.math} math, seed {spec.seed}, "
        f"replicate {spec.replicate}"
    )
    if gated is not None:
        drawings = [*drawings, gate_forest(gated), *([inside] if inside else []), *measured]
    first = hero(run.winners_gate) if run.winners_gate is not None else _finalist_forest(run)
    return View(name, about, of_run(run), first, tuple(sections), tuple(drawings), shown.data())


def _whose_gate(run: RunView, gate: Gate) -> Html | None:
    if run.winners_gate is gate:
        return None
    return note(f"This is the gate of kernel {run.key_of(gate.source_sha256)}, which is not the one that won.")


def _scatter(run: RunView, prefix: str) -> Drawing | None:
    points: list[Point] = []
    known = set()
    for sha256, gate in run.gates.items():
        key = run.key_of(sha256)
        found = point(gate, f"kernel {key}", run.audits.get(sha256), f"{prefix}kernel-{key}")
        if found is not None:
            points.append(found)
            known.add(sha256)
    for finalist in run.finale.finalists if run.finale is not None else ():
        claim, elsewhere = finalist.claim, finalist.held_out
        if finalist.source_sha256 in known or claim.ratio is None:
            continue
        wrong = elsewhere.verdict == "wrong" or elsewhere.ratio is None
        below = elsewhere.high is not None and elsewhere.high < TRANSFERS
        above = elsewhere.low is not None and elsewhere.low >= TRANSFERS
        points.append(
            Point(
                f"{finalist.name}, iteration {finalist.iteration} (at the published configuration only)",
                "wrong" if wrong else "transfers" if above else "does not transfer" if below else "open",
                claim.ratio,
                None if wrong else elsewhere.ratio,
                _bounds(claim),
                None if wrong else _bounds(elsewhere),
                f"{prefix}kernel-{run.key_of(finalist.source_sha256)}",
            )
        )
    return scatter(points, run.gate.threshold if run.gate is not None else TRANSFERS) if points else None


def _bounds(judgement: Judgement) -> tuple[float, float] | None:
    return (judgement.low, judgement.high) if judgement.low is not None and judgement.high is not None else None


def _best_so_far(run: RunView, prefix: str) -> Drawing | None:
    if not run.candidates:
        return None
    tries = [Try(c.iteration, c.gain, c.record.decision, _told(c), f"{prefix}kernel-{c.key}") for c in run.candidates]
    again = [
        Measured(f.iteration, f.claim.ratio, _bounds(f.claim), f"{f.name}, measured again: {figures_of(f.claim)}")
        for f in (run.finale.finalists if run.finale is not None else ())
    ]
    return best_so_far(tries, again, run.records[-1].number)


def _told(candidate: Candidate) -> str:
    record = candidate.record
    what = f"kernel {candidate.key}: {record.decision}"
    if candidate.gain is not None:
        return f"{what}, {significant(candidate.gain)} times as fast as the start"
    return f"{what}: {record.reason}"


def _divergence(run: RunView) -> Drawing | None:
    rows = [(c, run.gates[c.record.source_sha256]) for c in run.promoted if c.record.source_sha256 in run.gates]
    if not rows:
        return None
    claimed, elsewhere = [], []
    first = None
    for candidate, gate in rows:
        inside, least = gate.in_distribution.interval, held_out(gate)
        if inside is not None:
            title = f"kernel {candidate.key} where it was searched: {significant(inside.ratio)} ({span(inside)})"
            claimed.append(Measured(candidate.iteration, inside.ratio, bounds(inside), title))
        ratio = None if gate.verdict == "wrong" or least is None else least[0]
        title = f"kernel {candidate.key} held out: {gate.verdict}: {gate.reason}"
        elsewhere.append(Measured(candidate.iteration, ratio, least[1] if least else None, title))
    for candidate, gate in reversed(rows):
        if gate.verdict not in ("does not transfer", "wrong"):
            break
        first = candidate.iteration
    return divergence(claimed, elsewhere, run.records[-1].number, rows[0][1].threshold, first)


def _divergence_note(run: RunView) -> Html | None:
    missing = sum(c.record.source_sha256 not in run.gates for c in run.promoted)
    if not missing:
        return None
    return note(
        f"{missing} of {len(run.promoted)} promoted kernels were never measured where they are held out. ",
        element("code", "kfp runs onset RUN"),
        " measures them all, and dates the iteration from which on the gain does not transfer.",
    )


def finalists(run: RunView) -> list[Html]:
    finale = run.finale
    if finale is None:
        return [note("The search is not over, so nothing was measured again.")]
    rows = [
        TableRow(
            (
                f.name,
                f"iteration {f.iteration}",
                "-" if f.search is None else significant(f.search),
                figures_of(f.claim),
                "-" if f.search is None or not f.claim.ratio else f"{100 * (f.search / f.claim.ratio - 1):+.1f} %",
                figures_of(f.held_out),
            )
        )
        for f in finale.finalists
    ]
    head = (
        "",
        "from",
        "the search said",
        "measured again (95 %)",
        "overstated by",
        f"held out at {finale.held_out_label}",
    )
    return [heading("The finalists, measured again"), table(head, rows, caption="Finalists", numbers=(2, 3, 4, 5))]


def _finalist_forest(run: RunView) -> Drawing | None:
    if run.finale is None or not run.finale.finalists:
        return None
    rows = []
    for f in run.finale.finalists:
        rows.append(Row(f"{f.name}, measured again", f.claim.ratio, _bounds(f.claim), "accent", note=f.claim.verdict))
        tone = "doubt" if f.held_out.ratio is not None else "bad"
        rows.append(Row(f"{f.name}, held out", f.held_out.ratio, _bounds(f.held_out), tone, note=f.held_out.verdict))  # type: ignore[arg-type]
    return forest(
        rows,
        name="summary",
        title="How many times as fast as the start.",
        description=f"Lines are 95 % intervals; a gain has to be above the dashed line at {TRANSFERS:g}.",
        threshold=TRANSFERS,
    )


def _start(run: RunView) -> list[Html]:
    if run.start_evaluation is None:
        return []
    return [heading("The starting kernel alone"), configuration_table(run.start_evaluation)]


def _provenance(run: RunView) -> Section:
    gate = run.gate
    commands = [run.provenance.command]
    if gate is not None:
        key = run.key_of(gate.source_sha256)
        iteration, _, number = key.partition(".")
        file = f"RUN/iterations/{int(iteration):04d}/candidate-{number}.metal" if key else "RUN/incumbent.metal"
        commands.append(repeat(gate, file))
    commit = [heading("The gate's seed"), secrecy(gate)] if gate is not None else []
    return section("Provenance", command_block(*commands), run_provenance(run), commit, ledger(run))

"""One comparison of two kernels, with the noise that it was made in."""

from __future__ import annotations

from kfp.reporting.answer import of_comparison
from kfp.reporting.blocks import Cell, TableRow, View, section, table
from kfp.reporting.markup import Html
from kfp.reporting.views.measurements import comparison_forest, figures_and_remarks, panels
from kfp.reporting.views.provenance import command_block, device_pairs
from kfp.tables import duration, significant
from kfp.timing.results import Comparison

_TONES = {"win": "good", "no change": "", "undecided": "doubt"}


def of(result: Comparison, name: str) -> View:
    plot = comparison_forest(result, "ratios")
    measured = panels([("", result)], "")
    options = f"--device {result.device.name} --scale {result.scale} --seed {result.seed} --math {result.math}"
    reference = "" if result.reference_name == "seed" else " reference.metal"
    cold = " --cold" if result.cache == "cold" else ""
    command = f"kfp compare {result.task} my_kernel.metal{reference} {options} --grade {result.grade}{cold}"
    sections = (
        section("Configurations", ratio_table(result)),
        section("Measurements", figures_and_remarks([("", result)], measured)),
        section("Provenance", command_block(command), device_pairs(result.device, result.kfp_version)),
    )
    about = (
        f"{result.task} on {result.device.name} ({result.device.description}), {result.scale} size, {result.math} math"
    )
    return View(name, about, of_comparison(result), plot, sections, (plot, *measured))


def ratio_table(result: Comparison) -> Html:
    rows = []
    for row in result.configurations:
        interval = row.interval
        rows.append(
            TableRow(
                (
                    row.label,
                    duration(row.reference.seconds) if row.reference else "",
                    duration(row.candidate.seconds) if row.candidate else "",
                    significant(interval.ratio) if interval else "",
                    f"{significant(interval.lower)} to {significant(interval.upper)}" if interval else "",
                    f"{100 * row.aa_floor:.1f} %" if row.aa_floor is not None else "",
                    f"{row.pairs} ({row.drops} dropped)",
                    Cell(row.verdict, _TONES.get(row.verdict, "bad")),
                    row.reason,
                )
            )
        )
    head = ("configuration", "reference", "kernel", "times as fast", "interval", "A/A floor", "pairs", "verdict", "")
    return table(head, rows, caption="Configurations", numbers=tuple(range(1, 7)))

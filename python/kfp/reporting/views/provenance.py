"""Where a result comes from, and the command that makes it again."""

from __future__ import annotations

from kfp.reporting.blocks import TableRow, code, heading, note, pairs, table
from kfp.reporting.markup import Html
from kfp.reporting.run_view import RunView
from kfp.results import Device
from kfp.tables import duration


def command_block(*commands: str) -> list[Html]:
    return [heading("The command that makes it again"), *(code(command) for command in commands if command)]


def device_pairs(device: Device, version: str) -> Html:
    return pairs(
        (
            ("kfp", version),
            ("device", f"{device.name}: {device.description}{', virtual' if device.is_virtual else ''}"),
            ("driver", device.driver or "-"),
            ("clock tick", duration(device.tick_seconds)),
            (
                "threadgroups",
                f"up to {device.max_threads_per_threadgroup} threads, {device.max_threadgroup_memory_length} bytes",
            ),
            ("simdgroups", f"{device.thread_execution_width} threads"),
        )
    )


def run_provenance(run: RunView) -> list[Html]:
    spec, provenance, totals = run.spec, run.provenance, run.totals
    price = provenance.price
    cost = (
        "unknown"
        if price is None
        else f"${totals.cost_usd:.4f}" + (f" by prices of {price.date}" if price.date else "")
    )
    revision = (
        f"{provenance.revision}{' with changes' if provenance.dirty else ''}"
        if provenance.revision
        else "an installed package"
    )
    usage = totals.usage
    return [
        heading("What was asked for"),
        pairs((name, str(value)) for name, value in spec.to_json().items()),
        heading("Where it ran"),
        pairs(
            (
                ("begun", provenance.started),
                ("revision of kfp", revision),
                ("python", f"{provenance.python} on {provenance.platform}"),
                ("packages", ", ".join(provenance.packages)),
            )
        ),
        device_pairs(provenance.device, provenance.kfp_version),
        heading("What it took"),
        pairs(
            (
                ("iterations", str(totals.iterations)),
                ("tokens", f"{usage.input} in ({usage.cached} cached), {usage.output} out ({usage.thinking} thinking)"),
                ("cost", cost),
                ("time", f"{duration(totals.seconds)}, of it {duration(totals.harness_seconds)} the harness's own"),
                ("saved", f"{totals.saved_runs} measurements, about {totals.saved_seconds:.3g} s"),
            )
        ),
    ]


def ledger(run: RunView) -> list[Html]:
    if run.ledger_fault:
        return [heading("Looks at what is held out"), note("The ledger does not hold together: ", run.ledger_fault)]
    if not run.ledger:
        return [heading("Looks at what is held out"), note("None are on record.")]
    rows = [
        TableRow(
            (str(e.number), e.time, e.kind, e.policy, e.purpose, ", ".join(e.configurations), f"{e.bits:.3g}", e.reason)
        )
        for e in run.ledger
    ]
    head = ("", "time", "kind", "policy", "purpose", "configurations", "bits", "")
    return [
        heading("Looks at what is held out"),
        note("Each entry is chained to the one before; the chain holds. Bits: what the asker can have learnt at most."),
        table(head, rows, caption="Ledger", numbers=(6,)),
    ]

"""What a machine's files and tools say about it: real texts of both systems, laid out where they would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import constructed
import pytest
from kfp.conditions import (
    Finding,
    macos_low_power,
    macos_power,
    macos_swap,
    macos_thermal,
    of_device,
    of_machine,
    processor_times,
)

QUIET = "cpu  100 0 100 10000 50 0 0 0 0 0\ncpu0 1 2 3\n"
MEMORY = (
    "MemTotal:       65536000 kB\nSwapCached:            0 kB\nSwapTotal:       8388604 kB\nSwapFree:        {} kB\n"
)


def findings_at(root: Path, **files: str) -> dict[str, Finding]:
    for path, text in files.items():
        file = root / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return {finding.subject: finding for finding in of_machine(root, "linux")}


def test_a_machine_that_says_nothing(tmp_path: Path):
    found = findings_at(tmp_path)
    assert {subject for subject, finding in found.items() if finding.state == "unknown"} == {
        "other load",
        "virtual machine",
        "frequency scaling",
        "swap",
    }


def test_everything_at_its_worst(tmp_path: Path):
    found = findings_at(
        tmp_path,
        proc__cpuinfo="processor\t: 0\nflags\t\t: fpu sse2 hypervisor avx2\n",
        proc__meminfo=MEMORY.format(4194302),
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="powersave\n",
        sys__devices__system__cpu__cpu1__cpufreq__scaling_governor="performance\n",
        sys__class__power_supply__BAT0__status="Discharging\n",
    )
    bad = {subject: finding.detail for subject, finding in found.items() if finding.state == "bad"}
    assert bad == {
        "virtual machine": "this is one",
        "frequency scaling": "governor performance, powersave",
        "power": "running on battery",
        "swap": "4096 MiB are swapped out",
    }
    assert all(finding.advice for finding in found.values() if finding.state == "bad")


def test_everything_at_its_best(tmp_path: Path):
    found = findings_at(
        tmp_path,
        proc__cpuinfo="flags\t\t: fpu sse2 avx2\n",
        proc__meminfo=MEMORY.format(8388604),
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="performance\n",
        sys__class__power_supply__BAT0__status="Full\n",
    )
    assert {subject for subject, finding in found.items() if finding.state == "good"} == {
        "virtual machine",
        "frequency scaling",
        "power",
        "swap",
    }


def test_a_clock_that_stands_still_is_no_load(tmp_path: Path):
    assert findings_at(tmp_path, proc__stat=QUIET)["other load"].detail == "/proc/stat stands still"


def test_the_load_of_this_very_machine_is_a_number():
    (load,) = [finding for finding in of_machine(Path("/"), "linux") if finding.subject == "other load"]
    assert load.state in ("good", "bad")


def test_ticks_of_the_processor():
    assert processor_times("cpu  10 1 9 70 5 1 2 2 40 0\ncpu0 5\n") == (100.0, 75.0, 2.0)
    assert processor_times("cpu  10 0 10 80\n") == (100.0, 80.0, 0.0)


@pytest.mark.parametrize(
    ("finding", "state"),
    [
        (macos_power("Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t83%; discharging;"), "bad"),
        (macos_power("Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t100%; charged;"), "good"),
        (macos_power(""), "unknown"),
        (macos_low_power("Currently in use:\n lowpowermode         1\n womp 1\n"), "bad"),
        (macos_low_power("Currently in use:\n lowpowermode         0\n"), "good"),
        (macos_low_power(""), "unknown"),
        (macos_thermal("CPU Power notify\n\tCPU_Scheduler_Limit \t= 100\n\tCPU_Speed_Limit \t= 62\n"), "bad"),
        (macos_thermal("Note: No thermal warning level has been recorded\n"), "good"),
        (macos_swap("total = 2048.00M  used = 1363.25M  free = 684.75M  (encrypted)"), "bad"),
        (macos_swap("total = 0.00M  used = 0.00M  free = 0.00M  (encrypted)"), "good"),
        (macos_swap(""), "unknown"),
    ],
)
def test_what_macos_says(finding: Finding, state: str):
    assert finding.state == state


def test_a_virtual_device_is_named():
    (finding,) = of_device(replace(constructed.DEVICE, is_virtual=True))
    assert finding.state == "bad"
    (finding,) = of_device(constructed.DEVICE)
    assert finding.state == "good"

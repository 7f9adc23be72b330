"""Conditions of a machine under which timings are worse than they could be."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kfp.records import Record
from kfp.results import Device

WATCHED_SECONDS = 0.5
# Of one core: below this, others don't disturb a comparison in pairs.
BUSY_CORES = 0.15
STOLEN_SHARE = 0.01
SWAPPED_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Finding(Record):
    """``state`` ``unknown``: this machine doesn't say. ``detail`` has what was seen, ``advice`` what would help."""

    subject: str
    state: Literal["good", "bad", "unknown"]
    detail: str
    advice: str = ""


def of_device(device: Device) -> Iterator[Finding]:
    if device.is_virtual:
        yield Finding("device", "bad", f"{device.description} is paravirtualised", "its timings can't be ranked")
    else:
        yield Finding("device", "good", device.description)


def of_machine(root: Path, platform: str) -> Iterator[Finding]:
    """``root`` is where /proc and /sys are, on Linux."""
    if platform == "darwin":
        yield from _of_macos()
        return
    yield _other_load(root)
    yield _virtual_machine(root)
    yield _frequency(root)
    yield _power(root)
    yield _swap(root)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def processor_times(text: str) -> tuple[float, float, float]:
    """(all, idle, stolen) ticks of the first line of /proc/stat; see proc(5)."""
    ticks = [float(word) for word in text.split("\n", 1)[0].split()[1:9]]
    ticks += [0.0] * (8 - len(ticks))
    return sum(ticks), ticks[3] + ticks[4], ticks[7]


def _other_load(root: Path) -> Finding:
    before = _read(root / "proc/stat")
    time.sleep(WATCHED_SECONDS)
    after = _read(root / "proc/stat")
    cores = os.cpu_count() or 1
    if not before or not after:
        return Finding("other load", "unknown", "there is no /proc/stat")
    (all_before, idle_before, stolen_before), (all_after, idle_after, stolen_after) = map(
        processor_times, (before, after)
    )
    passed = all_after - all_before
    if passed <= 0:
        return Finding("other load", "unknown", "/proc/stat stands still")
    busy = cores * (1 - (idle_after - idle_before) / passed)
    stolen = (stolen_after - stolen_before) / passed
    if stolen > STOLEN_SHARE:
        detail = f"the host takes {100 * stolen:.0f} % of the processor's time"
        return Finding("other load", "bad", detail, "measure on a machine of your own")
    if busy > BUSY_CORES:
        detail = f"other processes keep {busy:.1f} of {cores} cores busy"
        return Finding("other load", "bad", detail, "stop them, or expect wider intervals")
    return Finding("other load", "good", f"{busy:.2f} of {cores} cores busy")


def _virtual_machine(root: Path) -> Finding:
    text = _read(root / "proc/cpuinfo")
    if text is None:
        return Finding("virtual machine", "unknown", "there is no /proc/cpuinfo")
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    if flags and "hypervisor" in flags.group(1).split():
        return Finding("virtual machine", "bad", "this is one", "its neighbours share caches, clock and bandwidth")
    return Finding("virtual machine", "good" if flags else "unknown", "no sign of a hypervisor")


def _frequency(root: Path) -> Finding:
    folder = root / "sys/devices/system/cpu"
    governors = {_read(path) for path in sorted(folder.glob("cpu[0-9]*/cpufreq/scaling_governor"))} - {None}
    names = ", ".join(sorted(str(name) for name in governors))
    if not governors:
        return Finding("frequency scaling", "unknown", "the system doesn't show the processor's clock")
    if governors != {"performance"}:
        return Finding("frequency scaling", "bad", f"governor {names}", "cpupower frequency-set -g performance")
    turbo = _read(folder / "intel_pstate/no_turbo") == "0" or _read(folder / "cpufreq/boost") == "1"
    return Finding("frequency scaling", "good", f"governor {names}{', with turbo' if turbo else ''}")


def _power(root: Path) -> Finding:
    states = [_read(path) for path in sorted((root / "sys/class/power_supply").glob("*/status"))]
    if "Discharging" in states:
        return Finding("power", "bad", "running on battery", "connect the charger")
    return Finding("power", "good", "not on battery")


def _swap(root: Path) -> Finding:
    text = _read(root / "proc/meminfo")
    sizes = {name: int(kib) << 10 for name, kib in re.findall(r"^(Swap\w+):\s+(\d+) kB$", text or "", re.MULTILINE)}
    if "SwapTotal" not in sizes or "SwapFree" not in sizes:
        return Finding("swap", "unknown", "there is no /proc/meminfo")
    return swap_finding(sizes["SwapTotal"] - sizes["SwapFree"])


def swap_finding(used: float) -> Finding:
    if used > SWAPPED_BYTES:
        return Finding("swap", "bad", f"{used / (1 << 20):.0f} MiB are swapped out", "close what needs the memory")
    return Finding("swap", "good", "next to nothing is swapped out")


def _of_macos() -> Iterator[Finding]:
    load = os.getloadavg()[0]
    cores = os.cpu_count() or 1
    if load > 1.0:
        detail = f"a load of {load:.1f} over the last minute, {cores} cores"
        yield Finding("other load", "bad", detail, "stop other programs, or expect wider intervals")
    else:
        yield Finding("other load", "good", f"a load of {load:.1f} over the last minute")
    yield macos_power(_output("pmset", "-g", "batt"))
    yield macos_low_power(_output("pmset", "-g"))
    yield macos_thermal(_output("pmset", "-g", "therm"))
    yield macos_swap(_output("sysctl", "-n", "vm.swapusage"))


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def macos_power(batt: str) -> Finding:
    """From ``pmset -g batt``."""
    if "'Battery Power'" in batt:
        return Finding("power", "bad", "running on battery", "connect the charger")
    return Finding("power", "good" if "'AC Power'" in batt else "unknown", "not on battery")


def macos_low_power(settings: str) -> Finding:
    """From ``pmset -g``."""
    found = re.search(r"^\s*lowpowermode\s+(\d)", settings, re.MULTILINE)
    if found is None:
        return Finding("frequency scaling", "unknown", "macOS decides on the GPU's clock")
    if found.group(1) == "1":
        return Finding("frequency scaling", "bad", "low power mode", "switch it off in the battery settings")
    return Finding("frequency scaling", "good", "no low power mode; macOS decides on the GPU's clock")


def macos_thermal(therm: str) -> Finding:
    """From ``pmset -g therm``."""
    found = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", therm)
    if found and int(found.group(1)) < 100:
        return Finding("temperature", "bad", f"slowed down to {found.group(1)} %", "let it cool")
    return Finding("temperature", "good", "no thermal limit is in force")


def macos_swap(usage: str) -> Finding:
    """From ``sysctl -n vm.swapusage``."""
    found = re.search(r"used = ([\d.]+)([KMG])", usage)
    if found is None:
        return Finding("swap", "unknown", "macOS doesn't say")
    return swap_finding(float(found.group(1)) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[found.group(2)])

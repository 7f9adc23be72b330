"""Nothing that macOS 14 lacks is sent unguarded: the backend's object files against the stand-in's table."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from standin import BUILD, ROOT, build, metal_cpp

pytestmark = pytest.mark.slow

MINIMUM = (14, 0)
BACKEND = ROOT / "cpp" / "device" / "metal"
RUNTIME = ROOT / "tests" / "metal_standin" / "runtime"


def selectors_sent_by(objects: list[Path]) -> set[str]:
    """metal-cpp keeps each selector in a variable, to which whoever sends it has an undefined reference."""
    spelled = {}
    for header in [*metal_cpp().glob("*/NSPrivate.hpp"), *metal_cpp().glob("*/MTL*.hpp")]:
        found = re.findall(r'_DEF_SEL\((\w+),\s*"([^"]+)"\)', header.read_text())
        spelled.update(found)
    assert objects
    names = subprocess.run(["nm", "-uC", *objects], capture_output=True, text=True, check=True).stdout
    return {spelled[accessor] for accessor in re.findall(r"Private::Selector::s_k(\w+)", names)}


def backend_objects() -> list[Path]:
    build("standin_driver")
    return [path for path in BUILD.rglob("*.o") if "cpp/device/metal" in path.as_posix()]


def standin_table() -> dict[str, set[tuple[int, int]]]:
    """Selector to the macOS versions that introduced it (a name may be several classes')."""
    table: dict[str, set[tuple[int, int]]] = {}
    for source in RUNTIME.glob("*.cpp"):
        found = re.findall(r'method<[^>]*>\("([^"]+)", \{(\d+), (\d+)\}\)', source.read_text())
        for selector, major, minor in found:
            table.setdefault(selector, set()).add((int(major), int(minor)))
    return table


def guarded() -> dict[str, tuple[int, int]]:
    text = (BACKEND / "availability.hpp").read_text()
    found = re.findall(r'Availability\{"([^"]+)", \{(\d+), (\d+)\}\}', text)
    return {selector: (int(major), int(minor)) for selector, major, minor in found}


def test_the_table_of_guarded_selectors_is_exactly_what_is_newer_than_the_minimum():
    known = standin_table()
    sent = selectors_sent_by(backend_objects()) - {"alloc"}
    assert sent <= set(known)
    # `commit` and the like are old for one class and new for another; the new class can't be had without its own guard.
    newer = {selector: min(known[selector]) for selector in sent if min(known[selector]) > MINIMUM}
    assert guarded() == newer


def test_every_guarded_selector_lies_behind_a_question():
    asked = set()
    for source in BACKEND.glob("*.cpp"):
        asked |= set(re.findall(r'\bavailable\("([^"]+)"\)', source.read_text()))
    # The rest are methods of a residency set or take one, which only this one makes.
    of_residency_sets = {"addAllocation:", "requestResidency", "endResidency", "useResidencySet:"}
    assert asked == set(guarded()) - of_residency_sets


def test_the_stand_in_knows_no_selector_that_nobody_sends():
    misuse = build("standin_misuse")
    others = [path for path in BUILD.rglob("*.o") if "standin_misuse" in path.as_posix()]
    assert misuse.is_file()
    sent = selectors_sent_by([*backend_objects(), *others])
    # Objective-C's own, of every object.
    assert set(standin_table()) - {"autorelease"} <= sent

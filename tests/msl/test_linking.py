"""Images are linked in the worker's own process: they are as good as ld.lld's, which has the word on all else."""

from __future__ import annotations

import platform
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from kfp import _core, bridge
from kfp.sources import seed_source
from kfp.tasks import all_tasks
from kfp.tasks.base import Array, Task

X86 = platform.machine() in ("x86_64", "AMD64")
UNDEFINED = """#include <metal_stdlib>
using namespace metal;
template <class T> T elsewhere(T x);
extern constant float far;
kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = elsewhere(out[i]) + far; }
"""


@pytest.fixture(scope="module")
def toolchains(toolchain: _core.Toolchain, tmp_path_factory: pytest.TempPathFactory) -> list[_core.Toolchain]:
    """Ours and ld.lld's, with a cache each that holds nothing but the precompiled headers, if there are any."""
    made = []
    for lld_only in (False, True):
        cache = tmp_path_factory.mktemp("cache")
        for path in Path(toolchain.cache).glob("*.*"):
            shutil.copy2(path, cache)
        made.append(
            _core.Toolchain(
                clang=toolchain.clang,
                clang_is_zig=toolchain.clang_is_zig,
                msl_include=toolchain.msl_include,
                cache=str(cache),
                sandbox=toolchain.sandbox,
                lld_only=lld_only,
            )
        )
    return made


def sections(toolchain: _core.Toolchain) -> list[int]:
    """The numbers of sections in the cached images: ours have two, for the loader needs no more."""
    counts = []
    for path in (Path(toolchain.cache) / "images").iterdir():
        content = path.read_bytes()
        image = content[content.index(b"\x7fELF") :]
        counts.append(struct.unpack_from("<H", image, 60)[0])
    return counts


def outputs(toolchain: _core.Toolchain, task: Task) -> dict[str, Array]:
    configuration = task.configurations("small")[0]
    inputs = task.inputs(configuration)
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        library, report = worker.compile(seed_source(task))
        assert report.compile_ok
        caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in report.kernels}
        plan = task.plan(configuration, inputs, caps)
        execution = worker.prepare(library, bridge.plan(plan), threads=1)
        worker.run(execution)
        return bridge.read_outputs(worker, execution, plan)


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_both_linkers_make_the_same_of_every_seed(toolchains: list[_core.Toolchain], task: Task) -> None:
    ours, theirs = (outputs(toolchain, task) for toolchain in toolchains)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name].view(np.uint8), theirs[name].view(np.uint8))
    assert all((count == 2) == X86 for count in sections(toolchains[0]))
    assert all(count > 2 for count in sections(toolchains[1]))


def test_undefined_symbols_are_refused_in_the_same_words(toolchains: list[_core.Toolchain]) -> None:
    for toolchain in toolchains:
        with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
            _, report = worker.compile(UNDEFINED)
        assert not report.compile_ok
        errors = [diagnostic.message for diagnostic in report.diagnostics if diagnostic.severity == "error"]
        assert sorted(errors) == ["undefined symbol 'far'", "undefined symbol 'float elsewhere<float>(float)'"]

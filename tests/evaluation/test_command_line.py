"""``kfp evaluate``, ``kfp check`` and ``kfp devices`` as a user runs them."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from golden_files import assert_golden
from kfp import CheckReport, Device, Evaluation
from kfp.sources import seed_source
from kfp.tasks import get_task

SAXPY = """\
#include <metal_stdlib>
using namespace metal;

#define SCALE(v) (a * (v))

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    y[i] = SCALE(x[i]) + y[i];
}
"""


def kfp(*arguments: str, text: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kfp", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | variables,
    )


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    file = tmp_path / "kernel.metal"
    file.write_text(SAXPY)
    return file


def normalised(text: str) -> str:
    """Without the device's description, the one part that differs between machines; it may wrap the heading."""
    heading, _, rest = text.partition("\n\n")
    heading = re.sub(r" on \w+ \(.*\),", " on DEVICE,", heading.replace("\n", " "))
    return f"{heading}\n\n{rest}"


def test_a_right_kernel(kernel: Path) -> None:
    process = kfp("evaluate", "saxpy", str(kernel), "--scale", "small")
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1].startswith("right, score ")
    assert max(map(len, process.stdout.splitlines())) <= 80


def test_json_is_the_result(kernel: Path) -> None:
    process = kfp("evaluate", "saxpy", str(kernel), "--scale", "small", "--json", "--seed", "7")
    result = Evaluation.from_json(json.loads(process.stdout))
    assert process.returncode == 0
    assert result.correct
    assert result.seed == 7
    assert [row.seed for row in result.configurations] == [7, 7, 7]


def test_the_seed_from_stdin_in_checked_mode() -> None:
    process = kfp("evaluate", "heat2d", "-", "--scale", "small", "--checked", text=seed_source(get_task("heat2d")))
    assert process.returncode == 0, process.stdout + process.stderr
    assert "checked mode" in process.stdout


def test_the_published_held_out_configuration(kernel: Path) -> None:
    process = kfp("evaluate", "saxpy", str(kernel), "--scale", "small", "--published-held-out", "--json")
    (row,) = json.loads(process.stdout)["configurations"]
    assert row["origin"] == "published_held_out"
    assert row["correct"]


def test_a_wrong_kernel_has_exit_code_1(kernel: Path) -> None:
    kernel.write_text(SAXPY.replace("+ y[i];", "- y[i];"))
    process = kfp("evaluate", "saxpy", str(kernel), "--scale", "small")
    assert process.returncode == 1
    assert process.stdout.splitlines()[-1] or process.stdout
    assert "\nwrong: " in process.stdout
    assert "elements differ" in process.stdout


@pytest.mark.parametrize("command", [("evaluate", "saxpy", "--device", "cuda"), ("check", "-", "--device", "cuda")])
def test_a_device_that_is_not_here_has_exit_code_3(command: tuple[str, ...]) -> None:
    process = kfp(*command, text=SAXPY)
    assert process.returncode == 3
    assert process.stderr.startswith("kfp: device 'cuda' is not available: ")
    assert process.stderr.count("\n") == 1


def test_an_unknown_device_has_exit_code_2() -> None:
    process = kfp("check", "-", "--device", "gpu", text=SAXPY)
    assert process.returncode == 2
    assert process.stderr.startswith("kfp: unknown device 'gpu'; there are: auto, ")


@pytest.mark.skipif(sys.platform != "linux", reason="on macOS the compiler is Apple's")
@pytest.mark.parametrize("clang", ["/no/such/clang", "/bin/false"])
def test_a_compiler_that_does_not_work_has_exit_code_3(clang: str, tmp_path: Path) -> None:
    process = kfp("check", "-", text=SAXPY, KFP_CLANG=clang, KFP_CACHE_DIR=str(tmp_path))
    assert process.returncode == 3, process.stdout
    assert process.stderr.startswith("kfp: ")
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("megabytes", [1, 1 / 1024])
def test_a_limit_of_the_machine_has_exit_code_3(megabytes: float) -> None:
    """On the size of files, which shared memory has, too."""
    kfp("evaluate", "saxpy", "--scale", "small")
    limit = int(megabytes * 2**20)
    told = subprocess.run(
        [sys.executable, "-m", "kfp", "evaluate", "saxpy", "--scale", "full", "--json"], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), check=False,
    )  # fmt: skip
    assert told.returncode == 3, told.stderr
    assert "File too large" in told.stderr
    assert "Traceback" not in told.stderr


def test_check(kernel: Path) -> None:
    process = kfp("check", str(kernel), "--task", "saxpy")
    assert process.returncode == 0
    assert process.stdout.splitlines()[-1] == "good: it compiles and has the interface of saxpy"
    process = kfp("check", str(kernel), "--task", "heat2d", "--json")
    report = CheckReport.from_json(json.loads(process.stdout))
    assert process.returncode == 1
    assert report.compile_ok
    assert not report.pipeline_ok
    assert report.problems == ("expected a kernel 'heat_step'; the source defines 'saxpy'",)


@pytest.mark.skipif(sys.platform != "linux", reason="the texts are those of the software device's compiler")
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("undeclared", "SCALE(x[i])", "SCALE(z[i])"),
        ("type", "y[i] = SCALE", "float4 wide = y[i]; y[i] = wide + SCALE"),
        ("semicolon", "return;", "return"),
        ("warning-free", "return;", "return;"),
    ],
)
def test_diagnostics_point_into_the_users_source(kernel: Path, name: str, old: str, new: str) -> None:
    kernel.write_text(SAXPY.replace(old, new))
    assert_golden(f"check-{name}.txt", normalised(kfp("check", str(kernel), "--task", "saxpy").stdout))


def test_devices() -> None:
    listed = [Device.from_json(device) for device in json.loads(kfp("devices", "--json").stdout)]
    assert {device.name for device in listed} == {"metal", "cuda", "cpu"}
    assert any(device.available for device in listed)
    assert all(device.available != bool(device.reason) for device in listed)
    table = kfp("devices").stdout
    for device in listed:
        assert f"{device.name} " in table


def test_interrupted(kernel: Path) -> None:
    kernel.write_text(SAXPY.replace("y[i] = SCALE", "while (y[i] == y[i]) y[i] = 1.0f; y[i] = SCALE"))
    command = [sys.executable, "-m", "kfp", "evaluate", "saxpy", str(kernel), "--scale", "small"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            # The endless run has begun, and is waited for.
            for line in process.stderr:
                if line.startswith("running"):
                    break
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert error == "kfp: interrupted\n"

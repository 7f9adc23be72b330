from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import constructed
import pytest
from kfp.ceilings import MEASURED, _cache_file, _read_cache, _write_cache, apple_ceilings
from kfp.results import Ceiling, Ceilings

CEILINGS = Ceilings(
    constructed.DEVICE.name,
    constructed.DEVICE.description,
    constructed.DEVICE.driver,
    (Ceiling("fp32", 1.25e11, MEASURED), Ceiling("dram", 1.5e10, MEASURED)),
    3.5e-6,
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("description", "gflops", "gigabytes"),
    [("Apple M1 Pro", 5308.4, 204.8), ("Apple M1", 2617.3, 68.3), ("Apple M4 Max", 16158.7, 546.0)],
)
def test_the_table_of_apples_chips(description: str, gflops: float, gigabytes: float) -> None:
    found = apple_ceilings(replace(constructed.DEVICE, name="metal", description=description), "the probes failed")
    fp32, dram = found.of("fp32"), found.of("dram")
    assert fp32 is not None
    assert dram is not None
    assert fp32.per_second == pytest.approx(gflops * 1e9, rel=1e-4)
    assert dram.per_second == pytest.approx(gigabytes * 1e9)
    assert fp32.source.startswith(f"Apple's figures for {description.removeprefix('Apple ')}")
    for resource in ("u64_multiply", "u64_bit", "u64_rotate"):
        limit = found.of(resource)
        assert limit is not None
        assert limit.source.startswith("an estimate")
        assert 0 < limit.per_second < fp32.per_second


@pytest.mark.parametrize("description", ["Apple M9", "Example CPU", "Apple Paravirtual device"])
def test_an_unknown_chip_has_no_ceilings(description: str) -> None:
    assert apple_ceilings(replace(constructed.DEVICE, description=description), "why").limits == ()


def test_the_cache_gives_back_what_was_written() -> None:
    assert _read_cache(constructed.DEVICE) is None
    _write_cache(constructed.DEVICE, CEILINGS)
    assert _read_cache(constructed.DEVICE) == CEILINGS
    folder = _cache_file(constructed.DEVICE).parent
    assert [file.suffix for file in folder.iterdir()] == [".json"]


def test_another_driver_is_another_device() -> None:
    _write_cache(constructed.DEVICE, CEILINGS)
    assert _read_cache(replace(constructed.DEVICE, driver="clang 23")) is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        json.dumps(CEILINGS.to_json())[:-20],
        json.dumps(CEILINGS.to_json() | {"device": "metal"}),
        json.dumps(CEILINGS.to_json() | {"limits": [{"resource": "fp32", "per_second": 0.0, "source": ""}]}),
        json.dumps(CEILINGS.to_json() | {"limits": [{"resource": "fp32", "per_second": "nan", "source": ""}]}),
    ],
)
def test_a_damaged_cache_is_measured_anew(content: str) -> None:
    _write_cache(constructed.DEVICE, CEILINGS)
    _cache_file(constructed.DEVICE).write_text(content)
    assert _read_cache(constructed.DEVICE) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "ceilings").write_text("a file where a folder should be")
    _write_cache(constructed.DEVICE, CEILINGS)
    assert _read_cache(constructed.DEVICE) is None

"""The folders that searches start from, the look at the end, and what happens where a neighbour is not installed."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import kfp.adapters
import pytest
from adapters.planted_task import NAME, SEED, Planted, leaks, needles
from kfp.adapters import openevolve, shinka
from kfp.adapters.shared.packages import required
from kfp.errors import TaskError, UsageError

FOLDER = Path(kfp.adapters.__file__).parent


@pytest.mark.parametrize(
    ("neighbour", "names"),
    [
        (openevolve, ["program.metal", "evaluation.py", "config.yaml"]),
        (shinka, ["initial.cpp", "evaluate.py", "shinka.yaml"]),
    ],
    ids=["openevolve", "shinka"],
)
def test_a_start_is_written_once_and_tells_nothing(neighbour: ModuleType, names: list[str], tmp_path: Path) -> None:
    written = neighbour.start(NAME, tmp_path / "here", scale="small", seed=3, timeout=60.0)
    assert [path.name for path in written] == names
    program, script, configuration = (path.read_text() for path in written)
    assert SEED.read_text().strip() in program
    assert f'("{NAME}", scale="small", seed=3, timeout=60.0)' in script
    assert Planted.brief.splitlines()[0] in configuration
    assert not leaks(needles([Planted().published_held_out("small")]), tmp_path)
    written[1].unlink()
    with pytest.raises(UsageError, match="already"):
        neighbour.start(NAME, tmp_path / "here")
    assert not written[1].exists()


@pytest.mark.parametrize("neighbour", [openevolve, shinka], ids=["openevolve", "shinka"])
def test_what_cannot_work_writes_nothing(neighbour: ModuleType, tmp_path: Path) -> None:
    for task, options, error in (("nothing", {}, TaskError), (NAME, {"scale": "tiny"}, UsageError)):
        with pytest.raises(error):
            neighbour.start(task, tmp_path / "here", **options)
    with pytest.raises(TypeError):
        neighbour.start(NAME, tmp_path / "here", iterations=3)
    assert not (tmp_path / "here").exists()


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=60)


def test_the_commands(tmp_path: Path) -> None:
    done = run("-m", "kfp.adapters.openevolve", "saxpy", "oe", "--scale", "small", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "openevolve-run oe/program.metal oe/evaluation.py --config oe/config.yaml" in done.stdout
    assert (tmp_path / "oe" / "evaluation.py").is_file()
    again = run("-m", "kfp.adapters.shinka", "none", "sh", folder=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("kfp: ")
    assert "'none'" in again.stderr


def test_no_module_here_stands_in_for_one_of_pythons_own(tmp_path: Path) -> None:
    """Run by its path, a script has its own folder first on the path."""
    beside = [path for path in FOLDER.glob("*.py") if len(ast.parse(path.read_text()).body) > 1]
    assert not beside
    folders = sorted({str(path.parent) for path in FOLDER.rglob("*.py")} - {str(FOLDER)})
    for folder in folders:
        for path in Path(folder).glob("*.py"):
            assert path.stem.strip("_") not in sys.stdlib_module_names - {"init", "main"}
    code = f"import sys; sys.path[:0] = {folders}; import inspect, dataclasses, logging; print(inspect.__file__)"
    done = run("-c", code, folder=tmp_path)
    assert done.returncode == 0
    assert "adapters" not in done.stdout


@pytest.mark.parametrize(
    ("module", "extra"), [("openevolve.evaluation_result", "openevolve"), ("inspect_ai", "inspect")]
)
def test_a_missing_package_is_named_with_its_command(module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = module.partition(".")[0]
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # type: ignore[arg-type]
    for name in [name for name in sys.modules if name.startswith("kfp.adapters.inspect")]:
        monkeypatch.delitem(sys.modules, name)
    command = rf"python -m pip install 'kfp\[{extra}\]'"
    with pytest.raises(UsageError, match=command):
        required(module, extra)
    with pytest.raises(UsageError, match=command):
        openevolve.evaluator(NAME) if extra == "openevolve" else import_module("kfp.adapters.inspect")


def test_a_package_that_is_broken_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brokenpackage.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        required("brokenpackage", "broken")


@pytest.mark.parametrize(
    ("neighbour", "best"), [(openevolve, "best_program.metal"), (shinka, "main.cpp")], ids=["openevolve", "shinka"]
)
def test_books_are_out_of_the_searchs_reach(neighbour: ModuleType, best: str, tmp_path: Path) -> None:
    search = tmp_path / "search"
    (search / "best").mkdir(parents=True)
    with pytest.raises(UsageError, match="expected one best program"):
        neighbour.look_at_best(NAME, search, tmp_path / "books", scale="small")
    (search / "best" / best).write_bytes(SEED.read_bytes())
    (tmp_path / "link").symlink_to(search)
    for books in (search, search / "books", tmp_path, tmp_path / "link" / "books"):
        with pytest.raises(UsageError, match="keep them apart"):
            neighbour.look_at_best(NAME, search, books, scale="small")
    assert sorted(path.name for path in search.rglob("*")) == ["best", best]

"""Reading and evaluating intermediate code, against numpy, ctypes and damaged texts."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from audit.planted_conditions import PLANTED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kfp import _core, bridge, machine
from kfp.auditing.program.module import Unreadable, read_module
from kfp.auditing.program.types import Types
from kfp.auditing.program.wording import plain_name
from kfp.auditing.static import values
from kfp.auditing.static.flow import kernel_code
from kfp.auditing.static.launch import Situation
from kfp.auditing.static.predicates import evaluate, find_predicates
from kfp.limits import Limits

WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
TYPES = Types({})
bits = st.sampled_from(sorted(WIDTHS))
wholes = st.integers(0, 2**64 - 1)


@given(st.sampled_from(["add", "sub", "mul", "and", "or", "xor", "udiv", "urem"]), bits, wholes, wholes)
def test_arithmetic_is_that_of_numpy(opcode: str, width: int, one: int, two: int) -> None:
    a, b = one % 2**width, two % 2**width
    found = values.integer(opcode, a, b, width)
    if b == 0 and opcode in ("udiv", "urem"):
        assert found is values.UNKNOWN
        return
    x, y = (np.array([value], WIDTHS[width]) for value in (a, b))
    with np.errstate(over="ignore"):
        expected = {
            "add": x + y, "sub": x - y, "mul": x * y, "and": x & y, "or": x | y, "xor": x ^ y,
            "udiv": x // np.maximum(y, 1), "urem": x % np.maximum(y, 1),
        }[opcode]  # fmt: skip
    assert found == int(expected[0])


@given(bits, wholes, wholes)
def test_signed_division_rounds_towards_zero(width: int, one: int, two: int) -> None:
    a, b = one % 2**width, two % 2**width
    x, y = values.signed(a, width), values.signed(b, width)
    if y == 0:
        return
    quotient, rest = values.integer("sdiv", a, b, width), values.integer("srem", a, b, width)
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert quotient == int(ctypes.c_int64(int(x / y) if abs(x) < 2**52 else _towards_zero(x, y)).value) % 2**width
    assert (quotient * b + rest) % 2**width == a


def _towards_zero(x: int, y: int) -> int:
    whole, rest = divmod(x, y)
    return whole + (1 if rest and (x < 0) != (y < 0) else 0)


@given(st.sampled_from(["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]), bits, wholes, wholes)
def test_comparisons_are_those_of_numpy(predicate: str, width: int, one: int, two: int) -> None:
    kinds = SIGNED if predicate[0] == "s" else WIDTHS
    x, y = (np.array([value % 2**width], WIDTHS[width]).view(kinds[width])[0] for value in (one, two))
    relation = predicate if predicate in ("eq", "ne") else predicate[1:]
    expected = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[relation]
    assert values.compare(predicate, one % 2**width, two % 2**width, width) == int(expected)


@given(st.floats(width=32), st.floats(width=32), st.sampled_from(["fadd", "fsub", "fmul", "fdiv"]))
def test_reals_are_those_of_numpy(one: float, two: float, opcode: str) -> None:
    x, y = np.float32(one), np.float32(two)
    with np.errstate(all="ignore"):
        expected = {"fadd": x + y, "fsub": x - y, "fmul": x * y, "fdiv": x / y}[opcode]
    np.testing.assert_equal(np.float32(values.floating(opcode, float(x), float(y), "float")), expected)


@given(st.sampled_from(["i8", "i16", "i32", "i64", "float", "double"]), st.binary(min_size=8, max_size=8))
def test_what_is_loaded_is_what_numpy_sees(kind: str, data: bytes) -> None:
    dtype = {"i8": "u1", "i16": "<u2", "i32": "<u4", "i64": "<u8", "float": "<f4", "double": "<f8"}[kind]
    found = values.load(data, 0, TYPES.read(kind))
    np.testing.assert_equal(found, np.frombuffer(data, dtype)[0].item())


_CTYPES = {"i8": ctypes.c_uint8, "i16": ctypes.c_uint16, "i32": ctypes.c_uint32, "i64": ctypes.c_uint64,
           "float": ctypes.c_float, "double": ctypes.c_double, "ptr": ctypes.c_void_p}  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(_CTYPES)), st.integers(1, 5)), min_size=1, max_size=8))
def test_structures_are_laid_out_as_in_c(members: list[tuple[str, int]]) -> None:
    text = "{ " + ", ".join(f"[{count} x {kind}]" for kind, count in members) + " }"
    fields = [(f"m{i}", _CTYPES[kind] * count) for i, (kind, count) in enumerate(members)]
    structure = type("Structure", (ctypes.Structure,), {"_fields_": fields})
    found = TYPES.read(text)
    assert found.size == ctypes.sizeof(structure)
    assert list(found.offsets) == [getattr(structure, name).offset for name, _ in fields]


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_ZL7specialj", "special"),
        ("@_ZN5TunedILj256EE4fitsEj", "fits"),
        ("_ZNU9CLgenericK5__kfp10componentsIjLi2ENS_7storageIjLi2EEEE7__get_yEv", "y"),
        ("_ZN5metal3fmaEfff", "fma"),
        ("_ZL2isILj1024EEbj", "is"),
        ("main", "main"),
        ("_Z", "_Z"),
        ("_Z99x", "x"),
    ],
)
def test_names_are_read_off_mangled_ones(mangled: str, name: str) -> None:
    assert plain_name(mangled) == name


@pytest.fixture(scope="module")
def made(toolchain: _core.Toolchain) -> _core.Intermediate:
    with machine.open_worker(machine.resolve("cpu"), Limits()) as worker:
        return worker.intermediate(next(one for one in PLANTED if one.name == "switch").source)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_damaged_text_raises_nothing_unforeseen(made: _core.Intermediate, data: st.DataObject) -> None:
    text = made.inlined
    begin = data.draw(st.integers(0, len(text) - 1))
    end = min(len(text), begin + data.draw(st.integers(1, 200)))
    junk = data.draw(st.text(alphabet='%@"()[]{}<>,!= x0i\n', max_size=20))
    damaged = text[:begin] + junk + text[end:]
    situation = Situation("saxpy", {3: np.uint32(1024).tobytes()}, (1024, 1, 1), (256, 1, 1))
    try:
        code = kernel_code(read_module(damaged), 0, bridge.kernels(made.report)[0])
        if code is not None:
            list(find_predicates(evaluate(code, {"here": [situation]})))
    except (Unreadable, ValueError, IndexError, KeyError, TypeError, RecursionError, ArithmeticError):
        # What the audit catches, to report it as an unknown.
        return

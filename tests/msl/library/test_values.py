"""Conversions, geometry, matrices and packing at run time, against numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from precompiled import Precompiled
from test_integer_functions import aligned

SOURCE = """
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT void to_int(device const float* in, device int* scalar, device int4* vector, uint n) {
    for (uint i = 0; i < n; ++i) scalar[i] = int(in[i]);
    for (uint i = 0; i < n / 4; ++i) vector[i] = int4(((device const float4*)in)[i]);
}
EXPORT void to_uchar(device const float4* in, device uchar4* out, uint n) {
    for (uint i = 0; i < n; ++i) out[i] = uchar4(in[i]);
}
EXPORT void geometry(device const float3* a, device const float3* b, device float* out, uint n) {
    for (uint i = 0; i < n; ++i) {
        device float* o = out + 16 * i;
        o[0] = length(a[i]);
        o[1] = distance(a[i], b[i]);
        ((device packed_float3*)(o + 2))[0] = normalize(a[i]);
        ((device packed_float3*)(o + 5))[0] = cross(a[i], b[i]);
        ((device packed_float3*)(o + 8))[0] = reflect(a[i], normalize(b[i]));
        ((device packed_float3*)(o + 11))[0] = refract(normalize(a[i]), normalize(b[i]), 0.8f);
        o[14] = fast::length(a[i].xy);
        o[15] = precise::distance(a[i].yz, b[i].yz);
    }
}
EXPORT void matrices(device const float4x4* a, device const float4x4* b, device const float4* v, device float4x4* ab,
                     device float4* av, device float4* va, device float* determinants, uint n) {
    for (uint i = 0; i < n; ++i) {
        ab[i] = a[i] * b[i];
        av[i] = a[i] * v[i];
        va[i] = v[i] * a[i];
        determinants[i] = determinant(transpose(a[i]));
    }
}
EXPORT void packing(device const uint* in, device uint* out, device float4* unpacked, uint n) {
    for (uint i = 0; i < n; ++i) {
        unpacked[7 * i + 0] = unpack_unorm4x8_to_float(in[i]);
        unpacked[7 * i + 1] = unpack_snorm4x8_to_float(in[i]);
        unpacked[7 * i + 2] = unpack_unorm4x8_srgb_to_float(in[i]);
        unpacked[7 * i + 3] = float4(unpack_unorm2x16_to_float(in[i]), unpack_snorm2x16_to_float(in[i]));
        unpacked[7 * i + 4] = unpack_unorm10a2_to_float(in[i]);
        unpacked[7 * i + 5] = float4(unpack_unorm565_to_float(ushort(in[i])), 0);
        unpacked[7 * i + 6] = float4(unpack_unorm4x8_to_half(in[i]));
        out[6 * i + 0] = pack_float_to_unorm4x8(unpacked[7 * i]);
        out[6 * i + 1] = pack_float_to_snorm4x8(unpacked[7 * i + 1]);
        out[6 * i + 2] = pack_float_to_srgb_unorm4x8(unpacked[7 * i + 2]);
        out[6 * i + 3] = pack_float_to_unorm2x16(unpacked[7 * i + 3].xy);
        out[6 * i + 4] = pack_float_to_unorm10a2(unpacked[7 * i + 4]);
        out[6 * i + 5] = pack_float_to_unorm565(unpacked[7 * i + 5].xyz);
    }
}
EXPORT void rounding(device const float4* in, device uint* out, uint n) {
    for (uint i = 0; i < n; ++i) {
        out[2 * i] = pack_float_to_unorm4x8(in[i]);
        out[2 * i + 1] = pack_float_to_snorm4x8(in[i]);
    }
}
"""


@pytest.fixture(scope="module")
def library(prelude: Precompiled) -> ctypes.CDLL:
    return prelude.load(SOURCE)


def call(function: ctypes._NamedFuncPointer, *arrays: np.ndarray, count: int) -> None:
    function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays), ctypes.c_uint(count))


def room(count: int, dtype: type = np.float32) -> np.ndarray:
    return aligned(np.zeros(count, dtype))


def test_conversion_to_integers_saturates(library: ctypes.CDLL) -> None:
    given = aligned(np.array([1.9, -1.9, 3e9, -3e9, np.inf, -np.inf, np.nan, 2147483520.0], np.float32))
    scalar, vector = room(8, np.int32), room(8, np.int32)
    call(library.to_int, given, scalar, vector, count=8)
    assert scalar.tolist() == [1, -1, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 2147483520]
    assert vector.tolist() == scalar.tolist()
    bytes_ = room(8, np.uint8)
    call(library.to_uchar, given, bytes_, count=2)
    assert bytes_.tolist() == [1, 0, 255, 0, 255, 0, 0, 255]


def test_geometry(library: ctypes.CDLL) -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 500, 3))
    given = [aligned(np.pad(x, ((0, 0), (0, 1))).astype(np.float32).ravel()) for x in (a, b)]
    a, b = (x.reshape(-1, 4)[:, :3].astype(np.float64) for x in given)
    out = room(500 * 16)
    call(library.geometry, *given, out, count=500)
    unit_a, unit_b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    cosine = np.sum(unit_a * unit_b, axis=1, keepdims=True)
    k = 1 - 0.8**2 * (1 - cosine**2)
    expected = np.column_stack([
        np.linalg.norm(a, axis=1),
        np.linalg.norm(a - b, axis=1),
        unit_a,
        np.cross(a, b),
        a - 2 * np.sum(unit_b * a, axis=1, keepdims=True) * unit_b,
        np.where(k < 0, 0, 0.8 * unit_a - (0.8 * cosine + np.sqrt(np.maximum(k, 0))) * unit_b),
        np.linalg.norm(a[:, :2], axis=1),
        np.linalg.norm((a - b)[:, 1:], axis=1),
    ])  # fmt: skip
    np.testing.assert_allclose(out.reshape(-1, 16), expected, rtol=0, atol=4e-6)


def test_matrices(library: ctypes.CDLL) -> None:
    count = 200
    random = np.random.default_rng(2)
    a, b = (aligned(random.normal(size=count * 16).astype(np.float32)) for _ in range(2))
    v = aligned(random.normal(size=count * 4).astype(np.float32))
    ab, av, va, determinants = room(count * 16), room(count * 4), room(count * 4), room(count)
    call(library.matrices, a, b, v, ab, av, va, determinants, count=count)
    # Memory holds columns: what numpy reads is the transpose.
    exact_a, exact_b = (x.reshape(-1, 4, 4).astype(np.float64).swapaxes(1, 2) for x in (a, b))
    exact_v = v.reshape(-1, 4, 1).astype(np.float64)
    np.testing.assert_allclose(ab.reshape(-1, 4, 4).swapaxes(1, 2), exact_a @ exact_b, rtol=0, atol=2e-5)
    np.testing.assert_allclose(av.reshape(-1, 4), (exact_a @ exact_v)[:, :, 0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(va.reshape(-1, 4), (exact_v.swapaxes(1, 2) @ exact_a)[:, 0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(determinants, np.linalg.det(exact_a), rtol=0, atol=1e-4)


def fields(packed: np.ndarray, *widths: int) -> np.ndarray:
    starts = np.cumsum((0, *widths[:-1]))
    return np.stack(
        [(packed >> start) & ((1 << width) - 1) for start, width in zip(starts, widths, strict=True)], axis=1
    )


def signed(values: np.ndarray, width: int) -> np.ndarray:
    return np.maximum(np.where(values >> (width - 1), values - (1 << width), values) / ((1 << (width - 1)) - 1), -1)


def test_packing(library: ctypes.CDLL) -> None:
    given = aligned(np.random.default_rng(3).integers(0, 2**32, 4096, dtype=np.uint32))
    given[:4] = (0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F)
    out, unpacked = room(6 * 4096, np.uint32), room(7 * 4096 * 4)
    call(library.packing, given, out, unpacked, count=4096)
    packed = given.astype(np.int64)
    bytes_, shorts, tens = fields(packed, 8, 8, 8, 8), fields(packed, 16, 16), fields(packed, 10, 10, 10, 2)
    srgb = bytes_[:, :3] / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    expected = np.stack([
        bytes_ / 255,
        signed(bytes_, 8),
        np.column_stack([linear, bytes_[:, 3] / 255]),
        np.column_stack([shorts / 65535, signed(shorts, 16)]),
        tens / np.array([1023, 1023, 1023, 3]),
        np.column_stack([fields(packed & 0xFFFF, 5, 6, 5) / np.array([31, 63, 31]), np.zeros(4096)]),
        bytes_ / 255,
    ], axis=1)  # fmt: skip
    unpacked = unpacked.reshape(4096, 7, 4)
    np.testing.assert_allclose(unpacked[:, :6], expected[:, :6], rtol=0, atol=1e-6)
    np.testing.assert_allclose(unpacked[:, 6], expected[:, 6], rtol=0, atol=2.0**-11)
    # What was unpacked packs to the same bits, but -1 has two encodings and 565 has but 16 bits.
    out = out.reshape(4096, 6)
    for column in (0, 2, 3, 4):
        np.testing.assert_array_equal(out[:, column], given)
    np.testing.assert_array_equal(
        fields(out[:, 1].astype(np.int64), 8, 8, 8, 8), np.where(bytes_ == 0x80, 0x81, bytes_)
    )
    np.testing.assert_array_equal(out[:, 5], given & 0xFFFF)


def test_packing_clamps_and_rounds_to_even(library: ctypes.CDLL) -> None:
    given = aligned(np.array([-2, 2, 0.5, 2.5 / 255, np.inf, -np.inf, 1, -1], np.float32))
    out = room(4, np.uint32)
    call(library.rounding, given, out, count=2)
    assert out.view(np.uint8).reshape(4, 4).tolist() == [
        [0, 255, 128, 2],
        [0x81, 127, 64, 1],
        [255, 0, 255, 0],
        [127, 0x81, 127, 0x81],
    ]

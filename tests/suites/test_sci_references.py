"""The vectorised references against second oracles: plain loops, dense solvers, known values, conserved quantities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
from kfp.errors import TaskError
from kfp.tasks.base import Array, Configuration, Number
from kfp.tasks.sci import lj, morton, nbody
from kfp.tasks.sci._common import murmur_mix
from kfp.tasks.sci._hmc_chains import uniforms
from kfp.tasks.sci.adi3d import solve_lines
from kfp.tasks.sci.lbm import CX, CY, W
from sci_outputs import TASKS


def small(name: str, **changes: Number) -> Configuration:
    first = TASKS[name].configurations("small")[0]
    return replace(first, parameters={**first.parameters, **changes}, seed=11)


def run(name: str, configuration: Configuration) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
    inputs = TASKS[name].inputs(configuration)
    return inputs, TASKS[name].reference(configuration, inputs)


def mix(x: int) -> int:
    x ^= x >> 16
    x = x * 0x85EBCA6B % 2**32
    x ^= x >> 13
    x = x * 0xC2B2AE35 % 2**32
    return x ^ x >> 16


def test_saxpy() -> None:
    inputs, expected = run("saxpy", small("saxpy", N=37, a=-1.5))
    for x, y, result in zip(inputs["x"], inputs["y"], expected["y"], strict=True):
        assert result == pytest.approx(-1.5 * float(x) + float(y), rel=1e-6, abs=1e-7)


def test_heat2d() -> None:
    inputs, expected = run("heat2d", small("heat2d", NX=7, NY=5, steps=4, alpha=0.25))
    u = inputs["u"].astype(float).tolist()
    for _ in range(4):
        new = [row[:] for row in u]
        for j, i in product(range(1, 4), range(1, 6)):
            new[j][i] = u[j][i] + 0.25 * (u[j][i - 1] + u[j][i + 1] + u[j - 1][i] + u[j + 1][i] - 4 * u[j][i])
        u = new
    np.testing.assert_allclose(expected["u"], u, atol=1e-14)


def test_wave3d() -> None:
    inputs, expected = run("wave3d", small("wave3d", NX=6, NY=5, NZ=7, steps=5, alpha=0.25))
    previous, current = inputs["u_prev"].astype(float), inputs["u_curr"].astype(float)
    for _ in range(5):
        following = current.copy()
        for k, j, i in product(range(1, 6), range(1, 4), range(1, 5)):
            around = (
                current[k, j, i - 1] + current[k, j, i + 1] + current[k, j - 1, i] + current[k, j + 1, i]
                + current[k - 1, j, i] + current[k + 1, j, i]
            )  # fmt: skip
            centre = current[k, j, i]
            following[k, j, i] = 2 * centre - previous[k, j, i] + 0.25 * (around - 6 * centre)
        previous, current = current, following
    np.testing.assert_allclose(expected["u"], current, atol=1e-13)


@pytest.mark.parametrize("name", ["heat2d", "wave3d"])
def test_blocks_of_a_sweep_join_without_seams(name: str) -> None:
    """A sine of the grid is an eigenvector of the operator: one factor for every cell, in whichever block it lies."""
    task = TASKS[name]
    configuration = small(name, NX=420, NY=310, NZ=9, steps=3, alpha=0.125)
    shape = (310, 420) if name == "heat2d" else (9, 310, 420)
    mode, eigenvalue = np.ones(shape), 0.0
    for axis, extent in enumerate(shape):
        angle = np.pi * 2 / (extent - 1)
        sine = np.sin(angle * np.arange(extent))
        sine[-1] = 0.0
        mode *= sine.reshape([-1 if other == axis else 1 for other in range(len(shape))])
        eigenvalue += 2.0 * np.cos(angle) - 2.0
    inputs = {"u": mode} if name == "heat2d" else {"u_prev": mode, "u_curr": mode}
    factors = [1.0, 1.0]
    for _ in range(3):
        if name == "heat2d":
            factors.append(factors[-1] * (1 + 0.125 * eigenvalue))
        else:
            factors.append(2 * factors[-1] - factors[-2] + 0.125 * eigenvalue * factors[-1])
    np.testing.assert_allclose(task.reference(configuration, inputs)["u"], factors[-1] * mode, atol=1e-11)


def test_nbody() -> None:
    configuration = small("nbody", N=9, steps=3, dt=0.01, eps=0.25, G=2.0)
    inputs, expected = run("nbody", configuration)
    r, v = inputs["pos"][:, :3].astype(float), inputs["vel"][:, :3].astype(float)
    mass = inputs["mass"].astype(float)
    dt = float(np.float32(0.01))
    for _ in range(3):
        a = np.zeros_like(r)
        for i, j in product(range(9), range(9)):
            d = r[j] - r[i]
            a[i] += 2.0 * mass[j] * d / (d @ d + 0.0625) ** 1.5
        v = v + a * dt
        r = r + v * dt
    np.testing.assert_allclose(expected["pos"], r, atol=1e-12)


def test_nbody_blocks_conserve_momentum() -> None:
    rng = np.random.default_rng(3)
    position, weights = rng.standard_normal((3, 700)), rng.random(700)
    total = nbody.accelerations(position, weights, 0.01) @ weights
    np.testing.assert_allclose(total, 0.0, atol=1e-8)


def test_random_numbers_are_those_of_murmur3() -> None:
    assert murmur_mix(np.array([0, 1, 0xFFFFFFFF], np.uint32)).tolist() == [0, 0x514E28B7, 0x81F16F39]
    assert [mix(x) for x in (0, 1, 0xFFFFFFFF)] == [0, 0x514E28B7, 0x81F16F39]


def test_hmc_uniforms() -> None:
    keys = np.array([0xCAFEBEEF, (0xCAFEBEEF + 5 * 0x9E3779B9) % 2**32], np.uint32)
    for counter in (0, 7, 2**31):
        expected = [(mix(mix(int(key) ^ counter)) >> 8) / 2**24 for key in keys]
        assert uniforms(keys, counter).tolist() == expected


def test_hmc_follows_plain_loops() -> None:
    configuration = small("hmc", d=4, K=70, L=6, eps=0.3, steps=5, seed=0xFFFFFFF0)
    inputs, expected = run("hmc", configuration)
    eps = float(np.float32(0.3))
    A = inputs["A"].astype(float)
    for chain in (0, 13, 69):
        q, accepted = inputs["q"][chain].astype(float), 0
        for step in range(5):

            def rand(counter: int, chain: int = chain) -> float:
                return (mix(mix((0xFFFFFFF0 + chain * 0x9E3779B9) % 2**32 ^ counter)) >> 8) / 2**24

            base = step * 5
            p = np.zeros(4)
            for i in (0, 2):
                radius = np.sqrt(-2 * np.log(max(rand(base + i), 1e-7)))
                p[i] = radius * np.cos(2 * np.pi * rand(base + i + 1))
                p[i + 1] = radius * np.sin(2 * np.pi * rand(base + i + 1))
            trial, before = q.copy(), 0.5 * q @ A @ q + 0.5 * p @ p
            p -= 0.5 * eps * A @ trial
            for leap in range(6):
                trial = trial + eps * p
                p -= (0.5 if leap == 5 else 1.0) * eps * A @ trial
            change = 0.5 * trial @ A @ trial + 0.5 * p @ p - before
            if np.log(max(rand(base + 4), 1e-30)) < -change:
                q, accepted = trial, accepted + 1
        row = expected["chains"].tolist().index(chain)
        np.testing.assert_allclose(expected["q"][row], q, atol=1e-12)
        assert expected["accept_cnt"][row] == accepted


def test_lbm() -> None:
    configuration = small("lbm", NX=5, NY=4, steps=3, tau=0.75, roughness=0.5)
    inputs, expected = run("lbm", configuration)
    f = inputs["f"].astype(float)
    for _ in range(3):
        new = np.zeros_like(f)
        for j, i in product(range(4), range(5)):
            pulled = np.array([f[k, (j - CY[k]) % 4, (i - CX[k]) % 5] for k in range(9)])
            rho = pulled.sum()
            ux, uy = (pulled @ np.array(c) / rho for c in (CX, CY))
            for k in range(9):
                e = CX[k] * ux + CY[k] * uy
                equilibrium = W[k] * rho * (1 + 3 * e + 4.5 * e * e - 1.5 * (ux * ux + uy * uy))
                new[k, j, i] = pulled[k] - (pulled[k] - equilibrium) / 0.75
        f = new
    np.testing.assert_allclose(expected["f"], f, atol=1e-13)


def test_lbm_conserves_mass_and_momentum() -> None:
    inputs, expected = run("lbm", small("lbm", NX=24, NY=17, steps=40, roughness=0.5))
    for weights in (np.ones(9), np.array(CX, float), np.array(CY, float)):
        before, after = (np.tensordot(weights, f, 1).sum() for f in (inputs["f"].astype(float), expected["f"]))
        assert after == pytest.approx(before, abs=1e-9)


def test_ising() -> None:
    configuration = small("ising", NX=6, NY=8, sweeps=4, beta=0.3, seed=0xFFFFFFF3)
    inputs, expected = run("ising", configuration)
    spins = inputs["spins"].astype(int)
    for step in range(8):
        for j, i in product(range(8), range(6)):
            if (i + j) & 1 != step & 1:
                continue
            h = spins[j, (i + 1) % 6] + spins[j, i - 1] + spins[(j + 1) % 8, i] + spins[j - 1, i]
            x = mix((0xFFFFFFF3 + step * 0x9E3779B9) % 2**32)
            u = np.float32(mix(x ^ (j * 6 + i)) >> 8) * np.float32(2.0**-24)
            if u < inputs["p_accept"][(spins[j, i] * h + 4) // 2]:
                spins[j, i] *= -1
    np.testing.assert_array_equal(expected["spins"], spins)


def test_lj_forces_against_all_pairs() -> None:
    rng = np.random.default_rng(5)
    length, m = 9.2, 3
    lattice = np.stack(np.meshgrid(*[np.arange(8)] * 3), axis=-1).reshape(-1, 3)
    # Some atoms lie outside the box: positions are never wrapped when stored.
    position = (lattice + 0.5 + rng.uniform(-0.1, 0.1, (512, 3))) * 1.15 + length * rng.integers(-2, 3, (512, 3))
    force, pairs = lj.forces(position, length, m)
    offset = position[None] - position[:, None]
    offset -= length * np.round(offset / length)
    r2 = np.sum(offset**2, axis=-1)
    np.fill_diagonal(r2, np.inf)
    near = r2 < 6.25
    r6 = np.where(near, r2, np.inf) ** -3
    brute = np.einsum("ij,ijk->ik", -24 * (2 * r6 * r6 - r6) / r2, offset)
    assert pairs == near.sum() / 2
    np.testing.assert_allclose(force, brute, atol=1e-9)


def test_lj_conserves_momentum_and_energy() -> None:
    configuration = small("lj", N=343, M=3, L=8.05, steps=60, dt=0.001)
    inputs, expected = run("lj", configuration)

    def energy(position: Array, velocity: Array) -> float:
        offset = position[None] - position[:, None]
        offset -= 8.05 * np.round(offset / 8.05)
        r2 = np.sum(offset**2, axis=-1)[np.triu_indices(343, 1)]
        r6 = r2[r2 < 6.25] ** -3
        # Shifted to zero at the cutoff, where the force of the contract jumps but the energy must not.
        return float(np.sum(4 * (r6 * r6 - r6 - 2.5**-12 + 2.5**-6)) + 0.5 * np.sum(velocity**2))

    before = TASKS["lj"].reference(replace(configuration, parameters={**configuration.parameters, "steps": 59}), inputs)
    velocity = (expected["pos"] - before["pos"]) / float(np.float32(0.001))
    np.testing.assert_allclose(velocity.sum(axis=0), 0.0, atol=1e-4)
    start = energy(inputs["pos"][:, :3].astype(float), inputs["vel"][:, :3].astype(float))
    assert energy(expected["pos"], velocity) == pytest.approx(start, rel=2e-3)


def test_lj_refuses_cells_that_overflow() -> None:
    with pytest.raises(TaskError, match="a cell holds"):
        run("lj", small("lj", N=4096, M=3, L=18.4))


def test_gradshaf() -> None:
    configuration = small("gradshaf", NR=7, NZ=6, steps=3, p_axis=150.0, mu0=1.25, omega=0.75)
    inputs, expected = run("gradshaf", configuration)
    psi = inputs["psi"].astype(float)
    dr, dz = float(np.float32(1 / 6)), float(np.float32(1 / 5))
    centre = -2 / dr**2 - 2 / dz**2
    for _ in range(3):
        axis = max(psi[j, i] for j, i in product(range(1, 5), range(1, 6)))
        new = psi.copy()
        for j, i in product(range(1, 5), range(1, 6)):
            r, n = 1 + i * dr, psi[j, i] / axis
            current = r * 150.0 * 4 * n * (1 - n) if 0 < n < 1 else 0.0
            operator = (1 / dr**2 + 1 / (2 * r * dr)) * psi[j, i - 1] + (1 / dr**2 - 1 / (2 * r * dr)) * psi[j, i + 1]
            operator += (psi[j + 1, i] + psi[j - 1, i]) / dz**2 + centre * psi[j, i]
            new[j, i] += 0.75 * (-1.25 * r * current - operator) / centre
        psi = new
    np.testing.assert_allclose(expected["psi"], psi, atol=1e-12)


@pytest.mark.parametrize("n", [4, 8, 32])
def test_fft3d_against_scipy(n: int) -> None:
    inputs, expected = run("fft3d", small("fft3d", N=n, batch=2, amplitude=0.5, phase=1.0))
    assert set(expected) == {"cube_0", "cube_1"}
    for name, cube in inputs.items():
        exact = scipy.fft.fftn(cube.astype(np.complex128))
        np.testing.assert_allclose(expected[name], exact, atol=1e-6 * np.abs(exact).max())
    assert np.abs(inputs["cube_0"] - inputs["cube_1"]).max() > 0.1


def test_fft3d_against_the_definition() -> None:
    inputs, expected = run("fft3d", small("fft3d", N=4))
    rotation = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4)
    exact = np.einsum("ckji,zk,yj,xi->czyx", inputs["cube_0"][None], rotation, rotation, rotation)[0]
    np.testing.assert_allclose(expected["cube_0"], exact, atol=1e-5)


def test_morton_order_bit_by_bit() -> None:
    cube = np.arange(512).reshape(8, 8, 8)
    vector = morton.to_morton(cube)
    for z, y, x in product(range(8), repeat=3):
        index = sum((x >> b & 1) << 3 * b | (y >> b & 1) << 3 * b + 1 | (z >> b & 1) << 3 * b + 2 for b in range(3))
        assert vector[index] == cube[z, y, x]
    np.testing.assert_array_equal(morton.from_morton(vector), cube)


def test_morton() -> None:
    configuration = small("morton", N=8, steps=4, alpha=0.125)
    inputs, expected = run("morton", configuration)
    u = morton.from_morton(inputs["u"]).astype(float)
    for _ in range(4):
        new = u.copy()
        for k, j, i in product(range(1, 7), repeat=3):
            around = u[k - 1, j, i] + u[k + 1, j, i] + u[k, j - 1, i] + u[k, j + 1, i] + u[k, j, i - 1] + u[k, j, i + 1]
            new[k, j, i] += 0.125 * (around - 6 * u[k, j, i])
        u = new
    np.testing.assert_allclose(expected["u"], u, atol=1e-14)


def test_adi3d_lines_against_a_banded_solver() -> None:
    rng = np.random.default_rng(8)
    lines, mu = rng.standard_normal((11, 6)), 0.7
    bands = np.zeros((3, 11))
    bands[0, 2:], bands[1], bands[2, :-2] = -mu, 1 + 2 * mu, -mu
    bands[1, [0, -1]] = 1.0
    exact = scipy.linalg.solve_banded((1, 1), bands, lines)
    solve_lines(lines, mu)
    np.testing.assert_allclose(lines, exact, atol=1e-13)


def test_adi3d_against_dense_solves() -> None:
    configuration = small("adi3d", NX=5, NY=6, NZ=7, steps=2, mu=0.75)
    inputs, expected = run("adi3d", configuration)
    u = inputs["u"].astype(float)
    for _, axis in product(range(2), (2, 1, 0)):
        length = u.shape[axis]
        matrix = np.eye(length)
        for m in range(1, length - 1):
            matrix[m, m - 1 : m + 2] = (-0.75, 2.5, -0.75)
        lines = np.moveaxis(u, axis, 0)
        for a, b in product(range(1, lines.shape[1] - 1), range(1, lines.shape[2] - 1)):
            lines[:, a, b] = np.linalg.solve(matrix, lines[:, a, b])
    np.testing.assert_allclose(expected["u"], u, atol=1e-12)

"""The twelve tasks of suite ``sci``, in the order of its specification; the first one, saxpy, is the smoke task."""

from __future__ import annotations

from kfp.tasks.base import Task
from kfp.tasks.sci.adi3d import Adi3d
from kfp.tasks.sci.fft3d import Fft3d
from kfp.tasks.sci.gradshaf import GradShaf
from kfp.tasks.sci.heat2d import Heat2d
from kfp.tasks.sci.hmc import Hmc
from kfp.tasks.sci.ising import Ising
from kfp.tasks.sci.lbm import Lbm
from kfp.tasks.sci.lj import LennardJones
from kfp.tasks.sci.morton import Morton
from kfp.tasks.sci.nbody import NBody
from kfp.tasks.sci.saxpy import Saxpy
from kfp.tasks.sci.wave3d import Wave3d

TASKS: tuple[type[Task], ...] = (
    Saxpy,
    Heat2d,
    Wave3d,
    NBody,
    Hmc,
    Lbm,
    Ising,
    LennardJones,
    GradShaf,
    Fft3d,
    Morton,
    Adi3d,
)

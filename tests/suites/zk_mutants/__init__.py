"""Faults of one line, put into the seeds of the zk tasks one at a time: (what is wrong, the seed's text, the fault).

The first of a task's faults are the ones that random data miss; they run by default, the others with `-m full`.
"""

from __future__ import annotations

from zk_mutants import bits, curves, modular, products

Fault = tuple[str, str, str]

FAULTS: dict[str, tuple[Fault, ...]] = {
    **modular.FAULTS,
    **bits.FAULTS,
    **curves.FAULTS,
    **products.FAULTS,
}

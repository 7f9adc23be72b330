"""Prices of tokens: a snapshot with its date that ships with the package, or a file of the user's own."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kfp.errors import ResultFormatError, UsageError
from kfp.records import Record


@dataclass(frozen=True, eq=False)
class Price(Record):
    """US dollars per million tokens, and the date of the list that says so."""

    input: float
    cached: float
    cache_write: float
    output: float
    date: str

    def cost(self, *, fresh: int, cached: int, cache_written: int, output: int) -> float:
        """US dollars; ``fresh`` are the input tokens that are neither read from a cache nor written to one."""
        tokens = (
            fresh * self.input + cached * self.cached + cache_written * self.cache_write + output * self.output
        )  # fmt: skip
        return tokens / 1e6

    def most(self, input_tokens: int, output_tokens: int) -> float:
        """What a call with at most so many tokens can cost."""
        return (input_tokens * max(self.input, self.cached, self.cache_write) + output_tokens * self.output) / 1e6


FREE = Price(0.0, 0.0, 0.0, 0.0, "")

_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def price_of(name: str) -> Price | None:
    """The price of ``provider/model``, None where the list has none. A dated model has the price of its family."""
    prices = _load(os.environ.get("KFP_PRICES", ""))
    if name in prices:
        return prices[name]
    return prices.get(_DATE.sub("", name))


@cache
def _load(named: str) -> dict[str, Price]:
    path = Path(named) if named else Path(__file__).parent / "prices.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        date, rows = data["date"], data["usd_per_million_tokens"]
        return {name: Price.from_json({**row, "date": date}) for name, row in rows.items()}
    except OSError as error:
        raise UsageError(f"KFP_PRICES: {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, ResultFormatError) as error:
        raise UsageError(
            f"{path}: expected {{date, usd_per_million_tokens: {{model: {{input, cached, cache_write, output}}}}}}, "
            f"got {type(error).__name__}: {error}"
        ) from None

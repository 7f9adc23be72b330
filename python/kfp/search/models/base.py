"""What the search asks of a language model, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from kfp.records import Record
from kfp.search.models.prices import Price

Stop: TypeAlias = Literal["end", "length", "refusal", "no answer"]


@dataclass(frozen=True)
class Request:
    """One question. ``seconds`` is wall time for all attempts together; after ``most_lost`` attempts that may have cost
    money without an answer there is no other one.
    """

    system: str
    prompt: str
    iteration: int
    candidate: int
    max_tokens: int
    seconds: float
    effort: str = ""
    most_lost: int = 1000

    @property
    def most_input_tokens(self) -> int:
        """No tokenizer makes more tokens than there are bytes."""
        return len(self.system.encode()) + len(self.prompt.encode())


@dataclass(frozen=True, eq=False)
class Usage(Record):
    """Tokens of one answer. ``input`` includes ``cached`` and ``cache_written``; ``output`` includes ``thinking``."""

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0
    thinking: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
            self.output + other.output,
            self.thinking + other.thinking,
        )


@dataclass(frozen=True, eq=False)
class Reply(Record):
    """What came back. ``detail`` says in words why there is no complete answer; ``answered_by`` is the server's name
    for the model. ``attempts`` counts the calls; of ``lost_attempts`` nobody knows what they cost.
    """

    answered_by: str
    text: str
    thinking: str
    stop: Stop
    detail: str
    usage: Usage
    seconds: float
    attempts: int
    lost_attempts: int
    request_id: str


class Model(Protocol):
    """A language model behind a name. ``price`` is None where nobody knows it."""

    @property
    def name(self) -> str: ...

    @property
    def price(self) -> Price | None: ...

    def ask(self, request: Request) -> Reply:
        """One answer. Raises ``kfp.ModelError`` when asking again could not help either."""

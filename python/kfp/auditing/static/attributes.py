"""Attributes that steer the launch, as the user wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from kfp.auditing.program.translation import Translation
from kfp.auditing.results import Attribute

_STEERING = ("max_total_threads_per_threadgroup", "required_threads_per_threadgroup", "max_work_group_size")


def find_attributes(candidate: Translation, seed: Translation | None) -> Iterator[Attribute]:
    """Those of the candidate that the seed doesn't have with the same arguments."""
    known = {text for text, _ in _attributes(seed)} if seed is not None else set()
    for text, token in _attributes(candidate):
        if text not in known:
            yield Attribute(candidate.map.location(token), text)


def _attributes(translation: Translation) -> Iterator[tuple[str, int]]:
    tokens = translation.map.tokens
    for number, token in enumerate(tokens):
        if token.text not in _STEERING:
            continue
        text, depth = token.text, 0
        for following in tokens[number + 1 : number + 40]:
            depth += (following.text == "(") - (following.text == ")")
            text += following.text
            if depth == 0:
                break
        yield text, number

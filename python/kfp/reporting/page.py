"""Views to one page that needs nothing but itself: styles and script are in it, and nothing else may run or load."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from kfp.reporting.answer import Answer
from kfp.reporting.blocks import Section, View
from kfp.reporting.markup import Html, element
from kfp.reporting.svg import figure


def page(title: str, views: Sequence[View], version: str) -> str:
    """The first view is what is seen first."""
    style, script = asset("report.css"), asset("report.js")
    # Whatever might slip past the escaping has no hash, and so does nothing.
    allowed = f"style-src {_digest(style)}; script-src {_digest(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"kfp {version}"),
        element("title", title),
        element("style", Html(style)),
    )
    body = element(
        "body",
        element("a", "to the answer", class_="skip", href="#main"),
        element("header", element("p", f"kfp report · {title}"), class_="page"),
        element("main", [_waiting(view, i, len(views)) for i, view in enumerate(views)], id="main"),
        element("noscript", element("p", "All but the first of them need scripts.")) if len(views) > 1 else None,
        element(
            "footer",
            f"Made by kfp {version}. This page names configurations that are held out: keep it from whoever writes the "
            "next kernel.",
        ),
        element("script", Html(script)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def prefix(number: int) -> str:
    """Begins the address of everything in a view."""
    return f"v{number}-"


def _waiting(view: View, number: int, count: int) -> Html:
    shown = _view(view, number, count)
    return shown if number == 0 else element("template", shown, id=f"{prefix(number)}waiting")


def _view(view: View, number: int, count: int) -> Html:
    at = prefix(number)
    back = element("a", "all of them", href=f"#{prefix(0)}view", data_open=f"{prefix(0)}view", class_="back")
    return element(
        "article",
        back if number else None,
        element("p", view.about, class_="about"),
        _answer(view.answer),
        figure(view.hero) if view.hero is not None else None,
        [_section(section, at) for section in view.sections],
        _data(view, at),
        class_="view",
        id=f"{at}view",
        aria_label=view.name if count > 1 else None,
    )


def _answer(answer: Answer) -> Html:
    facts = [[element("dt", fact.label), element("dd", fact.text)] for fact in answer.facts]
    return element(
        "div",
        element("h1", answer.question, tabindex="-1"),
        element("p", answer.headline, class_="headline"),
        element("dl", facts, class_="facts"),
        class_=f"answer {answer.mood}",
    )


def _section(section: Section, at: str) -> Html:
    name = "-".join("".join(c if c.isalnum() and c.isascii() else " " for c in section.name.lower()).split())
    return element("section", element("h2", section.name), section.body, id=f"{at}{name}")


def _data(view: View, at: str) -> Html | None:
    if not view.data:
        return None
    text = json.dumps(view.data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    # Inside a script element only "<" can end it or begin a comment.
    return element("script", Html(text.replace("<", "\\u003c")), type="application/json", id=f"{at}data")


@cache
def asset(name: str) -> str:
    return (files("kfp.reporting") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""Results in notebooks: the page of a report in a frame of its own, which can't reach the notebook around it."""

from __future__ import annotations

from kfp.reporting.markup import element
from kfp.reporting.report import page_of
from kfp.reporting.subjects import Wanted

HEIGHT = 560


def frame(subject: Wanted) -> str:
    return element(
        "iframe", srcdoc=page_of(subject), sandbox="allow-scripts", width="100%", height=HEIGHT, title="kfp report"
    )

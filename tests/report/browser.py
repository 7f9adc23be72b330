"""A real Chromium without a window, and what it says of a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# The shell is the same engine at half of the processor time.
PLACES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def executable(own: str) -> str:
    """One of the system, or ``own``: what ``playwright install chromium`` fetches."""
    found = next((path for place in PLACES if (path := shutil.which(place))), "")
    if not found and not Path(found := own).exists():
        pytest.fail("tests marked browser need Chromium: install Debian's chromium, or run playwright install chromium")
    return found


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    # No sandbox: it needs rights that a container lacks, and the pages are our own.
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(playwright.chromium.executable_path), args=arguments
        )
        try:
            yield browser.new_context(offline=True)
        finally:
            browser.close()


@dataclass
class Seen:
    """An open page with everything that it complained of, or asked of others."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Any, path: Path, width: int = 1280, height: int = 800) -> Iterator[Seen]:
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": height})
    seen = Seen(page)
    page.on("console", lambda message: seen.complaints.append(message.text))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (seen.complaints.append("a dialog"), dialog.dismiss()))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("requestfailed", lambda request: seen.refused.append(f"{request.failure} {request.url}"))
    page.goto(path.as_uri())
    try:
        yield seen
    finally:
        page.close()


# WCAG 2.2, 1.4.3 and 1.4.11: the relative luminance of what is in front against what is behind it.
CONTRAST = """
() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length && (colour.length < 4 || colour[3] > 0)) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const shown = (node) => node.checkVisibility ? node.checkVisibility() : node.getClientRects().length > 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !shown(node) || ["SCRIPT", "TITLE"].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const front = parse(node.namespaceURI.endsWith("svg") ? style.fill : style.color);
    found.push(["text", node.textContent.slice(0, 60), ratio(front, behind(node))]);
  }
  for (const node of document.querySelectorAll("svg .mark, svg .stroke:not(.rule)")) {
    if (!shown(node)) continue;
    const style = getComputedStyle(node);
    const line = node.matches(".stroke, .hollow, .crossed");
    const front = parse(line ? style.stroke : style.fill);
    // Some marks lie on a band.
    const band = parse(getComputedStyle(document.documentElement).getPropertyValue("--band").trim()
      .replace(/#(..)(..)(..)/, (_, r, g, b) => [r, g, b].map((v) => parseInt(v, 16)).join(" ")));
    found.push(["mark", node.getAttribute("class"), Math.min(ratio(front, behind(node)), ratio(front, band))]);
  }
  return found;
}
"""

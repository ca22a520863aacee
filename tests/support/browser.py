"""Debian's Chromium without a window, to see pages as a reader does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
# As for what is clicked: 30 seconds, since machines that run tests are busy.
expect.set_options(timeout=30_000)


@contextmanager
def browser() -> Iterator:
    if not CHROMIUM.exists():
        pytest.skip("needs /usr/bin/chromium")
    with sync_playwright() as driver:
        # Root, as in containers, has no sandbox.
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def opened(browser, page_at: Path | str, width: int, *, dark: bool = False) -> Iterator:
    """A file or an address in a window of a width in pixels; fails if it asks for more or logs an error."""
    address = page_at if isinstance(page_at, str) else page_at.as_uri()
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", has_touch=width < 700
    )
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    try:
        yield page
        assert [url for url in asked if not url.startswith(("data:", address.rpartition("/")[0]))] == []
        assert errors == []
    finally:
        context.close()


# The text of a page whose contrast with what is behind it is below a limit (WCAG 2.2, 1.4.3).
LOW_CONTRAST = """(least) => {
  // A mix of colours is given in parts of 1.
  const scale = (text) => (text.startsWith("color(srgb") ? 255 : 1);
  const channels = (text) => text.match(/[0-9.]+/g).map((it, at) => it * (at < 3 ? scale(text) : 1));
  const light = (rgb) => {
    const linear = (it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((it) => linear(it / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let it = element; it; it = it.parentElement) {
      const found = channels(getComputedStyle(it).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const empty = !walker.currentNode.textContent.trim() || element.closest("script, style");
    if (empty || !element.checkVisibility()) continue;
    const [one, other] = [channels(getComputedStyle(element).color).slice(0, 3), ground(element)].map(light);
    const [dark, bright] = one < other ? [one, other] : [other, one];
    const contrast = (bright + 0.05) / (dark + 0.05);
    if (contrast < least) low.push(`${walker.currentNode.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
  }
  return low;
}"""

# What reaches beyond the right edge of the window, or can be scrolled sideways inside, as nothing in a picture can.
BEYOND_THE_EDGE = """() => [...document.querySelectorAll("main, main *, header, header *, table, .scroll")]
  .filter((it) => it.checkVisibility() && (it.getBoundingClientRect().right > innerWidth + 1
    || (it instanceof HTMLElement && it.scrollWidth > it.clientWidth + 1 && it.clientWidth > 0
      && getComputedStyle(it).display !== "inline")))
  .map((it) => `${it.tagName} ${it.className} ${it.textContent.trim().slice(0, 40)}`)"""

NAMELESS = """() => [...document.querySelectorAll("a, button, summary, input, select")]
  .filter((it) => !it.textContent.trim() && !it.getAttribute("aria-label") && !it.labels?.length)
  .filter((it) => !it.querySelector("img[alt]:not([alt=''])"))
  .map((it) => it.outerHTML.slice(0, 80))"""

BROKEN_WORDS = """() => {
  const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("script, style") || !node.parentElement.checkVisibility()) continue;
    for (const word of node.textContent.matchAll(/\\p{L}+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


def check_readable(page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(BEYOND_THE_EDGE) == []
    assert page.evaluate(LOW_CONTRAST, 4.5) == []
    assert page.evaluate(NAMELESS) == []

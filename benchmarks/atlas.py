"""How long does the atlas take to open a head? In Debian's Chromium, of models of made-up results, by their size.

    .venv/bin/python benchmarks/atlas.py

Of 50 heads at most, from the click until the head is drawn. Runs from anywhere, and prints a Markdown table.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))
sys.path.insert(1, str(Path(__file__).parents[1]))

import numpy as np
import pandas as pd

from headtypes.core.markdown import markdown_table
from headtypes.pages.atlas.page import write_page
from tests.support.atlases import atlas
from tests.support.browser import browser, opened

TOKENS = [f"token{place}" for place in range(48)]
TIMES = """async () => {
  const times = [], frame = () => new Promise((done) => requestAnimationFrame(done));
  const opened = (name) => document.querySelector(`[aria-label="${name}"] [data-drawn]`);
  for (const tile of [...document.querySelectorAll(".tile")].slice(0, 50)) {
    await frame();
    const start = performance.now(), name = tile.getAttribute("aria-label").split(":")[0];
    tile.click();
    while (!opened(name)) await new Promise((done) => setTimeout(done));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> None:
    """Open heads of models of two sizes, and print the times."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for layers, heads in ((6, 12), (24, 16)):
            file = Path(folder, f"{layers}.html")
            write_page(file, atlas(Path(folder, str(layers)), layers, heads, [TOKENS] * 8), {"rule": "write_atlas"})
            with opened(chromium, file, 1280) as page:
                times = page.evaluate(TIMES)
            size = f"{file.stat().st_size / 1e6:.1f}"
            rows.append((f"{layers} x {heads}", size, f"{np.median(times):.0f}", f"{max(times):.0f}"))
    print(markdown_table(pd.DataFrame(rows, columns=["heads", "page, MB", "median, ms", "largest, ms"])))


if __name__ == "__main__":
    main()

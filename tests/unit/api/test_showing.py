"""A text in a loaded model is shown as the atlas shows it, and `import headtypes` has all that is to be called."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import headtypes
from headtypes.pages.atlas.live import Live
from headtypes.pages.atlas.page import page_of
from tests.support.atlases import attention_in, unpacked
from tests.support.browser import browser, opened
from tests.support.models import tiny_bert
from tests.support.places import SCRIPTS
from tests.support.records import recorded

TEXT = "The old cat sat by the river."


DATA = re.compile(r'<script type="[a-z/]+" id="[^"]*">(.*?)</script>')


def parts_of(html: str) -> tuple[str, dict, list[str]]:
    """A page without its data, its data, and what of these is packed."""
    data, *packed = DATA.findall(html)
    return DATA.sub("", html), json.loads(data), packed


def test_the_page_is_that_of_the_command(tmp_path):
    model, tokenizer = tiny_bert()
    texts = TEXT, "A dog was under the house."
    page = headtypes.show(model, tokenizer, *texts)
    record = recorded(model, tokenizer, tmp_path)
    data = Live(record, {}, precision="float32", distance_bins=16).read(*texts, [])
    del data["answers"]
    written = page_of(data, {"model": "BertForQuestionAnswering", "text": [*texts]})
    pages = (html.replace("BertForQuestionAnswering", record.name) for html in (page.html, written))
    without_data, known, packed = zip(*map(parts_of, pages), strict=True)
    # The two passes may differ in the last bits, and so each number in the last digit that a page keeps of it: the
    # fourth of a feature, a 255th of the largest of its row in a map, a 65535th of a length.
    np.testing.assert_allclose(*(each["features"].pop("values") for each in known), rtol=2e-3)
    length = len(known[0]["samples"][0]["tokens"])
    maps, lengths = zip(*packed, strict=True)
    np.testing.assert_allclose(*(attention_in(each, 3, 5, length) for each in maps), atol=1 / 255)
    np.testing.assert_allclose(*(np.frombuffer(unpacked(each), "<u2").astype(int) for each in lengths), atol=1)
    assert known[0] == known[1]
    assert without_data[0] == without_data[1]


def test_a_notebook_shows_the_heads_by_type(tmp_path):
    model, tokenizer = tiny_bert()
    types = headtypes.head_types(headtypes.read_heads(model, tokenizer, [TEXT]), k=2)
    page = headtypes.show(model, tokenizer, TEXT, partition=types)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html>{page._repr_html_()}", encoding="utf-8")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with browser() as chromium, opened(chromium, cell, 1000) as notebook:
        shown = notebook.frame_locator("iframe")
        shown.get_by_text("15 heads").wait_for()
        count = len(types.heads_of("type-1"))
        assert shown.get_by_text(f"type-1 {count}", exact=False).count()


def test_the_package_loads_nothing_until_it_is_asked_and_no_snakemake_then():
    code = """
import sys
sys.modules["snakemake"] = None
import headtypes
assert "torch" not in sys.modules
headtypes.ablated
assert "torch" in sys.modules
print([name for name in sys.modules if name.startswith("headtypes.planning")])
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True)
    # Then what is called, and nothing that plans or needs Snakemake.
    assert run.stdout == "[]\n"
    assert {name for name in headtypes.__all__ if callable(getattr(headtypes, name))} == set(headtypes.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        headtypes.__getattr__("nothing")

"""A made-up model's atlas in a browser."""

import pytest

from tests.support.atlases import MARKUP, WORDS, atlas, write_page


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """3 layers of 4 heads, two samples, the second of tokens that look like markup."""
    folder = tmp_path_factory.mktemp("atlas")
    write_page(folder / "made-up.html", atlas(folder, 3, 4, [WORDS, MARKUP]))
    return folder / "made-up.html"

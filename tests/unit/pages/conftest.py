"""A browser for the tests of pages."""

import pytest

from tests.support.browser import browser


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened

import pytest

from tests.support.browser import browser, opened


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened_browser:
        yield opened_browser


@pytest.fixture
def page(chromium, page_file):
    with opened(chromium, page_file, 1280) as page:
        yield page


@pytest.fixture
def phone(chromium, page_file):
    with opened(chromium, page_file, 390) as phone:
        yield phone


@pytest.fixture(params=[(1280, False), (1280, True), (390, False), (390, True)], ids=str)
def window(chromium, page_file, request):
    width, dark = request.param
    with opened(chromium, page_file, width, dark=dark) as window:
        yield window

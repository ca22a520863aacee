"""Pages of the documentation, taken apart."""

import re

from tests.support.places import ROOT

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts_of(page: str) -> dict[str, str]:
    """The parts of a page, by their headings; what stands before the first one is ""."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", f"\n{text}", flags=re.MULTILINE)}


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks of code in a language; those of commands have none."""
    return [block for written_in, block in _BLOCK.findall(text) if written_in == language]

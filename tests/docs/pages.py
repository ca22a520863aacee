import linecache
import re
from collections.abc import Iterable

from tests.support.places import ROOT

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts_of(page: str) -> dict[str, str]:
    """The parts of a page, by their headings; what stands before the first one is ""."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", f"\n{text}", flags=re.MULTILINE)}


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks of code in a language; those of commands have none."""
    return [block for written_in, block in _BLOCK.findall(text) if written_in == language]


def run_python(parts: Iterable[str]) -> dict:
    """The names that the blocks of Python of some parts of a page leave behind, run in order."""
    names = {}
    for part in parts:
        for number, block in enumerate(blocks(part, "python")):
            file = f"{part.partition(chr(10))[0]} {number}"
            # nnsight reads the source of its blocks.
            linecache.cache[file] = len(block), None, block.splitlines(keepends=True), file
            exec(compile(block, file, "exec"), names)
    return names

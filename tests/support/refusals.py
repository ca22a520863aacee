"""What a user is told of something that cannot be used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headtypes.core.errors import InputError


def refusal(act: Callable, *arguments: Any, **named: Any) -> str:
    with pytest.raises(InputError) as caught:
        act(*arguments, **named)
    message = str(caught.value)
    assert message.splitlines() == [message]
    # What pydantic says of a configuration has no end of ours.
    assert message.endswith(".") or "Did you mean" in message or message.startswith("config: ")
    assert len(message) < 1000
    return message


def refused_by_line(read: Callable, path: Path, lines: list[str], number: int, problem: str) -> None:
    path.write_text("\n".join([*lines, ""]))
    message = refusal(read, path)
    assert message.startswith(f"{path}, line {number}: ")
    assert problem in message

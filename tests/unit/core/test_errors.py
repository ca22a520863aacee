"""The message of an error for the user: one line, whatever it quotes."""

import pytest

from headtypes.core.errors import InputError


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [
        ("a\nb\r\x0c\u2028\x85c", r"a\nb\r\x0c\u2028\x85c"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\ud800 \u202e", r"\ud800 \u202e"),
        ("中文 é 🎉 'x' \\n", "中文 é 🎉 'x' \\n"),
    ],
)
def test_what_cannot_be_printed_is_escaped(quoted, shown):
    assert str(InputError(f"x.csv holds {quoted}; correct it.")) == f"x.csv holds {shown}; correct it."

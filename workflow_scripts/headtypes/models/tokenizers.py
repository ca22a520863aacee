"""What a tokenizer adds to a text."""

from typing import TYPE_CHECKING

from headtypes.core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def added_tokens(tokenizer: "PreTrainedTokenizerBase", where: str = "the model") -> set[int]:
    """Ids of the tokens that a tokenizer adds to one text or two.

    Raises `InputError` where it does not say what they are, so that they would count as ordinary ones.
    """
    added: dict[int, str] = {}
    for texts in (("a",), ("a", "b")):
        encoded = tokenizer(*texts)
        of = encoded.sequence_ids(0)
        for place, (token, text) in enumerate(zip(encoded["input_ids"], of, strict=True)):
            if text is None:
                added.setdefault(token, "sep_token" if 0 in of[:place] else "cls_token")
    ends = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
    # Other special tokens may stand beside these, such as the language of a text.
    known = tokenizer.all_special_ids if set(ends) - {None} else ()
    unnamed = {token: name for token, name in added.items() if token not in known}
    if unnamed:
        lines = [f'"{name}": "{tokenizer.convert_ids_to_tokens(token)}"' for token, name in unnamed.items()]
        raise InputError(
            f"{where} has a tokenizer that adds special tokens to a text without naming them; write "
            f"{', '.join(lines)} into tokenizer_config.json."
        )
    return {*added}

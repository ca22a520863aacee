"""Tokens that a tokenizer adds to a text."""

from headtypes.core.errors import InputError


def added_tokens(tokenizer, where: str = "the model") -> set[int]:
    """Return the ids of the tokens that a tokenizer adds to one text or to a pair of texts.

    tokenizer: fast tokenizer of Transformers.
    where:     the model, as the message names it.
    Raises `InputError` if the tokenizer's files do not name an added token as special, since the token would count as
    an ordinary one.
    """
    added: dict[int, str] = {}
    for encoded in (tokenizer("a"), tokenizer("a", "b")):
        texts = encoded.sequence_ids(0)
        for place, token in enumerate(encoded["input_ids"]):
            if texts[place] is None:
                added.setdefault(token, "sep_token" if 0 in texts[:place] else "cls_token")
    ends = {getattr(tokenizer, f"{name}_token_id") for name in ("cls", "sep", "bos", "eos")}
    # Other special tokens may stand beside these, such as the language of a text.
    unnamed = [token for token in added if ends == {None} or token not in tokenizer.all_special_ids]
    if unnamed:
        lines = (f'"{added[token]}": "{tokenizer.convert_ids_to_tokens(token)}"' for token in unnamed)
        raise InputError(
            f"{where} has a tokenizer that adds special tokens to a text without naming them; write "
            f"{', '.join(lines)} into tokenizer_config.json."
        )
    return {*added}

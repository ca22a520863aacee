"""Seeds for random choices: one for each use, none shared, none global."""

import hashlib

from headtypes.core.files import canonical_json


def derive_seed(*parts: str | int) -> int:
    """Return a seed, 0 to 2**32 - 1, that depends on the parts alone and is the same on every machine.

    parts: what the seed is for, from the general to the particular: the config's seed, the rule, the model, the
        repetition. A renamed rule is given by its original name. The number 1 and the text "1" give different seeds.
    """
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")

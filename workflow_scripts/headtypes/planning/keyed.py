"""The inputs of which there are many of a kind, by the keys that their rule declares."""

import json
from typing import Any


def by_key(inputs: Any, keyed: str) -> dict[str, dict]:
    """The inputs that are many files of a kind, as {name: {key: path}}; a key is a string or a tuple of strings.

    inputs: of a job, as Snakemake has them, in any order.
    keyed:  as JSON, by name, the keys and paths that the rule declares, in the order in which the result has them; the
        paths lack the prefix that another workflow may give.
    Raises `ValueError` where the inputs are not those that are declared.
    """
    found = {}
    for name, declared in json.loads(keyed).items():
        files, paths = set(getattr(inputs, name)), [path for _, path in declared]
        prefix = next(
            (file.removesuffix(path) for file in files for path in paths if f"/{file}".endswith(f"/{path}")), ""
        )
        if files != {prefix + path for path in paths}:
            raise ValueError(f"the inputs {name} are {sorted(files)} where {paths} are declared")
        found[name] = {key if isinstance(key, str) else tuple(key): prefix + path for key, path in declared}
    return found

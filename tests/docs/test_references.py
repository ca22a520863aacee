"""What the package's docstrings and comments refer to exists: `module.name` and `Class.name` in backticks."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.support.places import ROOT

PACKAGE = ROOT / "workflow_scripts/headtypes"
SCHEMA = json.loads((ROOT / "schemas/config.schema.json").read_text("utf-8"))
# Names of files, of other packages' parts, and of a paper's quantities.
NO_CODE = re.compile(
    r"\w+\.(py|json|csv)|(pandas|transformers)\..*|Trainer\..*|divergence\.within.*|(divergence|relations)\.of_.*"
)
REFERENCE = re.compile(r"`([A-Za-z_][\w.]*)\.(\w+)(?:\(.*?\))?`")


def defined_in(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.If):
            yield from (it.id for it in ast.walk(node) if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store))


def config_keys(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for part in schema.values():
            yield from config_keys(part)


def owners(files: dict[Path, str]) -> dict[str, set[str]]:
    """The names in each module, by its stem, and in each class; of packages, their modules."""
    names = defaultdict(set)
    for path, text in files.items():
        tree = ast.parse(text)
        names[path.parent.name].add(path.stem)
        names[path.stem] |= set(defined_in(tree.body))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names[node.name] |= set(defined_in(node.body))
                names[node.name] |= {
                    it.attr for it in ast.walk(node) if isinstance(it, ast.Attribute) and isinstance(it.ctx, ast.Store)
                }
    return names


def test_what_docstrings_refer_to_exists():
    files = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    known, keys = owners(files), set(config_keys(SCHEMA))
    assert sum(len(REFERENCE.findall(text)) for text in files.values()) > 50
    missing = [
        f"{path.name}: {owner}.{name}"
        for path, text in files.items()
        for owner, name in REFERENCE.findall(text)
        if (last := owner.rpartition(".")[2]) in known and name not in known[last] | keys
        if not NO_CODE.fullmatch(f"{owner}.{name}")
    ]
    assert missing == []

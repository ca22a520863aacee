"""A digest of the code that a rule runs: what it does counts, and how it is written does not."""

import ast
import hashlib
from functools import cache
from pathlib import Path

from headtypes.core.files import canonical_json
from headtypes.planning.packages import NUMERIC_PACKAGES, version

# Packages that a package's numbers depend on, though our code may not import them.
_UNDERNEATH = {
    "datasets": ("pyarrow",),
    "pandas": ("numpy", "pyarrow"),
    "sklearn": ("numpy", "scipy"),
    "transformers": ("accelerate", "tokenizers", "torch"),
}


def code_digest(script: str | Path) -> str:
    """Return the digest of a script, the modules of its folder that it imports, and their packages' versions.

    Imports are followed transitively over the syntax tree; docstrings, comments and formatting do not count.
    A package that is not installed counts as absent, so that a plan can be made anywhere.
    """
    return digest_of(code_parts(script))


def code_parts(script: str | Path) -> dict[str, str]:
    """What `code_digest` covers: {module, relative to the script's folder: its digest; package: its version}."""
    script = Path(script).resolve()
    root = script.parent
    files, packages = _reach(script, root)
    modules = {str(file.relative_to(root)): _meaning(file)[0] for file in sorted(files)}
    return {**modules, **{NUMERIC_PACKAGES[package]: version(package) for package in sorted(packages)}}


def digest_of(parts: dict[str, str]) -> str:
    """One digest of the parts of `code_parts`."""
    return _sha256(canonical_json(parts))


def reached_modules(script: str | Path) -> set[str]:
    """The files, relative to the script's folder, that `code_digest` covers."""
    script = Path(script).resolve()
    return {str(file.relative_to(script.parent)) for file in _reach(script, script.parent)[0]}


def _reach(script: Path, root: Path) -> tuple[set[Path], set[str]]:
    files: set[Path] = set()
    packages: set[str] = set()
    ahead = [script]
    while ahead:
        file = ahead.pop()
        if file in files:
            continue
        files.add(file)
        modules, theirs = _imports(file, root)
        ahead.extend(modules)
        packages.update(theirs)
    return files, packages


@cache
def _imports(file: Path, root: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The modules under `root` that a file itself imports, and the packages, with those beneath them."""
    modules: dict[Path, None] = {}
    packages: dict[str, None] = {}
    for name in _meaning(file)[1]:
        ours, top = _modules(name, root), name.partition(".")[0]
        modules.update(dict.fromkeys(ours))
        if not ours and top in NUMERIC_PACKAGES:
            packages.update(dict.fromkeys((top, *_UNDERNEATH.get(top, ()))))
    return tuple(modules), tuple(packages)


@cache
def _meaning(file: Path) -> tuple[str, tuple[str, ...]]:
    """A digest of what the file's code means, and the dotted names that it imports."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    imports: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{file}:{node.lineno}: relative imports are not followed; name the module in full.")
            imports.append(node.module)
            # `from package import module` reaches the module as well.
            imports.extend(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _drop_docstring(node)
    outline: list[str] = []
    _outline(tree, outline)
    return _sha256("".join(outline)), tuple(imports)


def _outline(node: object, outline: list[str]) -> None:
    """Append the tree as text. Empty fields are left out: newer versions of Python add some."""
    if isinstance(node, ast.AST):
        outline.append(f"{type(node).__name__}(")
        for name, value in ast.iter_fields(node):
            if value is not None and value != []:
                outline.append(f"{name}=")
                _outline(value, outline)
        outline.append(")")
    elif isinstance(node, list):
        for item in node:
            _outline(item, outline)
            outline.append(",")
    else:
        outline.append(repr(node))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    def is_text(statement: ast.stmt) -> bool:
        return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)

    # A string that stands alone is documentation wherever it is: below an attribute too.
    node.body = [statement for statement in node.body if not is_text(statement)] or [ast.Pass()]


def _modules(name: str, root: Path) -> list[Path]:
    """The files that importing a dotted name runs, as far as they lie under `root`: packages, then the module."""
    files, folder = [], root
    for part in name.split("."):
        folder = folder / part
        candidates = (folder / "__init__.py", folder.with_suffix(".py"))
        existing = next((file for file in candidates if file.is_file()), None)
        if existing is None:
            break
        files.append(existing)
    return files

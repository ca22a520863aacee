"""A digest of the code that a rule runs, so that a change of it is seen and a change of its looks is not."""

import ast
import hashlib
import importlib.metadata
from functools import cache
from pathlib import Path

# Packages whose version can change a number or a byte of a result, by the name they are imported under.
NUMERIC_PACKAGES = {
    "accelerate": "accelerate",
    "datasets": "datasets",
    "h5py": "h5py",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "sentencex": "sentencex",
    "sklearn": "scikit-learn",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
}
# What a package's numbers rest on without our code importing it.
_UNDERNEATH = {"sklearn": ("numpy", "scipy"), "transformers": ("tokenizers", "torch"), "pandas": ("numpy",)}


def code_digest(script: str | Path) -> str:
    """Return the digest of a script, the modules of its folder that it imports, and their packages' versions.

    Imports are followed transitively over the syntax tree; docstrings, comments and formatting do not count.
    A package that is not installed counts as absent, so that a plan can be made anywhere.
    """
    script = Path(script).resolve()
    root = script.parent
    files, packages = _reach(script, root)
    parts = [f"{file.relative_to(root)}:{_meaning(file)[0]}" for file in sorted(files)]
    parts += [f"{package}=={_version(package)}" for package in sorted(packages)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


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
        for name in _meaning(file)[1]:
            modules = _modules(name, root)
            ahead.extend(modules)
            top = name.partition(".")[0]
            if not modules and top in NUMERIC_PACKAGES:
                packages.update((top, *_UNDERNEATH.get(top, ())))
    return files, packages


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
    code = ast.unparse(tree)
    return hashlib.sha256(code.encode()).hexdigest(), tuple(imports)


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    def is_text(statement: ast.stmt) -> bool:
        return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)

    # A string that stands alone is documentation wherever it is: below an attribute too.
    node.body = [statement for statement in node.body if not is_text(statement)] or [ast.Pass()]


def _modules(name: str, root: Path) -> list[Path]:
    """The files that importing a dotted name runs, as far as they lie under `root`: packages, then the module."""
    found, folder = [], root
    for part in name.split("."):
        folder = folder / part
        candidates = (folder / "__init__.py", folder.with_suffix(".py"))
        existing = next((file for file in candidates if file.is_file()), None)
        if existing is None:
            break
        found.append(existing)
    return found


@cache
def _version(package: str) -> str:
    try:
        # torch's build (+cpu, +cu130) is the machine's, not the lock's.
        return importlib.metadata.version(NUMERIC_PACKAGES[package]).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return "absent"

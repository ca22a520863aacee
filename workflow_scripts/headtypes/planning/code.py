"""The code that a job runs, as one hash: the syntax trees, without documentation, of its modules and their imports."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.data.tasks import module_of
from headtypes.models.records import version_of

# Packages whose version can change a number or a byte of a result, by the name they are imported under.
_IMPORTED = (
    *("accelerate", "datasets", "diptest", "h5py", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sentencex"),
    *("sklearn", "tokenizers", "torch", "transformers"),
)
NUMERIC_PACKAGES = {name: "scikit-learn" if name == "sklearn" else name for name in _IMPORTED}
# Packages that a package's numbers depend on, though our code may not import them.
_UNDERNEATH = {
    "datasets": ("pyarrow",),
    "pandas": ("numpy", "pyarrow"),
    "sklearn": ("numpy", "scipy"),
    "transformers": ("accelerate", "tokenizers", "torch"),
}
# Modules that hand a job its paths, record what made its results, print, or hand names on. No result depends on them.
NOT_COUNTED = {"headtypes", "headtypes.planning.code", "headtypes.planning.provenance", "headtypes.core.progress"}
_BRIEF = 300  # characters of a parameter that can be read where Snakemake says why a job runs
_FOLDER = Path(__file__).resolve().parents[2]


@cache
def code_hash(loaded: tuple[str, ...], folder: Path = _FOLDER) -> str:
    """Return one hash of the code of `loaded`, names of modules or paths of files, and of all that it imports.

    Modules of this package, which lies in `folder`, are hashed by code, and numerical libraries by version.
    """
    files = covered_files(loaded, folder)
    imported = {name.partition(".")[0] for file in files for name in _read(file)[0]}
    packages = [
        package for name in imported & NUMERIC_PACKAGES.keys() for package in (name, *_UNDERNEATH.get(name, ()))
    ]
    parts = {
        file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name: _read(file)[1]
        for file in files
    }
    return _sha256(canonical_json({**parts, **{name: package_version(name) for name in packages}}))


def covered_files(loaded: Iterable[str], folder: Path = _FOLDER) -> set[Path]:
    files = {file for name in loaded for file in _files_of(name, folder)}
    ahead = [*files]
    while ahead:
        imported = _read(ahead.pop())[0] - NOT_COUNTED
        new = {file for name in imported for file in _files_of(name, folder)} - files
        files |= new
        ahead += new
    return files


def check_code(planned: str, loaded: tuple[str, ...], folder: Path) -> None:
    """Raise `InputError` if a job's code changed after the job was planned, or is another copy of our package.

    planned: hash of the code when the job was planned. loaded: what the job loads, from `loaded_modules`.
    folder: folder of the workflow's scripts, in which our package must lie.
    """
    if folder.resolve() != _FOLDER:
        raise InputError(
            f"the package headtypes was imported from {_FOLDER}, and is not the one of this workflow in "
            f"{folder}; uninstall it (pip uninstall headtypes), or take its folder from PYTHONPATH; run again."
        )
    if code_hash(loaded) != planned:
        raise InputError(
            f"the code in {_FOLDER}, or a package's version, has changed since this run was planned; run again."
        )


def loaded_modules(calls: str, spec: dict) -> tuple[str, ...]:
    """Return the names of the modules that a job loads by name, and the path of the user's Python file, if any.

    calls: the job's function, as `module:function`. spec: the job's spec. If it has the key `kind` (of a task), the
        module of this kind is returned too. If it has the key `file`, this is the user's file.
    """
    called = f"headtypes.{calls.partition(':')[0]}"
    kind = (module_of(spec["kind"]),) if "kind" in spec else ()
    return (called, *kind, *([spec["file"]] if "file" in spec else ()))


@cache
def package_version(name: str) -> str:
    # torch's build (+cpu, +cu130) is the machine's, not the lock's.
    return version_of(NUMERIC_PACKAGES[name]).partition("+")[0]


@cache
def _files_of(name: str, folder: Path) -> tuple[Path, ...]:
    # With the `__init__.py` of each package that holds the module; none of a module outside of our package.
    if name.endswith(".py"):
        return (Path(name),)
    parts = name.split(".")
    names = {".".join(parts[:count]) for count in range(1, len(parts) + 1)} - NOT_COUNTED
    paths = (folder.joinpath(*part.split(".")) for part in names)
    return tuple(file for path in paths for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file())


@cache
def _read(file: Path) -> tuple[frozenset[str], str]:
    # Imports inside functions count; imports under TYPE_CHECKING do not.
    text, names = file.read_bytes(), set()
    tree = ast.parse(text)
    if b"content=" in text:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                node.keywords[:] = [keyword for keyword in node.keywords if keyword.arg != "content"]
    ahead = [tree]
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        elif not (isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"):
            for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                if isinstance(statements := getattr(node, block, None), list):
                    statements[:] = [part for part in statements if not is_text(part)]
                    ahead += statements
    return frozenset(names), _sha256(ast.dump(tree))


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def brief(text: str) -> str:
    """Return `text`, or its hash if the text has more than 300 characters."""
    return text if len(text) <= _BRIEF else _sha256(text)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]

"""A digest of the code that a rule runs: what it does counts, and how it is written does not.

What a script reaches counts by the names of functions, classes and constants (`reach` says how they are followed), so
that an edit runs a job again only if it can change its results.
"""

import ast
import gc
import hashlib
from collections import defaultdict
from functools import cache
from pathlib import Path

from headtypes.core.files import StrPath, canonical_json
from headtypes.planning.code.definitions import Definition, Module
from headtypes.planning.code.effects import Effects
from headtypes.planning.code.packages import NUMERIC_PACKAGES, version
from headtypes.planning.code.reach import Code

# What no result depends on: modules, or single names of them, with all that only they reach.
_NOT_COUNTED = {
    "headtypes.planning.job": "hands a job its paths and its spec, and its log what is printed",
    "headtypes.planning.locks": "keeps runs apart",
    "headtypes.planning.provenance": "records what made a result",
    "headtypes.core.progress": "prints how far a job has come",
    "headtypes.models.silence": "keeps Transformers from printing",
}
# Packages that a package's numbers depend on, though our code may not import them.
_UNDERNEATH = {
    "datasets": ("pyarrow",),
    "pandas": ("numpy", "pyarrow"),
    "sklearn": ("numpy", "scipy"),
    "transformers": ("accelerate", "tokenizers", "torch"),
}


def code_digest(script: StrPath, modules: Path | None = None) -> str:
    """Return the digest of a script, of what it reaches in the modules of its folder, and of its packages' versions.

    Docstrings, comments and formatting do not count. A package that is not installed counts as absent, so that a plan
    can be made anywhere.

    modules: the folder of the modules, if it is not that of the script.
    """
    return digest_of(code_parts(script, modules))


def code_parts(script: StrPath, modules: Path | None = None) -> dict[str, str]:
    """What `code_digest` covers: {module, relative to the script's folder, and name: its digest; package: its version}.

    The name `(order)` of a module stands for the order of its statements, where something may depend on it.
    """
    reached = _reached(Path(script).resolve(), modules)
    packages = {NUMERIC_PACKAGES[package]: version(package) for package in sorted(reached.packages)}
    return {**reached.parts(), **packages}


def digest_of(parts: dict[str, str]) -> str:
    """One digest of the parts of `code_parts`."""
    return _sha256(canonical_json(parts))


def reached_modules(script: StrPath) -> set[str]:
    """The files, relative to the script's folder, that the code that `code_digest` covers loads."""
    reached = _reached(Path(script).resolve())
    return {module.path for module in reached.runs if module.file.is_file()}


def whole_modules(script: StrPath) -> set[str]:
    """Those of the files that count as a whole, since it cannot be told which of their names are looked up."""
    reached = _reached(Path(script).resolve())
    return {module.path for module in reached.whole if module.file.is_file()}


def reached_lines(script: StrPath) -> dict[str, set[int]]:
    """The lines of the files, relative to the script's folder, that `code_digest` covers; a class has its members'."""
    reached, lines = _reached(Path(script).resolve()), defaultdict(set)
    for definition in reached.definitions:
        own = set(definition.lines).difference(*(member.lines for member in definition.members))
        lines[definition.module.path] |= own
    return dict(lines)


def counts(module: str) -> bool:
    """Whether what a module does can change a result."""
    return module not in _NOT_COUNTED


class _Reached:
    """What a script reaches.

    runs: modules that are imported, in the order in which their imports end; whole: those that count as a whole.
    """

    def __init__(self, script: Path, modules: Path):
        self._code, self._effects = _code(modules)
        self.definitions: dict[Definition, None] = {}
        self.runs: dict[Module, None] = {}
        self.whole: dict[Module, None] = {}
        self.packages: set[str] = set()
        self._running: set[Module] = set()
        self._words: set[str] = set()
        self._waiting: dict[str, list[Definition]] = defaultdict(list)
        self._ahead: list[Definition] = []
        # Whether all properties, all members of classes, and all modules that are imported count.
        self._properties = self._members = self._everything = False
        self.script = Module.read(script.stem, script)
        self._run(self.script)
        for definition in self.script.definitions:
            self._count(definition)
        while self._ahead:
            self._look_at(self._ahead.pop())

    def parts(self) -> dict[str, str]:
        """The digest of each definition that counts, and of the order of modules and statements."""
        meanings = defaultdict(list)
        for definition in sorted(self.definitions, key=lambda each: each.node.lineno):
            name = f"{definition.module.path}:{definition.name}"
            meanings[name].append(self._code.meaning(definition))
        with_effects = [module for module in self.runs if self._effects.of(module)]
        for module in self.runs:
            bound = [each for top in module.definitions for each in (top, *top.members) if each in self.definitions]
            order = [name for each in bound for name in each.name.split(", ")]
            # It matters where something is done meanwhile, and to what is bound twice.
            if module in with_effects or len(set(order)) < len(order):
                meanings[f"{module.path}:(order)"] = [_sha256(canonical_json(order))]
        if len(with_effects) > 1:
            meanings["(order)"] = [_sha256(canonical_json([module.name for module in with_effects]))]
        return {name: "".join(found) for name, found in sorted(meanings.items())}

    def _run(self, module: Module) -> None:
        """Count what importing a module does."""
        if module in self._running:
            return
        self._running.add(module)
        self._import(module.runs)
        self.runs[module] = None
        for definition in self._effects.of(module):
            self._count(definition)
        if self._everything:
            self._count_whole(module)

    def _import(self, names: list[str]) -> None:
        for name in names:
            for module in self._code.along(name):
                self._run(module)

    def _count(self, definition: Definition) -> None:
        if definition not in self.definitions:
            self.definitions[definition] = None
            self._ahead.append(definition)

    def _count_whole(self, module: Module) -> None:
        if module in self.whole:
            return
        self.whole[module] = None
        self._run(module)
        for definition in module.definitions:
            for each in (definition, *definition.members):
                self._count(each)
        # Names that it only imports may be looked up in it, too.
        for name in module.imported:
            self._count_found(self._code.resolve([name], module, {}))
        for star in module.stars:
            self._count_found([each for each in (self._code.module(star),) if each])
        if module.file.name == "__init__.py":
            for other in list(self.runs):
                if other.name.startswith(f"{module.name}."):
                    self._count_whole(other)

    def _look_at(self, definition: Definition) -> None:
        facts = definition.facts
        self._import(facts.runs)
        self._count_found(self._code.found(definition))
        new = facts.words - self._words
        self._words |= new
        for word in new & self._waiting.keys():
            for member in self._waiting.pop(word):
                self._count(member)
        # The members of a class are asked for by their names, but for those that others than our code may call.
        if isinstance(definition.node, ast.ClassDef) and not self._code.is_plain(definition):
            self._count_found(
                [member for each in self._code.family(definition) for member in getattr(each, "members", [])]
            )
        for member in definition.members:
            if self._code.always_counts(member) or member.word in self._words or self._any(member):
                self._count(member)
            else:
                self._waiting[member.word].append(member)
        if facts.module:
            self._count_whole(definition.module)
        if (facts.computed, facts.members, facts.all_modules) != (False, False, False):
            self._widen(facts.computed, facts.members, facts.all_modules)

    def _count_found(self, found: list) -> None:
        for each in found:
            if isinstance(each, Definition):
                self._count(each)
            elif isinstance(each, Module):
                self._count_whole(each)
            elif (top := each.partition(".")[0]) in NUMERIC_PACKAGES:
                self.packages.update((top, *_UNDERNEATH.get(top, ())))

    def _any(self, member: Definition) -> bool:
        """Whether a member counts since others are looked up by names that are not in the code."""
        return self._members or (self._properties and self._code.is_read(member))

    def _widen(self, properties: bool, members: bool, everything: bool) -> None:
        """Count what may be looked up by a name that is not in the code."""
        self._properties |= properties
        self._members |= members
        for member in [each for waiting in self._waiting.values() for each in waiting]:
            if self._any(member):
                self._count(member)
        if everything and not self._everything:
            self._everything = True
            for module in list(self.runs):
                self._count_whole(module)


@cache
def _code(root: Path) -> tuple[Code, Effects]:
    code = Code(root, lambda name: not counts(name))
    return code, Effects(code)


@cache
def _reached(script: Path, modules: Path | None = None) -> _Reached:
    # Syntax trees are many objects, all of which stay: to look through them for garbage again and again, now or when
    # other things are made, takes as long as all the rest.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _Reached(script, modules or script.parent)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def forget_files() -> None:
    """Read files again that have been read, since they may have changed."""
    _code.cache_clear()
    _reached.cache_clear()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]

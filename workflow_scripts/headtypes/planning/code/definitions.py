"""A module's code as definitions, each with the names that it uses: what the digest of code is made of.

A definition is a statement at the top of a module, or a member of a class. Comments, formatting, and strings that stand
alone (docstrings) are not part of what it means.
"""

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# What an imported name stands for: a module and the name in it, or None for the module itself.
Target = tuple[str, str | None]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# A name, or several with dots between them: `getattr` may look them up.
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
# In a string that may be formatted, `{row.name}` looks up a name too.
_FORMATTED = re.compile(r"\{\w*\.(\w+)")
# Decorators that read no annotations.
_PLAIN = {"property", "cached_property", "cache", "staticmethod", "classmethod", "contextmanager", "abstractmethod"}
# Kinds of nodes that say more than their fields.
_NOTED = {"Call", "Attribute", "FunctionDef", "AsyncFunctionDef", "ClassDef", "MatchClass", "Import", "ImportFrom"}
_BODIES = ("body", "orelse", "finalbody")
# What looks at all members of a class, at all names of its own module, or at those of any module.
_ALL_MEMBERS = {"getmembers", "__dict__", "__mro__", "mro"}
_ALL_OF_MODULE = {("globals",), ("locals",), ("exec",), ("eval",)}
_ALL_OF_ALL = {"__subclasses__", "__import__", "import_module", "run_path", "run_module"}


@dataclass(frozen=True)
class Facts:
    """What the code of a definition says, without that of its members.

    outline: its meaning, as a SHA-256.
    chains:  the names that it uses, as `("np", "random", "seed")`; those in annotations of functions are left out.
    words:   names of attributes that it may look up, also as strings.
    imported: what is imported within it, by the name there; runs: the modules that this runs.
    computed: whether it reads attributes whose names are not in the code.
    members, module, all_modules: whether it may look at every member of a class, at every name of its module, or at
        every name of every module.
    """

    outline: str
    chains: frozenset[tuple[str, ...]]
    words: frozenset[str]
    imported: dict[str, list[Target]]
    runs: list[str]
    computed: bool
    members: bool
    module: bool
    all_modules: bool


@dataclass(eq=False)
class Definition:
    """A statement at the top of a module, or a member of a class: as `function` or `Class.member`."""

    module: "Module"
    name: str
    node: ast.stmt
    owner: "Definition | None" = None

    @cached_property
    def facts(self) -> Facts:
        """What its code says."""
        return _Reader(self.module.file, self.node, self.members, of_class=self.owner is not None).facts

    @cached_property
    def members(self) -> "list[Definition]":
        """The methods and attributes of a class that may count each by itself; what Python calls is not among them."""
        if not isinstance(self.node, ast.ClassDef):
            return []
        named = [(self._member(statement), statement) for statement in self.node.body]
        return [
            Definition(self.module, f"{self.name}.{name}", statement, self)
            for name, statement in named
            if name and not re.fullmatch("__.*__", name)
        ]

    @property
    def word(self) -> str:
        """The name by which an object has it."""
        return self.name.rpartition(".")[2]

    @property
    def lines(self) -> range:
        """The lines where it stands in its file, with its decorators."""
        decorators = getattr(self.node, "decorator_list", [])
        return range(min(each.lineno for each in (self.node, *decorators)), self.node.end_lineno + 1)

    def _member(self, statement: ast.stmt) -> str | None:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                return name
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name
            # The decorator of a dataclass reads them.
            case ast.AnnAssign(target=ast.Name(id=name)) if not self.node.decorator_list:
                return name
        return None


@dataclass(eq=False)
class Module:
    """A file of ours.

    names:  the definitions that bind a name, in their order; imported: what an imported name stands for.
    runs:   modules that importing this one runs; stars: those of which it imports all names.
    """

    name: str
    file: Path
    definitions: list[Definition] = field(default_factory=list)
    names: dict[str, list[Definition]] = field(default_factory=dict)
    imported: dict[str, list[Target]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)

    @cached_property
    def path(self) -> str:
        """Its path, relative to the folder below which modules are ours."""
        return self.name.replace(".", "/") + ("/__init__.py" if self.file.name == "__init__.py" else ".py")

    @classmethod
    def read(cls, name: str, file: Path) -> "Module":
        """Parse a file. Raises `ValueError` for a relative import."""
        module = cls(name, file)
        for statement in ast.parse(file.read_bytes(), filename=str(file)).body:
            if not is_text(statement):
                module._add(statement)
        return module

    def _add(self, statement: ast.stmt) -> None:
        # What only a type checker imports is never run.
        runs = not (isinstance(statement, ast.If) and not statement.orelse and _for_checkers_alone(statement.test))
        bound = []
        for node in _outside_functions(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.runs.extend(runs_of(node) if runs else [])
                for name, target in _imports(node, self.file):
                    if name == "*":
                        self.stars.append(target[0])
                    else:
                        self.imported.setdefault(name, []).append(target)
                        bound.append(name)
            else:
                bound.extend(_bound(node))
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound = [statement.name]
        definition = Definition(self, ", ".join(dict.fromkeys(bound)) or "(import)", statement)
        self.definitions.append(definition)
        for name in dict.fromkeys(bound):
            self.names.setdefault(name, []).append(definition)


class _Reader:
    """Reads the code of a definition."""

    def __init__(self, file: Path, node: ast.stmt, apart: Collection[Definition], of_class: bool):
        self._file, self._apart = file, {id(each.node) for each in apart}
        self._outline: list[str] = []
        self._chains: set[tuple[str, ...]] = set()
        self._words: set[str] = set()
        self._imported: dict[str, list[Target]] = defaultdict(list)
        self._runs: list[str] = []
        self._called: set[str] = set()
        self._stored: set[str] = set()
        self._computed = self._members = False
        # Whether annotations count, and whether nothing does but the outline.
        self._annotated, self._muted = of_class, False
        self._read(node)
        # What a name holds that was read by a computed name is perhaps called.
        self._members |= self._computed and bool(self._called & self._stored)

    @property
    def facts(self) -> Facts:
        names = self._words | {chain[0] for chain in self._chains}
        return Facts(
            hashlib.sha256("".join(self._outline).encode()).hexdigest(),
            frozenset(self._chains),
            frozenset(self._words),
            dict(self._imported),
            self._runs,
            self._computed,
            self._members or ("dir",) in self._chains or not names.isdisjoint(_ALL_MEMBERS),
            not self._chains.isdisjoint(_ALL_OF_MODULE),
            not names.isdisjoint(_ALL_OF_ALL) or any(chain[:2] == ("sys", "modules") for chain in self._chains),
        )

    def _read(self, node: object) -> None:
        """Append the tree as text. Empty fields are left out: newer versions of Python add some."""
        kind = type(node)
        if kind is ast.Name:
            self._note_chain((node.id,))
            if type(node.ctx) is not ast.Load:
                self._stored.add(node.id)
            self._outline.append(f"Name({node.id})")
        elif kind is ast.Constant:
            if type(node.value) is str and not self._muted:
                self._note_text(node.value)
            self._outline.append(f"Constant({node.value!r})")
        elif kind is list:
            for item in node:
                if id(item) not in self._apart:
                    self._read(item)
                    self._outline.append(",")
        elif not isinstance(node, ast.AST):
            self._outline.append(repr(node))
        elif kind is ast.Attribute and (chain := chain_of(node)):
            self._note_chain(chain)
            self._outline.append(f"Attribute({'.'.join(chain)})")
        else:
            self._read_fields(node, kind.__name__)

    def _read_fields(self, node: ast.AST, kind: str) -> None:
        annotated, muted = self._annotated, self._muted
        if kind in _NOTED:
            self._note(node)
        self._outline.append(f"{kind}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or value == [] or name == "ctx":
                continue
            if type(value) is list:
                if name in _BODIES:
                    value = [each for each in value if not is_text(each)] or [ast.Pass()]
            elif not self._annotated:
                self._muted = muted or name == "annotation" or name == "returns"
            self._outline.append(f"{name}=")
            self._read(value)
        self._outline.append(")")
        self._annotated, self._muted = annotated, muted

    def _note_chain(self, chain: tuple[str, ...]) -> None:
        if not self._muted:
            self._chains.add(chain)
            self._words.update(chain[1:])

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._note_call(node)
        elif isinstance(node, ast.Attribute):
            self._words.add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [chain_of(each) or ("?",) for each in node.decorator_list]
            self._annotated = not {chain[-1] for chain in decorators} <= _PLAIN
        elif isinstance(node, ast.ClassDef):
            self._annotated = True
        elif isinstance(node, ast.MatchClass):
            self._words.update(node.kwd_attrs)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._runs.extend(runs_of(node))
            for name, target in _imports(node, self._file):
                self._imported[name].append(target)

    def _note_text(self, text: str) -> None:
        if _NAMES.fullmatch(text):
            self._words.update(text.split("."))
        elif "{" in text:
            self._words.update(_FORMATTED.findall(text))
        if self._annotated:
            # An annotation may be given as a string.
            self._chains.update(tuple(name.split(".")) for name in _NAMES.findall(text))

    def _note_call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Name):
            self._called.add(called.id)
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Constant) and called.attr == "split":
            self._words.update(str(called.value.value).split())
        name = getattr(called, "id", getattr(called, "attr", None))
        if name in ("getattr", "hasattr", "attrgetter", "methodcaller", "__getattribute__"):
            asked = node.args[1:2] if name in ("getattr", "hasattr") else node.args
            self._computed |= not all(isinstance(each, ast.Constant) for each in asked)
            # What they return is made to be called, and finds a member then.
            self._members |= self._computed and name in ("attrgetter", "methodcaller", "__getattribute__")
        if name == "vars":
            self._members |= bool(node.args) and not isinstance(node.args[0], ast.Name)
            self._members |= [getattr(each, "id", None) for each in node.args] == ["cls"]
            self._chains |= set() if node.args else {("globals",)}
        if isinstance(called, ast.Call) and getattr(called.func, "id", None) == "getattr":
            self._members |= not isinstance(called.args[1], ast.Constant)


def chain_of(node: ast.AST) -> tuple[str, ...] | None:
    """A dotted name as `("np", "random", "seed")`; None for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


def runs_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that an import may run: `from package import module` runs the module as well."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]


def is_text(statement: ast.AST) -> bool:
    """Whether a statement is a string that stands alone: documentation wherever it is, below an attribute too."""
    return isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def _imports(node: ast.Import | ast.ImportFrom, file: Path) -> Iterator[tuple[str, Target]]:
    """The names that an import binds, with what they stand for."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            first = alias.name.partition(".")[0]
            yield (alias.asname, (alias.name, None)) if alias.asname else (first, (first, None))
        elif node.level:
            raise ValueError(f"{file}:{node.lineno}: relative imports are not followed; name the module in full.")
        else:
            yield alias.asname or alias.name, (node.module, alias.name)


def _for_checkers_alone(test: ast.expr) -> bool:
    return (chain_of(test) or ("",))[-1] == "TYPE_CHECKING"


def _bound(node: ast.AST) -> list[str]:
    """The names that a node itself binds or deletes."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler | ast.MatchMapping):
        return [name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name]
    return []


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it that is run with it; of comprehensions, not their own variables."""
    yield node
    if isinstance(node, _FUNCTIONS):
        return
    for below in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.comprehension) and below is node.target):
            yield from _outside_functions(below)

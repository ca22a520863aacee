"""What the code of a script reaches: definitions, modules that are run, and packages.

Names are followed from definition to definition, through imports, over the syntax tree. In doubt, more counts:

- Importing a module runs it: its statements that may do more than bind a name (`effects.Effects`) count wherever it is
  imported, with all that they reach.
- A method or attribute of a class that is reached counts if any code that is reached has its name after a dot or as a
  string, whatever the object; or if other code calls it by itself: Python (`__len__`), a base class that is not ours, a
  decorator that is not a plain one, or a library to which it looks like a file or a dictionary.
- What is looked up by a name that is not in the code counts in whole: all properties where `getattr` only reads, all
  members of classes where what it finds is called, a module that is handed on as a value or whose `globals()` are used.

Only a method whose name stands in data alone would be missed, if it is called far from the `getattr` that finds it.
"""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from headtypes.core.files import canonical_json
from headtypes.planning.code.definitions import Definition, Module, Target, chain_of

# What reaches a definition finds: definitions, modules as a whole, and dotted names of what is not ours.
Found = Definition | Module | str
# A dotted name, what it stands for, and the names that it has elsewhere.
Link = tuple[tuple[str, ...], list[Found], list[str]]

# Bases that call none of a class's methods but those with underscores.
PLAIN_BASES = {
    "abc.ABC",
    "typing.Generic",
    "typing.Protocol",
    "typing.NamedTuple",
    "object",
    "Exception",
    "ValueError",
}
# Decorators of a member, and of a class, that neither call nor hide it.
_PLAIN_DECORATORS = {
    *("property", "staticmethod", "classmethod", "functools.cached_property", "functools.cache", "functools.lru_cache"),
    *("contextlib.contextmanager", "abc.abstractmethod", "typing.override"),
}
_PLAIN_CLASS_DECORATORS = {"dataclasses.dataclass", "functools.total_ordering", "typing.runtime_checkable"}
# What libraries call of an object that is like a file, a dictionary, an estimator or a module.
_CALLED_BY_LIBRARIES = {
    *("read", "readline", "readlines", "readinto", "write", "writelines", "flush", "close", "seek", "tell", "isatty"),
    *("fileno", "keys", "items", "values", "get", "fit", "predict", "transform", "forward", "step", "send", "throw"),
    *("default", "encode", "decode", "emit", "format", "filter", "to", "state_dict", "load_state_dict"),
}
# Of a module, what Python itself sets.
_OF_MODULES = {"__name__", "__file__", "__doc__", "__package__", "__path__", "__spec__"}


class Code:
    """The modules below a folder, each read once, and what their names stand for.

    apart: whether a module, by its dotted name, is left out, with all that only it reaches.
    """

    def __init__(self, root: Path, apart: Callable[[str], bool]):
        self.root, self._apart = root, apart
        self._modules: dict[str, Module | None] = {}
        self._along: dict[str, list[Module]] = {}
        self._links: dict[Definition, list[Link]] = {}
        # The names by which the one that is being followed was found.
        self._trail: list[str] = []
        self._found: dict[Definition, list[Found]] = {}
        self._meanings: dict[Definition, str] = {}
        self._following: set[tuple[str, str]] = set()

    def module(self, name: str) -> Module | None:
        """A module of ours, by its dotted name; None if there is none, or if it is left out."""
        if name not in self._modules:
            path = self.root.joinpath(*name.split("."))
            files = [file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()]
            if self._apart(name) or not (files or path.is_dir()):
                self._modules[name] = None
            else:
                self._modules[name] = Module.read(name, files[0]) if files else Module(name, path)
        return self._modules[name]

    def along(self, name: str) -> list[Module]:
        """The modules that importing a dotted name runs: its packages, then itself."""
        if name not in self._along:
            parts = name.split(".")
            modules = (self.module(".".join(parts[:end])) for end in range(1, len(parts) + 1))
            self._along[name] = [module for module in modules if module]
        return self._along[name]

    def links(self, definition: Definition) -> list[Link]:
        """The names that a definition uses."""
        if definition not in self._links:
            facts, members = definition.facts, defaultdict(list)
            # The body of a class sees its other members by their names.
            for member in (definition.owner or definition).members:
                members[member.word].append(member)
            links = []
            for chain in sorted(facts.chains):
                # What is followed elsewhere leaves no trail in this one.
                outer, self._trail = self._trail, []
                found = self.resolve(chain, definition.module, facts.imported)
                links.append((chain, [*members.get(chain[0], ()), *found], self._trail))
                self._trail = outer
            self._links[definition] = links
        return self._links[definition]

    def found(self, definition: Definition) -> list[Found]:
        """All that the names in a definition stand for."""
        if definition not in self._found:
            found = (each for _, found, _ in self.links(definition) for each in found)
            self._found[definition] = list(dict.fromkeys(found))
        return self._found[definition]

    def meaning(self, definition: Definition) -> str:
        """A digest of what a definition says, and of what the names in it stand for that other modules have."""
        if definition not in self._meanings:
            own = f"{definition.module.name}."
            trails = [
                (chain, [name for name in trail if not name.startswith(own)])
                for chain, _, trail in self.links(definition)
            ]
            text = canonical_json([definition.facts.outline, [each for each in trails if each[1]]])
            self._meanings[definition] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self._meanings[definition]

    def resolve(self, chain: Iterable[str], module: Module, imported: dict[str, list[Target]]) -> list[Found]:
        """What a dotted name stands for in a module, where some names are `imported` besides."""
        root, *rest = chain
        found = [each for target in imported.get(root, ()) for each in self._follow(target, rest)]
        return found + self._named(module, root, rest)

    def _named(self, module: Module, name: str, rest: list[str]) -> list[Found]:
        """What a name of a module stands for; `rest` is what is looked up in it."""
        if (module.name, name) in self._following:
            return []
        self._following.add((module.name, name))
        self._trail.append(f"{module.name}.{name}")
        found: list[Found] = list(module.names.get(name, ()))
        for target in module.imported.get(name, ()):
            found += self._follow(target, rest)
        for star in module.stars:
            other = self.module(star)
            found += self._named(other, name, rest) + list(other.names.get("__all__", ())) if other else []
        self._following.discard((module.name, name))
        return found

    def _follow(self, target: Target, rest: list[str]) -> list[Found]:
        name, attribute = target
        if attribute is None:
            return self._within(name, rest)
        if self._apart(name) or self._apart(f"{name}.{attribute}"):
            return []
        module = self.module(name)
        if module is None:
            self._trail.append(f"{name}.{attribute}")
            return [f"{name}.{attribute}"]
        found = self._named(module, attribute, rest)
        if self.module(f"{name}.{attribute}"):
            found += self._within(f"{name}.{attribute}", rest)
        return found or [module]

    def _within(self, name: str, rest: list[str]) -> list[Found]:
        """What names that are looked up in a module stand for."""
        module = self.module(name)
        if self._apart(name):
            return []
        self._trail.append(name)
        if module is None:
            return [".".join([name, *rest[:1]])]
        if not rest:
            return [module]
        first, *others = rest
        found = self._named(module, first, others)
        if self.module(f"{name}.{first}"):
            found += self._within(f"{name}.{first}", others)
        left_out = self._apart(f"{name}.{first}") or first in _OF_MODULES
        return found if found or left_out else [module]

    def stands_for(self, expression: ast.expr, module: Module) -> list[Found]:
        """What an expression stands for that is a name, or one with brackets or arguments behind it."""
        while isinstance(expression, ast.Call | ast.Subscript):
            expression = expression.func if isinstance(expression, ast.Call) else expression.value
        chain = chain_of(expression)
        if chain is None:
            return []
        return self.resolve(chain, module, {}) or [".".join(chain)]

    def bases(self, definition: Definition) -> list[Found]:
        """The bases of a class, each once for all that its name may stand for; "?" for one that is not a name."""
        bases = definition.node.bases if isinstance(definition.node, ast.ClassDef) else []
        return [found for base in bases for found in self.stands_for(base, definition.module) or ["?"]]

    def family(self, definition: Definition) -> list[Found]:
        """A class, its bases and theirs; of a definition that is not a class, itself."""
        found: dict[Found, None] = {}
        ahead: list[Found] = [definition]
        while ahead:
            each = ahead.pop()
            if each not in found:
                found[each] = None
                ahead += self.bases(each) if isinstance(each, Definition) else []
        return list(found)

    def is_plain(self, definition: Definition, bases: Iterable[str] = PLAIN_BASES) -> bool:
        """Whether no code but ours, and what names them, calls the members of a class."""
        for each in self.family(definition):
            if isinstance(each, Definition) and isinstance(each.node, ast.ClassDef):
                decorators = self.decorators(each)
                if each.node.keywords or not decorators <= _PLAIN_CLASS_DECORATORS:
                    return False
            elif each not in bases:
                return False
        return True

    def decorators(self, definition: Definition) -> set[Found]:
        """What the decorators of a definition stand for; "?" for those that are not names."""
        decorators = getattr(definition.node, "decorator_list", [])
        return {found for each in decorators for found in self.stands_for(each, definition.module) or ["?"]}

    def always_counts(self, member: Definition) -> bool:
        """Whether a member of a plain class counts even if no code that is reached has its name."""
        setters = {f"{member.word}.{what}" for what in ("setter", "getter", "deleter")}
        if not self.decorators(member) <= _PLAIN_DECORATORS | setters or member.word in _CALLED_BY_LIBRARIES:
            return True
        # The fields of a named tuple.
        return isinstance(member.node, ast.AnnAssign) and "typing.NamedTuple" in self.family(member.owner)

    def is_read(self, member: Definition) -> bool:
        """Whether a member of a class gives a value when it is looked up, and not something to be called."""
        is_function = isinstance(member.node, ast.FunctionDef | ast.AsyncFunctionDef)
        return not is_function or not self.decorators(member).isdisjoint({"property", "functools.cached_property"})

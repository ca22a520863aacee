"""Which statements at the top of a module may do more, when it is imported, than bind a name."""

import ast
import sys
from collections.abc import Iterable

from headtypes.planning.code.definitions import Definition, Module, is_text
from headtypes.planning.code.reach import PLAIN_BASES, Code

_QUIET_CALLS = {
    *(
        "bool",
        "bytes",
        "chr",
        "dict",
        "enumerate",
        "float",
        "frozenset",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
    ),
    *("object", "ord", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type"),
    *("zip", "property", "staticmethod", "classmethod", "abs", "any", "all"),
    *("collections.Counter", "collections.defaultdict", "collections.namedtuple", "contextvars.ContextVar"),
    *("dataclasses.field", "functools.partial", "itertools.chain", "itertools.product", "operator.attrgetter"),
    *("operator.itemgetter", "pathlib.Path", "re.compile", "threading.Lock", "types.MappingProxyType"),
    *("typing.NewType", "typing.TypeVar", "typing.get_args", "pydantic.Field", "pydantic.StringConstraints"),
    *(
        "pydantic.AfterValidator",
        "pydantic.BeforeValidator",
        "numpy.arange",
        "numpy.array",
        "numpy.float32",
        "numpy.zeros",
    ),
}
# Methods of strings, sequences and mappings that change none.
_QUIET_METHODS = {
    *("copy", "count", "fromkeys", "get", "index", "isspace", "items", "join", "keys", "lower", "maketrans", "replace"),
    *("split", "splitlines", "strip", "union", "upper", "values"),
}
_QUIET_DECORATORS = {
    *("property", "staticmethod", "classmethod", "functools.cache", "functools.cached_property", "functools.lru_cache"),
    *("functools.wraps", "functools.total_ordering", "contextlib.contextmanager", "dataclasses.dataclass"),
    *("abc.abstractmethod", "typing.overload", "typing.override", "typing.runtime_checkable", "typing.final"),
    *("pydantic.model_validator", "pydantic.field_validator", "torch.no_grad", "torch.inference_mode", "triton.jit"),
}
# Packages whose classes keep no list of those derived from them, besides the standard library.
_QUIET_PACKAGES = {"h5py", "numpy", "pandas", "pydantic", "torch", "tqdm", "transformers"}
# What making an object of a class of ours calls.
_MAKING = {"__init__", "__new__", "__post_init__", "__set_name__", "__init_subclass__"}


class Effects:
    """Tells statements that only bind names from those that may do more; in doubt, they may."""

    def __init__(self, code: Code):
        self._code = code
        self._known: dict[Module, list[Definition]] = {}

    def of(self, module: Module) -> list[Definition]:
        """The statements of a module that may do more, in their order."""
        if module not in self._known:
            self._known[module] = [each for each in module.definitions if not self._is_quiet(each.node, module)]
        return self._known[module]

    def _is_quiet(self, node: ast.stmt, module: Module) -> bool:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
                return self._has_quiet_decorators(node, module) and all(
                    self._is_value(each, module) for each in defaults
                )
            case ast.ClassDef():
                return self._is_quiet_class(node, module)
            case ast.Assign():
                return all(map(_is_name, node.targets)) and self._is_value(node.value, module)
            case ast.AnnAssign():
                return _is_name(node.target) and (node.value is None or self._is_value(node.value, module))
            case ast.If():
                bodies = [*node.body, *node.orelse]
                return self._is_value(node.test, module) and all(self._is_quiet(each, module) for each in bodies)
            case ast.Try():
                handled = [each for handler in node.handlers for each in handler.body]
                bodies = [*node.body, *handled, *node.orelse, *node.finalbody]
                return all(self._is_quiet(each, module) for each in bodies)
        return is_text(node) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))

    def _is_quiet_class(self, node: ast.ClassDef, module: Module) -> bool:
        if node.keywords or not self._has_quiet_decorators(node, module):
            return False
        definition = Definition(module, node.name, node)
        for each in self._code.family(definition)[1:]:
            if isinstance(each, str):
                package = each.partition(".")[0]
                ours = package in _QUIET_PACKAGES or package in sys.stdlib_module_names or each in PLAIN_BASES
                if not ours and not each.endswith(("Error", "Exception")):
                    return False
            elif isinstance(each, Module) or "__init_subclass__" in _functions(each.node):
                return False
        return all(self._is_quiet(each, module) for each in node.body)

    def _has_quiet_decorators(self, node: ast.stmt, module: Module) -> bool:
        return all(self._is_quiet_decorator(each, module) for each in node.decorator_list)

    def _is_quiet_decorator(self, node: ast.expr, module: Module) -> bool:
        arguments = [*node.args, *(each.value for each in node.keywords)] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter"):
            return True
        found = self._code.stands_for(node, module)
        return (
            bool(found) and set(found) <= _QUIET_DECORATORS and all(self._is_value(each, module) for each in arguments)
        )

    def _are_values(self, nodes: Iterable[ast.expr], module: Module) -> bool:
        return all(self._is_value(each, module) for each in nodes)

    def _is_value(self, node: ast.expr, module: Module) -> bool:
        """Whether to compute an expression changes nothing that was there before."""
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.Call) and not self._is_quiet_call(node.func, module):
            return False
        return self._are_values(ast.iter_child_nodes(node), module)

    def _is_quiet_call(self, called: ast.expr, module: Module) -> bool:
        if isinstance(called, ast.Attribute) and called.attr in _QUIET_METHODS:
            return True
        # What a call returns may do anything when it is called itself.
        found = [] if isinstance(called, ast.Call) else self._code.stands_for(called, module)
        return bool(found) and all(map(self._makes_quietly, found))

    def _makes_quietly(self, found: object) -> bool:
        """Whether to call what a name stands for only makes an object."""
        if isinstance(found, str):
            return found in _QUIET_CALLS
        if not (isinstance(found, Definition) and isinstance(found.node, ast.ClassDef)):
            return False
        classes = [each for each in self._code.family(found) if isinstance(each, Definition)]
        made = any(_MAKING & _functions(each.node) for each in classes)
        factories = any(
            isinstance(each, ast.keyword) and each.arg == "default_factory" for each in ast.walk(found.node)
        )
        return self._code.is_plain(found) and not made and not factories


def _is_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_name, target.elts)))


def _functions(node: ast.AST) -> set[str]:
    return {each.name for each in getattr(node, "body", ()) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}

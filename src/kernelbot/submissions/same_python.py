"""A Python program without what its author may write differently and mean the same: layout,
comments, documentation, and the names that only it uses."""

import ast
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

_PARSING = threading.Lock()
"""Python 3.11 counts the depth of a syntax tree that it makes for all threads together."""
_WORD = re.compile(r"\w+")
_ASK_FOR_NAMES = frozenset(
    ("eval", "exec", "globals", "locals", "vars", "dir", "inspect", "__import__", "importlib")
)
"""Who uses one of these may find a variable by its name."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def normal_form(source: str) -> str:
    """Equal for programs that differ in nothing else; empty for one that does nothing. The names
    that a program binds are numbered in each scope, in the order in which they come. What may be
    asked for by name stays as it is: names in a text or of a keyword, attributes, and what a class
    binds.

    Raises SyntaxError, ValueError, RecursionError or MemoryError for what isn't a program, or is
    nested too deeply.
    """
    with _PARSING:
        tree = ast.parse(source)
    _drop_documentation(tree)
    if not tree.body:
        return ""
    fixed = _fixed_names(tree)
    if fixed is not None:
        _Renaming(fixed).module(tree)
    return ast.dump(tree)


def _drop_documentation(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, _Documented) and ast.get_docstring(node) is not None:
            del node.body[0]


def _fixed_names(tree: ast.Module) -> frozenset[str] | None:
    """The names that have to stay; None: all."""
    fixed = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _ASK_FOR_NAMES:
            return None
        if isinstance(node, ast.alias) and node.name.split(".")[0] in _ASK_FOR_NAMES:
            return None
        if isinstance(node, ast.alias) and node.name == "*":
            return None
        if isinstance(node, ast.keyword) and node.arg is not None:
            fixed.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            fixed.update(_WORD.findall(text))
    return frozenset(fixed)


@dataclass
class _Scope:
    """Where names are bound. Those of a class are attributes: others ask for them by name."""

    above: "_Scope | None"
    is_class: bool = False
    bound: dict[str, str] = field(default_factory=dict)
    """The new name of each, which is the old one in a class."""


class _Renaming(ast.NodeVisitor):
    """Numbers the names that functions and the module bind."""

    def __init__(self, fixed: frozenset[str]) -> None:
        self._fixed = fixed
        self._scope = _Scope(None)
        self._count = 0

    def module(self, tree: ast.Module) -> None:
        self._bind(_bound_in(tree.body))
        self.generic_visit(tree)

    def visit(self, node: ast.AST) -> None:
        """Rename within a node, in place."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._visit_function(node)
            case ast.ClassDef():
                self._visit_class(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._visit_comprehension(node)
            case ast.alias():
                self._visit_import(node)
            case _:
                self._rename(node)
                self.generic_visit(node)

    def _rename(self, node: ast.AST) -> None:
        match node:
            case ast.Name():
                node.id = self._new(node.id)
            case ast.Global() | ast.Nonlocal():
                node.names = [self._new(name) for name in node.names]
            case ast.ExceptHandler(name=str(name)):
                node.name = self._new(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                node.name = self._new(name)
            case ast.MatchMapping(rest=str(name)):
                node.rest = self._new(name)

    def _bind(self, names: Iterator[str]) -> None:
        for name in names:
            if name in self._scope.bound:
                continue
            keeps = self._scope.is_class or name in self._fixed or name.startswith("__")
            self._scope.bound[name] = name if keeps else f".{self._count}"
            self._count += not keeps

    def _new(self, name: str) -> str:
        scope: _Scope | None = self._scope
        while scope is not None:
            if name in scope.bound and (scope is self._scope or not scope.is_class):
                return scope.bound[name]
            scope = scope.above
        return name

    def _within(self, scope: _Scope, names: Iterator[str], *parts: ast.AST) -> None:
        before, self._scope = self._scope, scope
        self._bind(names)
        for part in parts:
            self.visit(part)
        self._scope = before

    def _visit_function(self, node: _Function) -> None:
        arguments = node.args
        outside = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
        if not isinstance(node, ast.Lambda):
            outside += node.decorator_list
            node.name = self._new(node.name)
        for part in outside:
            self.visit(part)
        given = [
            *arguments.posonlyargs,
            *arguments.args,
            *filter(None, (arguments.vararg,)),
            *arguments.kwonlyargs,
            *filter(None, (arguments.kwarg,)),
        ]
        notes = [a.annotation for a in given if a.annotation is not None]
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        if not isinstance(node, ast.Lambda) and node.returns is not None:
            notes.append(node.returns)
        for part in notes:
            self.visit(part)
        inner = _Scope(self._scope)
        names = [argument.arg for argument in given]
        apart = _declared_elsewhere(body)
        self._within(inner, (n for n in (*names, *_bound_in(body)) if n not in apart), *body)
        for argument in given:
            argument.arg = inner.bound[argument.arg]

    def _visit_class(self, node: ast.ClassDef) -> None:
        """A class's name is the outer scope's."""
        node.name = self._new(node.name)
        for part in (*node.bases, *node.keywords, *node.decorator_list):
            self.visit(part)
        self._within(_Scope(self._scope, is_class=True), _bound_in(node.body), *node.body)

    def _visit_comprehension(self, node: _Comprehension) -> None:
        targets = _targets(node)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        first, *others = node.generators
        self.visit(first.iter)  # outside
        own = (first.target, *first.ifs, *others, *parts)
        self._within(_Scope(self._scope), targets, *own)

    def _visit_import(self, node: ast.alias) -> None:
        """What is imported keeps its name; what it is called here doesn't."""
        if node.asname is None and "." in node.name:  # binds the package, and not the module
            node.asname = "=" + self._new(node.name.split(".")[0])
        else:
            node.asname = self._new(node.asname or node.name)


def _targets(node: _Comprehension) -> Iterator[str]:
    for generator in node.generators:
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                yield part.id


def _declared_elsewhere(body: list[ast.stmt] | list[ast.expr]) -> set[str]:
    found = set[str]()
    for node in _of_scope(body):
        if isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
    return found


def _bound_in(body: list[ast.stmt] | list[ast.expr]) -> Iterator[str]:
    """The names that a scope's statements bind, in their order."""
    for node in _of_scope(body):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.split(".")[0]
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _of_scope(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    """The nodes of a scope, in their order, without those of the scopes within it: but a walrus in
    a comprehension binds in the function around it."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _Function | ast.ClassDef):
            continue
        if isinstance(node, _Comprehension):
            yield from (part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
            continue
        waiting += reversed(list(ast.iter_child_nodes(node)))

"""The changes that can be made in a module, one at a time. Texts, imports, annotations and asserts
stay as they are, and so do the options of a dataclass: mypy and ruff watch over those."""

import ast
from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """What kind of change."""

    COMPARISON = "comparison"
    BOOLEAN = "boolean"
    NEGATION = "negation"
    ARITHMETIC = "arithmetic"
    CONSTANT = "constant"
    CONDITION = "condition"
    STATEMENT = "statement"
    DECORATOR = "decorator"
    ARGUMENTS = "arguments"


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: str
    """The file, relative to the tree."""
    operator: Operator
    function: str
    """The dotted name of what it is in; empty at the top of the module."""
    start: int
    end: int
    """The bytes that are replaced."""
    line: int
    before: str
    after: str
    """What stands there, and what stands there instead."""

    def applied(self, source: bytes) -> bytes:
        """The module with the change. `source` must be what it was made from."""
        return source[: self.start] + self.after.encode() + source[self.end :]


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_LARGE = 1e6
"""Such a float, as the nanoseconds of a second, is doubled: one more is within all rounding."""
_UNSWAPPED = {"isinstance", "cast", "NewType", "TypeVar"}
_UNSWAPPED |= {"min", "max", "gcd", "isclose", "hypot", "suppress", "compare_digest"}
"""A type checker tells, or nobody can: they are the same the other way round."""
_KEPT_DECORATORS = {"dataclass", "overload", "abstractmethod", "property"}
"""Without them a module can't be loaded, or only a type checker could tell."""


def mutants(module: str, source: bytes) -> list[Mutant]:
    """Every change of the module, in the order of the text."""
    found = _Finder(module, source)
    found.visit(ast.parse(source))
    return sorted(found.mutants, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


class _Finder(ast.NodeVisitor):
    """Collects the changes while it walks."""

    def __init__(self, module: str, source: bytes) -> None:
        self.mutants: list[Mutant] = []
        self._module = module
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._names: list[str] = []

    def _add(self, operator: Operator, node: ast.expr | ast.stmt, after: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        self._replace(
            operator, start, self._lines[node.end_lineno - 1] + node.end_col_offset, after
        )

    def _replace(self, operator: Operator, start: int, end: int, after: str) -> None:
        before = self._source[start:end].decode()
        line = self._source.count(b"\n", 0, start) + 1
        function = ".".join(self._names)
        found = Mutant(self._module, operator, function, start, end, line, before, after)
        self.mutants.append(found)

    # What stays as it is.

    def visit_Import(self, node: ast.Import) -> None: ...

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...

    def visit_Assert(self, node: ast.Assert) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of `zip`: it states an invariant, as an assert does
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not _is_type(node.value):
            self.generic_visit(node)

    # What is in something with a name.

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node.name, node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            if _last_name(decorator) not in _KEPT_DECORATORS:
                self._drop_decorator(decorator)
        self._inside(node.name, [*node.args.defaults, *filter(None, node.args.kw_defaults)])
        self._inside(node.name, node.body)

    def _inside(self, name: str, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        self._names.append(name)
        for node in nodes:
            self.visit(node)
        self._names.pop()

    def _drop_decorator(self, node: ast.expr) -> None:
        assert node.end_lineno is not None
        start, end = self._lines[node.lineno - 1], self._lines[node.end_lineno]
        self._replace(Operator.DECORATOR, start, end, "")

    # What is changed.

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                operators = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                changed = ast.Compare(node.left, operators, node.comparators)
                self._add(Operator.COMPARISON, node, _text(changed))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self._add(Operator.BOOLEAN, node, _text(ast.BoolOp(other, node.values)))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(Operator.NEGATION, node, _text(node.operand))
        elif isinstance(node.op, ast.USub):
            self._add(Operator.ARITHMETIC, node, _text(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _ARITHMETIC.get(type(node.op))
        if other is not None and not _is_text(node.left) and not _is_text(node.right):
            self._add(Operator.ARITHMETIC, node, _text(ast.BinOp(node.left, other(), node.right)))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(Operator.CONSTANT, node, str(not node.value))
        elif isinstance(node.value, int | float):
            is_unit = isinstance(node.value, float) and node.value >= _LARGE
            self._add(Operator.CONSTANT, node, repr(node.value * 2 if is_unit else node.value + 1))

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._add(Operator.CONDITION, condition, "True")
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Only of a bare name or call: comparisons and `not` have changes of their own."""
        if isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Await):
            self._add(Operator.CONDITION, test, f"(not {ast.unparse(test)})")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call | ast.Await):
            self._add(Operator.STATEMENT, node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(Operator.STATEMENT, node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        stored = all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
        if stored and "__init__" not in self._names:
            self._add(Operator.STATEMENT, node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(Operator.STATEMENT, node, "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(Operator.STATEMENT, node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._add(Operator.STATEMENT, node, "continue")

    def visit_Call(self, node: ast.Call) -> None:
        first = node.args[:2]
        plain = len(first) > 1 and not any(_is_first_on_purpose(arg) for arg in first)
        if plain and _last_name(node.func) not in _UNSWAPPED:
            swapped = ast.Call(node.func, [first[1], first[0], *node.args[2:]], node.keywords)
            self._add(Operator.ARGUMENTS, node, ast.unparse(swapped))
        self.generic_visit(node)


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _is_text(node: ast.expr) -> bool:
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return constant or isinstance(node, ast.JoinedStr)


def _is_first_on_purpose(node: ast.expr) -> bool:
    """A database's session is of a type that mypy tells from all others: too easy a change."""
    return isinstance(node, ast.Starred) or (isinstance(node, ast.Name) and node.id == "session")


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"Literal", "Annotated", "Callable"}


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

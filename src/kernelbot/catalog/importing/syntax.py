"""Reads a suite's Python files by their syntax, and makes the sizes in them smaller."""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping

from kernelbot.catalog.fields import DefinitionFindings


def parse(text: str, findings: DefinitionFindings) -> ast.Module | None:
    """None after a finding; also for text that nests too deeply for Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        findings.error("", error.lineno, f"not valid Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        findings.error("", None, f"not valid Python: {error or type(error).__name__}")
    return None


def definitions(body: Iterable[ast.stmt]) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that a body defines, by name; of two the later one."""
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def needs_arguments(function: ast.FunctionDef) -> bool:
    """Whether it can't be called without any."""
    args = function.args
    positional = len(args.posonlyargs) + len(args.args)
    return positional > len(args.defaults) or None in args.kw_defaults


def with_numbers_at_most(text: str, largest: int, nodes: Iterable[ast.AST]) -> str:
    """The text with whole numbers above `largest` within `nodes`, also those written as `2**21`,
    replaced by it; all else stays as it was written."""
    lines = text.encode().splitlines(keepends=True)  # bytes are split where Python splits lines
    found: set[tuple[int, int, int]] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        value = _whole_number(node) if isinstance(node, ast.expr) else None
        if value is None:
            left += ast.iter_child_nodes(node)
        elif value > largest and isinstance(node, ast.expr) and node.lineno == node.end_lineno:
            found.add((node.lineno, node.col_offset, node.end_col_offset or node.col_offset))
    for line, start, end in sorted(found, reverse=True):
        raw = lines[line - 1]
        lines[line - 1] = raw[:start] + str(largest).encode() + raw[end:]
    return b"".join(lines).decode()


_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}
_MAX_POWER = 64
_MAX_BITS = 4096
_MAX_DEPTH = 100


def _whole_number(node: ast.expr, depth: int = 0) -> int | None:
    """What an expression of whole numbers alone comes to; None for any other, and for one that was
    made to take long: a number of thousands of digits, or a sum of thousands of terms."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS or depth > _MAX_DEPTH:
        return None
    left, right = _whole_number(node.left, depth + 1), _whole_number(node.right, depth + 1)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Pow | ast.LShift) and not 0 <= right <= _MAX_POWER:
        return None
    if isinstance(node.op, ast.Pow) and left.bit_length() * right > _MAX_BITS:
        return None
    return _OPERATORS[type(node.op)](left, right)


def docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    """The definition's documentation, empty if it has none."""
    return ast.get_docstring(node) or ""

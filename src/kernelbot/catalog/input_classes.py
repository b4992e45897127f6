"""The classes of a problem's reference whose instances are in its input, without the rest of it.

A runner needs them to rebuild a call's data. It must not get the generator and the reference, so
what it gets is another file: the classes' definitions, and whatever of the file these name.
"""

import ast
from collections.abc import Iterator, Sequence

from kernelbot.domain.source_lines import source_lines
from kernelbot.protocol.late import dataclass

NEVER_SHARED = frozenset({"generate_input", "ref_kernel", "check_implementation"})
_Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class InputClasses:
    """`text` is empty if there are none, or if they can't be had without the rest: then `obstacle`
    says why, as the end of a sentence."""

    text: str = ""
    obstacle: str = ""


def extract(text: str, names: Sequence[str]) -> InputClasses:
    """The source of the classes `names`. `text` is a module's, and parses."""
    tree = ast.parse(text)
    by_name = {name: node for node in tree.body for name in _bound(node)}
    wanted, kept = list(names), set[ast.stmt]()
    while wanted:
        name = wanted.pop()
        if name in NEVER_SHARED:
            return InputClasses(obstacle=f"{', '.join(names)} can't do without {name}")
        node = by_name.get(name)
        if node is not None and node not in kept:
            kept.add(node)
            wanted += _named(node)
    lines = source_lines(text)
    parts = [_source(node, lines) for node in tree.body if node in kept or _is_for_all(node)]
    return InputClasses("\n\n".join(parts) + "\n")


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, _Import):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _named(node: ast.stmt) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _is_for_all(node: ast.stmt) -> bool:
    """Whether it may define any name, or changes how the file is read."""
    return isinstance(node, ast.ImportFrom) and (
        node.module == "__future__" or any(alias.name == "*" for alias in node.names)
    )


def _source(node: ast.stmt, lines: Sequence[str]) -> str:
    """The class's own text, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(lines[first - 1 : node.end_lineno])

"""Changes a module that is loaded: its functions get the code of the changed text."""

import ast
import gc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from scripts.mutants.operators import Mutant

_Functions = ast.FunctionDef | ast.AsyncFunctionDef


class Unfit(Exception):
    """The change isn't one of a function that is loaded."""


class Loaded:
    """All functions of a tree's modules that are in this process."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        gc.unfreeze()  # what was frozen isn't listed
        for found in gc.get_objects():
            if type(found) is FunctionType:
                self._functions[found.__code__.co_filename].append(found)
        gc.freeze()

    def exchange(self, mutant: Mutant) -> None:
        """Have the functions behave as if the change were made. What they are called by, and what
        was computed when the module was loaded, stays. Raises `Unfit`."""
        file = str(self._tree / mutant.module)
        source = Path(file).read_bytes()
        at = _outermost(source, mutant)
        new = [*_codes(compile(mutant.applied(source), file, "exec"))]
        old = [*_codes(compile(source, file, "exec"))]
        if [code.co_qualname for code in old] != [code.co_qualname for code in new]:
            raise Unfit("the module has other functions")
        pairs = {
            (one.co_qualname, one.co_firstlineno): other
            for one, other in zip(old, new, strict=True)
        }
        exchanged = 0
        for function in self._functions[file]:
            code = function.__code__
            if code.co_firstlineno == at:
                other = pairs.get((code.co_qualname, code.co_firstlineno))
                if other is None or other.co_freevars != code.co_freevars:
                    raise Unfit("the function takes other variables from outside")
                function.__code__ = other
                exchanged += 1
        if not exchanged:
            raise Unfit("there is no such function")


def is_in_function(source: bytes, mutant: Mutant) -> bool:
    """Whether the change is inside of a function's body."""
    try:
        _outermost(source, mutant)
    except Unfit:
        return False
    return True


def _outermost(source: bytes, mutant: Mutant) -> int:
    """The first line of the function whose body has the change; decorators count."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function in _functions(ast.parse(source)):
        body = function.body[0]
        assert function.end_lineno is not None
        if starts[body.lineno - 1] <= mutant.start < starts[function.end_lineno]:
            return min(node.lineno for node in (function, *function.decorator_list))
    raise Unfit("it is outside of all functions")


def _functions(node: ast.AST) -> Iterator[_Functions]:
    """Those that are in no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Functions):
            yield child
        else:
            yield from _functions(child)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)

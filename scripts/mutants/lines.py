"""Which test executes which lines of which modules, and how long it takes: recorded by a run of the
tests, and kept for as long as neither a test nor what it executes has changed."""

import ast
import builtins
import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

_PROBE = "_kernelbot_executed"


@dataclass
class Test:
    """What one test does."""

    __test__ = False  # whatever its name says to pytest
    passed: bool
    took_s: float
    """Of a processor, as the machine may have been busy."""
    lines: dict[str, list[int]]
    """By module, as the paths of `Mutant.module`."""


class Recorder:
    """A plugin of pytest's that notes for each test which statements it executes of the modules:
    those in functions, of modules that aren't loaded yet. To trace all code would take thrice as
    long; these have a call before each statement."""

    def __init__(self, tree: Path, modules: Iterable[str]) -> None:
        self.tests: dict[str, Test] = {}
        self._executed: set[tuple[str, int]] = set()
        self._passed = True
        setattr(builtins, _PROBE, self._executed.add)
        sys.meta_path.insert(0, _Finder({str(tree / module): module for module in modules}))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._executed.clear()
        self._passed = True
        began = time.process_time()
        try:
            return (yield)
        finally:
            lines: dict[str, list[int]] = defaultdict(list)
            for module, line in sorted(set(self._executed)):
                lines[module].append(line)
            took_s = time.process_time() - began
            self.tests[item.nodeid] = Test(self._passed, took_s, dict(lines))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed &= not report.failed


class _Finder(MetaPathFinder):
    """Loads the modules with their probes."""

    def __init__(self, modules: dict[str, str]) -> None:
        self._modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin in self._modules:
            spec.loader = _Loader(name, spec.origin, self._modules[spec.origin])
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, file: str, module: str) -> None:
        super().__init__(name, file)
        self._module = module

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # as it is called
        tree = ast.parse(Path(self.path).read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                _add_probes(node, self._module)
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def _add_probes(node: ast.AST, module: str) -> None:
    """Before each statement in the node's blocks; functions in it have theirs from elsewhere."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            _add_probes(child, module)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            text = block[:1] if _is_text(block[0]) else []  # a function's docstring stays first
            probed = [part for one in block[len(text) :] for part in (_probe(module, one), one)]
            setattr(node, name, text + probed)


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _probe(module: str, statement: ast.stmt) -> ast.stmt:
    position = ast.Tuple([ast.Constant(module), ast.Constant(statement.lineno)], ast.Load())
    call = ast.Expr(ast.Call(ast.Name(_PROBE, ast.Load()), [position], []))
    return ast.copy_location(call, statement)


class Kept:
    """What was recorded earlier, in a file."""

    def __init__(self, file: Path, tree: Path, modules: Iterable[str]) -> None:
        """What was recorded of other modules isn't used."""
        self.modules = sorted(modules)
        self._file, self._tree = file, tree
        kept = json.loads(file.read_text()) if file.exists() else {}
        self._files: dict[str, dict[str, Any]] = (
            kept["files"] if kept.get("modules") == self.modules else {}
        )

    def tests(self, files: Iterable[str]) -> dict[str, Test]:
        """The tests of these files, but for files that have to be recorded again."""
        found = [self._files[name]["tests"] for name in files if self._is_current(name)]
        return {name: Test(**values) for tests in found for name, values in tests.items()}

    def missing(self, files: Iterable[str]) -> list[str]:
        """Those of the files of tests that have to be recorded."""
        return [name for name in files if not self._is_current(name)]

    def add(self, files: Iterable[str], tests: dict[str, Test]) -> None:
        """Keep what was recorded of these files."""
        for file in files:
            its = {name: test for name, test in tests.items() if name.partition("::")[0] == file}
            texts = {file, *(module for test in its.values() for module in test.lines)}
            self._files[file] = {
                "texts": {name: self._hash(name) for name in sorted(texts)},
                "tests": {name: asdict(test) for name, test in its.items()},
            }

    def save(self) -> None:
        """Write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps({"modules": self.modules, "files": self._files}))

    def _is_current(self, file: str) -> bool:
        texts = self._files.get(file, {"texts": {file: None}})["texts"]
        return all(self._hash(name) == text for name, text in texts.items())

    def _hash(self, name: str) -> str | None:
        path = self._tree / name
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def statement(tree: ast.AST, line: int) -> range:
    """The lines of the statement that the line is in, without those of its blocks, if it has any:
    what stands between these, such as `except`, is the statement's."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and _first_line(node) <= line <= (node.end_lineno or line)
    ]
    if not found:
        return range(line, line + 1)
    innermost = max(found, key=lambda node: (_first_line(node), -(node.end_lineno or 0)))
    below = [*getattr(innermost, "body", []), *getattr(innermost, "cases", [])]
    last = innermost.end_lineno or innermost.lineno
    if below:
        start = below[0].pattern if isinstance(below[0], ast.match_case) else below[0]
        last = max(innermost.lineno, start.lineno - 1)
    return range(_first_line(innermost), last + 1)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])

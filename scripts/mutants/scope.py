"""Which modules are changed, and which tests should notice (`scope.toml`)."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

_FEW = 10
"""A module that more tests import is one of many things that each of them needs."""
SCOPE = Path(__file__).with_name("scope.toml")


@dataclass(frozen=True)
class Scope:
    """A group of modules: a folder's, or some of it."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    """What is run for each of them, after the tests that mirror it."""
    others: dict[str, tuple[str, ...]]
    """Further tests of single modules, by their path in the scope's folder, before `tests`."""
    with_folder: bool
    """Whether all other tests in the folder of a module's mirror come last."""
    slow: tuple[str, ...]
    """Patterns of tests that aren't run unless they are named."""


def scopes(tree: Path, file: Path = SCOPE) -> list[Scope]:
    """Every group, its modules found in the tree. Raises `ValueError` for a pattern that finds no
    module, a test that isn't there, and tests of a module that is in no group."""
    contents = tomllib.loads(file.read_text())
    slow = tuple(contents.get("slow", ()))
    return [_scope(tree, entry, slow) for entry in contents["scope"]]


def _scope(tree: Path, entry: dict[str, object], slow: tuple[str, ...]) -> Scope:
    values = {key: value for key, value in entry.items() if isinstance(value, list)}
    name = str(entry["name"])
    modules: set[str] = set()
    for pattern in values["modules"]:
        found = {path.relative_to(tree).as_posix() for path in tree.glob(f"src/{pattern}")}
        if not found:
            raise ValueError(f"No module is called {pattern} ({name}).")
        modules |= found
    for pattern in values.get("without", []):
        modules -= {module for module in modules if fnmatch(module, f"src/{pattern}")}
    named = entry.get("others", {})
    assert isinstance(named, dict)
    others = {f"src/{module}": tuple(tests) for module, tests in named.items()}
    if lost := set(others) - modules:
        raise ValueError(f"No module of {name} is called {', '.join(sorted(lost))}.")
    tests = tuple(values.get("tests", []))
    for test in {*tests, *(test for tests in others.values() for test in tests)}:
        if not (tree / test).exists():
            raise ValueError(f"There is no {test} ({name}).")
    return Scope(
        name, tuple(sorted(modules)), tests, others, entry.get("with_folder") is True, slow
    )


def noticing(tree: Path, scope: Scope, module: str) -> tuple[str, ...]:
    """The files of the tests among which some should notice a change of the module, each once: its
    mirror first, and those last that are many."""
    path = PurePosixPath(module)
    parts = [part for part in path.parts[1:-1] if part != "kernelbot"]
    folder = PurePosixPath("tests", *parts)
    mirror = (folder / f"test_{path.stem}.py").as_posix()
    importing = _importing(tree)[".".join(path.with_suffix("").parts[1:])]
    found = [mirror, *_files(tree, [*scope.others.get(module, ()), *scope.tests])]
    more = importing if len(importing) <= _FEW else []
    if scope.with_folder:
        more = [*more, *_files(tree, [folder.as_posix()])]
    found += [file for file in more if not any(fnmatch(file, slow) for slow in scope.slow)]
    return tuple(test for test in dict.fromkeys(found) if (tree / test).exists())


def _files(tree: Path, names: Iterable[str]) -> list[str]:
    """The tests of these files and folders."""
    found: list[str] = []
    for name in names:
        path = tree / name
        files = sorted(path.glob("**/test_*.py")) if path.is_dir() else [path]
        found += [file.relative_to(tree).as_posix() for file in files]
    return found


@cache
def _importing(tree: Path) -> dict[str, list[str]]:
    """The tests that import a module, by its dotted name."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(tree.glob("tests/**/test_*.py")):
        names: set[str] = set()
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        for name in names:
            found[name].append(file.relative_to(tree).as_posix())
    return found

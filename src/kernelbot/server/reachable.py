"""Which modules the commands of a client can reach, read from the sources' imports.

Imports within functions count as well. What wires a server together is out of reach: the commands
that judge or serve import it, and the environment, only after they have asked for their extra.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_PACKAGE = "kernelbot"
_ENTRIES = ("kernelbot.cli", "kernelbot.client")
_OUT_OF_REACH = ("kernelbot.environment", "kernelbot.server")


def files_of_a_client(root: Path, declared: Iterable[str]) -> frozenset[Path]:
    """The files below `root` that a client needs: modules, and what lies in the folders of their
    packages and isn't a module. `declared`: modules that it finds by entry points. Raises
    `SyntaxError` for one that can't be read."""
    modules = {_name(path, root): path for path in (root / _PACKAGE).rglob("*.py")}
    reached = _reached(modules, (*_ENTRIES, *declared))
    packages = {modules[name].parent for name in reached if modules[name].name == "__init__.py"}
    return frozenset({modules[name] for name in reached} | set(_data(root / _PACKAGE, packages)))


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _reached(modules: Mapping[str, Path], entries: tuple[str, ...]) -> set[str]:
    """The names of all modules that the entries import, whichever way they get there."""
    reached: set[str] = set()
    waiting = [name for name in modules if _is_within(name, entries)]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in modules or _is_within(name, _OUT_OF_REACH):
            continue
        reached.add(name)
        waiting.append(name.rpartition(".")[0])
        waiting.extend(_imported(modules[name]))
    return reached


def _is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _imported(path: Path) -> Iterator[str]:
    """What a module imports: modules, and names in them, which may be modules too."""
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _data(root: Path, packages: set[Path]) -> Iterator[Path]:
    """Files beside the modules, and in folders that are no packages; but for the queries, which
    only a server's stores read."""
    for path in root.rglob("*"):
        owner = next(one for one in path.parents if (one / "__init__.py").is_file())
        is_module = path.suffix == ".py" and path.parent == owner
        if owner in packages and not is_module and path.suffix != ".sql":
            yield path

"""KernelBench: a module with `Model`, `get_inputs` and `get_init_inputs`; submissions define
`ModelNew`."""

import ast
from importlib.resources import files
from pathlib import Path

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.imported import ImportedProblem, SuiteReader, files_below
from kernelbot.catalog.importing.naming import problem_name
from kernelbot.catalog.importing.syntax import (
    definitions,
    docstring,
    needs_arguments,
    parse,
    with_numbers_at_most,
)
from kernelbot.catalog.sources import Checkout

_FUNCTIONS = ("get_inputs", "get_init_inputs")
_WANTED = ("Model", *_FUNCTIONS)
_SEEDS = (42, 43, 44, 45, 46)
_STATEMENT = """\
{about}

Write a class `ModelNew` that computes what `Model` of the starter file computes. It is built once \
from `get_init_inputs()` and called with `get_inputs()`; only its calls are timed.

- Its parameters must come out as those of `Model`: the same seed is set before either is built, \
so create them in the same order and by the same initialisers.
- Outputs may differ from those of `Model` by 0.0001 + 0.0001 of the expected value (0.01 for \
float16 and bfloat16).

Imported from KernelBench.
"""


class KernelBench(SuiteReader):
    """Each module that a folder holds may be a problem."""

    def find(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        root = path if path.is_dir() else path.parent
        return root, files_below(path, "*.py")

    def read(
        self, checkout: Checkout, file: Path, largest: int | None, findings: DefinitionFindings
    ) -> ImportedProblem | None:
        where = file.relative_to(checkout.folder)
        text = checkout.read(str(where), "", None, findings)
        tree = parse(text, findings) if text is not None else None
        if text is None or tree is None:
            return None
        defined = definitions(tree.body)
        if not any(name in defined for name in _WANTED):
            return None
        name = problem_name(where.with_suffix(""), findings)
        _check(defined, findings)
        if findings.errors or name is None:
            return None
        if largest is not None:
            text = with_numbers_at_most(text, largest, _sizes(tree, defined))
        solution = f"{text.rstrip()}\n\n\nModelNew = Model\n"
        return ImportedProblem(
            name=name,
            statement=_STATEMENT.format(about=docstring(defined["Model"]) or f"# {name}"),
            skeleton=files(__package__) / "skeleton",
            files={"kernelbench_model.py": text},
            starter=solution,
            tests=tuple({"seed": seed} for seed in _SEEDS),
            benchmarks=({"seed": _SEEDS[0]},),
            solutions={"model.py": solution},
        )


def _check(
    defined: dict[str, ast.FunctionDef | ast.ClassDef], findings: DefinitionFindings
) -> None:
    for name in _WANTED:
        node = defined.get(name)
        kind: type[ast.AST] = ast.FunctionDef if name in _FUNCTIONS else ast.ClassDef
        if not isinstance(node, kind):
            what = "function" if name in _FUNCTIONS else "class"
            findings.error("", None, f"defines no {what} `{name}`")
        elif isinstance(node, ast.FunctionDef) and needs_arguments(node):
            findings.error("", node.lineno, f"`{name}` must be callable without arguments")


def _sizes(tree: ast.Module, defined: dict[str, ast.FunctionDef | ast.ClassDef]) -> list[ast.AST]:
    """Where a module writes its sizes: what it assigns at the top, and what makes its inputs."""
    assigned: list[ast.AST] = [
        node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    return assigned + [defined[name] for name in _FUNCTIONS]

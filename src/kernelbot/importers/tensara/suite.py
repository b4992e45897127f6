"""Tensara: a folder with def.py, a class derived from `Problem`, and problem.md; submissions define
`solution`."""

import ast
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from kernelbot.catalog import document
from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.imported import ImportedProblem, SuiteReader, files_below
from kernelbot.catalog.importing.naming import problem_name
from kernelbot.catalog.importing.syntax import definitions, parse, with_numbers_at_most
from kernelbot.catalog.sources import Checkout

_DEFINITION, _TEXT, _BASELINE = "def.py", "problem.md", "torch.py"
_CASES = "generate_test_cases"
_WANTED = ("reference_solution", _CASES, "verify_result")
_MAX_CASES = 50
_STATEMENT = """\
{about}

Write a function `solution` as in the starter file. It gets the inputs, then the outputs, filled \
with zeros, then the sizes, and writes into the outputs. Outputs are compared by the problem's own \
`verify_result`.

Imported from Tensara.
"""


class Tensara(SuiteReader):
    """Each folder with a definition may be a problem."""

    def find(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        root = path if path.is_dir() else path.parent
        return root, files_below(path, _DEFINITION)

    def read(
        self, checkout: Checkout, file: Path, largest: int | None, findings: DefinitionFindings
    ) -> ImportedProblem | None:
        where = file.relative_to(checkout.folder)
        text = checkout.read(str(where), "", None, findings)
        tree = parse(text, findings) if text is not None else None
        if text is None or tree is None:
            return None
        name = problem_name(where.parent if where.parts[1:] else Path(file.parent.name), findings)
        about = _about(checkout, where.with_name(_TEXT), findings)
        methods = _methods(tree, findings)
        count = _count(methods[_CASES], findings) if _CASES in methods else 0
        parameters = _parameters(tree, findings)
        if findings.errors or name is None:
            return None
        if largest is not None:
            text = with_numbers_at_most(text, largest, [methods[_CASES]])
        baseline = _baseline(checkout, where.with_name(_BASELINE))
        return ImportedProblem(
            name=name,
            statement=_STATEMENT.format(about=about),
            skeleton=files(__package__) / "skeleton",
            files={"definition.py": text},
            starter=_starter(parameters),
            tests=tuple({"case": case, "seed": 100 + case} for case in range(count)),
            benchmarks=tuple({"case": case, "seed": 1 + case} for case in range(count)),
            solutions={"baseline.py": baseline} if baseline else {},
        )


def _about(checkout: Checkout, file: Path, findings: DefinitionFindings) -> str:
    """The statement: the text below its front matter, with the title from there."""
    inside = DefinitionFindings(str(file))
    text = checkout.read(str(file), "", None, inside)
    findings.errors += inside.errors
    _, _, rest = ("", "", text or "") if text is None else text.partition("---\n")
    front, found, body = rest.partition("\n---\n")
    if text is None or not text.startswith("---\n") or not found:
        return text or ""
    tree, mistakes = document.parse(front, str(file))
    findings.errors += mistakes
    title = tree.value.get("title") if tree and isinstance(tree.value, dict) else None
    head = f"# {title.value}\n\n" if title and isinstance(title.value, str) else ""
    return head + body.strip()


def _methods(tree: ast.Module, findings: DefinitionFindings) -> dict[str, ast.AST]:
    made = _problem_class(tree)
    if made is None:
        findings.error("", None, "defines no class derived from `Problem`")
        return {}
    methods = definitions(made.body)
    for name in _WANTED:
        if not isinstance(methods.get(name), ast.FunctionDef):
            findings.error("", made.lineno, f"`{made.name}` has no method `{name}`")
    return dict(methods)


def _problem_class(tree: ast.Module) -> ast.ClassDef | None:
    derived = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Problem" for base in node.bases)
    ]
    return derived[-1] if derived else None


def _count(method: ast.AST, findings: DefinitionFindings) -> int:
    """How many test cases there are: the product of the lists that the method goes through."""
    lists = {
        node.targets[0].id: len(node.value.elts)
        for node in ast.walk(method)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.List | ast.Tuple)
    }
    gone_through = [
        node.iter for node in ast.walk(method) if isinstance(node, ast.For | ast.comprehension)
    ]
    names = [part.id for part in gone_through if isinstance(part, ast.Name)]
    if not names or len(names) < len(gone_through) or any(name not in lists for name in names):
        line = getattr(method, "lineno", None)
        findings.error("", line, f"`{_CASES}` must go through lists that it writes out")
        return 0
    return min(math.prod(lists[name] for name in names), _MAX_CASES)


def _parameters(tree: ast.Module, findings: DefinitionFindings) -> list[tuple[str, str]]:
    """Names and descriptions of the submission's arguments; empty if the class doesn't say."""
    made = _problem_class(tree)
    assigned = [
        node.value
        for node in (made.body if made else ())
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "parameters"
    ]
    if not assigned:
        return []
    try:
        listed = [
            (str(one["name"]), f"{one['type']}{' pointer' if one['pointer'] else ''}")
            for one in ast.literal_eval(assigned[-1])
        ]
    except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
        findings.error("", assigned[-1].lineno, "`parameters` isn't a list of maps with names")
        return []
    for name, what in listed:
        if not name.isidentifier() or not what.isprintable():
            findings.error("", assigned[-1].lineno, f"{name[:100]!r} can't be an argument's name")
    return listed


def _baseline(checkout: Checkout, file: Path) -> str | None:
    """The suite's own solution in torch, if it gives one."""
    if not (checkout.folder / file).is_file():
        return None
    return checkout.read(str(file), "", None, DefinitionFindings(str(file)))


def _starter(parameters: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(name for name, _ in parameters) or "*arguments"
    lines = "".join(f"    # {name}: {what}\n" for name, what in parameters)
    return f"def solution({names}):\n{lines}    raise NotImplementedError\n"

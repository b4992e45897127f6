"""What a problem's `reference.py` offers, read from its syntax; it is never imported here."""

import ast
from dataclasses import field

from kernelbot.catalog.input_classes import InputClasses, extract
from kernelbot.protocol.late import dataclass

REFERENCE = "reference.py"
TASK = "task.py"


@dataclass(frozen=True)
class Signature:
    """The keyword arguments that `generate_input` takes."""

    accepted: frozenset[str]
    required: frozenset[str]
    any_keyword: bool

    def trouble(self, given: frozenset[str], supplied: frozenset[str]) -> str | None:
        """What is wrong with a case that gives `given`, in one sentence; None if nothing.

        `supplied` are arguments that the harness adds (for several ranks: the rank).
        """
        missing = sorted(self.required - given - supplied)
        unknown = [] if self.any_keyword else sorted(given - self.accepted)
        if missing:
            return f"generate_input needs {_names(missing)}, which the case doesn't give"
        if unknown:
            return f"generate_input doesn't take {_names(unknown)}"
        return None


@dataclass(frozen=True)
class Reference:
    """Facts about a reference: what it defines at its top level, and what inputs it makes."""

    defines: frozenset[str]
    signature: Signature | None
    """None if `generate_input` isn't written as a function in the file itself."""
    own_classes_in_input: tuple[str, ...]
    """Classes of the reference whose instances `generate_input` returns, as far as syntax shows."""
    input_classes: InputClasses = field(default_factory=InputClasses)
    """Their definitions."""


def read_reference(text: str) -> Reference:
    """Raises SyntaxError (also for text that nests too deeply for Python)."""
    tree = _parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    generate = functions.get("generate_input")
    classes = frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    own = _returned_classes(generate, classes) if generate else ()
    return Reference(
        defines=frozenset(_bound_names(tree)),
        signature=_signature(generate) if generate else None,
        own_classes_in_input=own,
        input_classes=extract(text, own) if own else InputClasses(),
    )


def names_module_input(task_text: str) -> bool:
    """Whether `task.py` says that the input holds a `torch.nn.Module`."""
    try:
        tree = _parse(task_text)
    except SyntaxError:
        return False
    for node in tree.body:
        if isinstance(node, ast.Assign) and _targets(node) == ["input_t"]:
            return any(
                getattr(part, "attr", getattr(part, "id", None)) == "Module"
                for part in ast.walk(node.value)
            )
    return False


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or type(error).__name__) from error


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _signature(function: ast.FunctionDef) -> Signature:
    args = function.args
    positional = args.posonlyargs + args.args
    names = [arg.arg for arg in positional]
    required = set(names[: len(names) - len(args.defaults)])
    required |= {
        arg.arg
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is None
    }
    accepted = [arg.arg for arg in args.args + args.kwonlyargs]
    return Signature(frozenset(accepted), frozenset(required), args.kwarg is not None)


def _bound_names(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign):
            names += _targets(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return names


def _targets(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _returned_classes(function: ast.FunctionDef, classes: frozenset[str]) -> tuple[str, ...]:
    made = {
        target: maker
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and (maker := _maker(node.value))
        for target in _targets(node)
    }
    found: list[str] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        parts = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
        for part in parts:
            name = made.get(part.id) if isinstance(part, ast.Name) else _maker(part)
            if name in classes and name not in found:
                found.append(name)
    return tuple(found)


def _maker(node: ast.expr) -> str | None:
    """The name called in `Name(...)`, also when methods are chained to it: `Name(...).to(d)`."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            return node.func.id
        if not isinstance(node.func, ast.Attribute):
            return None
        node = node.func.value
    return None

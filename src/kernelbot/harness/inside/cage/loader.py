"""The problem's own code, loaded: generator, checker, reference."""

import ast
import contextlib
import importlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernelbot.protocol import CaseValue, ProblemSpec, SourceFile

FOLDER_PREFIX = "kernelbot-judge-"
_SHARED_BY_NAME = ("task.py", "utils.py")
_HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inc", ".inl")
_REFERENCE = "reference.py"
_NEVER_SHARED = frozenset({_REFERENCE, "eval.py"})


class ProblemBroken(Exception):
    """The problem's own code failed: never the fault of a submission's author."""


class ProblemFull(ProblemBroken):
    """The device had too little memory for the problem's own code; whose fault that is depends on
    who else has some."""


@contextlib.contextmanager
def blaming_problem(what: str) -> Iterator[None]:
    """Every exception in the block becomes `ProblemBroken`: the problem's `what` failed."""
    try:
        yield
    except (KeyboardInterrupt, ProblemBroken):
        raise
    except BaseException as error:
        raise ProblemBroken(f"The problem's {what} failed: {described(error)}") from error


def described(error: BaseException) -> str:
    """Type and text of an exception of untrusted code, whose text may itself raise."""
    try:
        text = str(error)
    except Exception as second:  # noqa: BLE001 (a stranger's __str__)
        text = f"its text can't be read ({type(second).__name__})"
    return f"{type(error).__name__}: {text}"


@dataclass(frozen=True)
class ProblemFunctions:
    """The functions of `reference.py`. `reference` is None if it offers no `ref_kernel`."""

    generate: Callable[..., Any]
    check: Callable[[Any, Any], Any]
    reference: Callable[[Any], Any] | None
    modules: frozenset[str]
    """Names of the modules whose dataclasses judge and runner both know."""
    contiguous: bool = False
    """Whether the arrays of an output must be row-major."""

    def make_input(self, arguments: Mapping[str, CaseValue], global_seed: int | None) -> Any:
        """Data of one call. `global_seed` seeds the global generators for problems that use them.

        Raises `ProblemBroken`.
        """
        if global_seed is not None:
            _seed_everything(global_seed)
        with blaming_problem("generate_input"):
            return self.generate(**arguments)

    def judge(self, data: Any, output: Any) -> str:
        """The checker's complaint about `output`; empty if it is right.

        Exceptions of the checker are not caught: the caller decides whose fault it was.
        """
        verdict = self.check(data, output)
        if verdict is None:
            return "The problem's checker returned None, which counts as wrong."
        if isinstance(verdict, tuple) and len(verdict) == 2:
            good, message = verdict
            return "" if good else str(message) or "The output is wrong."
        if isinstance(verdict, str):
            return verdict
        return "" if verdict else "The output is wrong."


def shared_files(spec: ProblemSpec) -> tuple[SourceFile, ...]:
    """The files that the runner may see: task, utils, headers, and modules that these import; of
    the reference only the classes of the input.

    Never the anchor: its source would be a good submission.
    """
    by_name = {file.name: file for file in spec.files if file.name != spec.anchor}
    names = [name for name in by_name if name in _SHARED_BY_NAME or name.endswith(_HEADERS)]
    if spec.input_classes:
        by_name[_REFERENCE] = SourceFile(_REFERENCE, spec.input_classes)
        names.append(_REFERENCE)
    python = {name for name in by_name if name.endswith(".py")} - _NEVER_SHARED
    for name in names:
        if name.endswith(".py") and not python <= set(names):  # else reading it tells nothing
            imported = (f"{module}.py" for module in _imports(by_name[name].text))
            names.extend(
                module
                for module in imported
                if module in by_name and module not in _NEVER_SHARED and module not in names
            )
    return tuple(by_name[name] for name in names)


def shared_modules(spec: ProblemSpec) -> frozenset[str]:
    """Names of the modules among the shared files."""
    names = (Path(file.name) for file in shared_files(spec))
    return frozenset(path.stem for path in names if path.suffix == ".py")


@cache
def _imports(source: str) -> tuple[str, ...]:
    """The modules that a source imports. Kept, since a process that judges one job asks a dozen
    times."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    found = list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found.append(node.module)
    return tuple(found)


@contextlib.contextmanager
def loaded(spec: ProblemSpec) -> Iterator[ProblemFunctions]:
    """Import `reference.py` from a private folder, which is removed afterwards.

    Meant for a process that judges one job: imported modules stay. Raises `ProblemBroken`.
    """
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX) as folder:
        for file in spec.files:
            Path(folder, file.name).write_text(file.text, encoding="utf-8")
        sys.dont_write_bytecode = True
        sys.path.insert(0, folder)
        try:
            with contextlib.chdir(folder):
                yield _load(spec)
        finally:
            sys.path.remove(folder)


def _load(spec: ProblemSpec) -> ProblemFunctions:
    try:
        reference = importlib.import_module("reference")
        generate, check = reference.generate_input, reference.check_implementation
        shared = shared_modules(spec)
        for name in sorted(shared):
            importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise ProblemBroken(
            f"The problem's reference.py could not be loaded: {described(error)}" + _advice(error)
        ) from error
    return ProblemFunctions(
        generate=generate,
        check=check,
        reference=getattr(reference, "ref_kernel", None),
        modules=shared,
        contiguous=spec.contiguous,
    )


def _advice(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        # Which package has it, its name doesn't say: one of that name may be somebody else's.
        return f". Where submissions are judged, {error.name.split('.')[0]} must be installed"
    return ""


def _seed_everything(seed: int) -> None:
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)

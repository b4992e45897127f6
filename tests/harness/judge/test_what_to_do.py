"""Every refusal says what its author can do about it."""

import ast
import inspect
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import kernelbot.harness
from kernelbot.harness.timing import plausibility
from kernelbot.harness.words import failures
from kernelbot.harness.words.failures import AuthorFailure, death, refuse
from kernelbot.harness.words.runner_messages import RefusalReason, RequestRefused
from kernelbot.harness.words.sandbox import RunnerExit
from kernelbot.protocol import Limits

HARNESS = Path(kernelbot.harness.__file__).parent
MAKERS = {"AuthorFailure": 1, "Contradiction": 0, "Failure": 1, "returned": 0, "wrong_answer": 0}
"""What makes a refusal, and which of its arguments is the sentence."""
SAID_BY_OTHERS = {
    "judge/build/compile.py": {"message"},  # of `_explain`, tried by name below
    "words/failures.py": {"Starred", "message"},  # of a table, tried by name; `returned` itself
    "judge/native.py": {"error.message", "wrong.message"},
    "judge/result.py": {"JoinedStr"},
    "judge/test_phase.py": {"message", "wrong"},  # the problem's checker
    "judge/script/verdict.py": {"_stopped()", "found.message", "last", "message", "Subscript"},
    "judge/measuring/measure.py": {"found.message"},
    "timing/plausibility.py": {"JoinedStr"},  # of a table, whose advice is tried by name
    "judge/measuring/refusals.py": {"found.message"},
    "judge/measuring/rounds.py": {"JoinedStr"},  # the problem's checker
}
"""Sentences that are made elsewhere, or that a checker, a compiler or a script says."""
ADVICE = re.compile(
    r"(?:^|[.:;] |\n)(?:Allocate|Check|Compute|Copy|Define|Do|End|Join|Keep|Leave|Let|Make|Mend"
    r"|Print|Raise|Read|Return|Send|Use|Wait|Write)\b"
)


def refusals() -> Iterator[tuple[str, ast.expr, dict[str, ast.expr]]]:
    """Each refusal's file, its sentence, and the names that are given values around it."""
    for path in sorted(HARNESS.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        outer = dict(assigned(tree.body))
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            names = outer | dict(assigned(list(ast.walk(function))))
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and is_refusal(call):
                    yield str(path.relative_to(HARNESS)), sentence_of(call), names


def assigned(nodes: list[ast.AST] | list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def is_refusal(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name) or call.func.id not in MAKERS:
        return False
    return call.func.id != "Failure" or "AUTHOR" in ast.dump(call.args[0])


def sentence_of(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Name)
    return call.args[min(MAKERS[call.func.id], len(call.args) - 1)]


def text_of(sentence: ast.expr, names: dict[str, ast.expr], depth: int = 0) -> str:
    """All that it says for certain."""
    parts = []
    for node in ast.walk(sentence):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts.append(node.value)
        elif isinstance(node, ast.Name) and node.id in names and depth < 3:
            parts.append(text_of(names[node.id], names, depth + 1))
    return " ".join(part.strip() for part in parts)


def name_of(sentence: ast.expr) -> str:
    if isinstance(sentence, ast.Name | ast.Attribute):
        return ast.unparse(sentence)
    if isinstance(sentence, ast.Call):
        return f"{ast.unparse(sentence.func)}()"
    return type(sentence).__name__


@pytest.mark.exhaustive
def test_every_refusal_in_the_source_says_what_to_do() -> None:
    silent: dict[str, set[str]] = {}
    for name, sentence, names in refusals():
        if not ADVICE.search(text_of(sentence, names).replace("  ", " ")):
            silent.setdefault(name, set()).add(name_of(sentence))
    assert {name: found - SAID_BY_OTHERS.get(name, set()) for name, found in silent.items()} == {
        name: set() for name in silent
    }
    assert len(list(refusals())) > 25


@pytest.mark.parametrize(
    "why", sorted({*RefusalReason} - {RefusalReason.NOT_COMPILED, RefusalReason.RAISED})
)
def test_what_a_runner_says_of_a_failed_call_does(why: RefusalReason) -> None:
    with pytest.raises(AuthorFailure) as refused:
        refuse(RequestRefused(why, "in line 5"), "The submission failed")
    assert ADVICE.search(refused.value.message)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, 63])
def test_every_signal_does(number: int) -> None:
    ended = RunnerExit(None, number, False, 0.0, False)
    failure = death(ended, Limits())
    assert isinstance(failure, AuthorFailure)
    assert ADVICE.search(failure.message), failure.message


@pytest.mark.parametrize("advice", ["_AFTER", "_BEFORE", "_WITHIN"])
def test_every_charge_by_the_clocks_does(advice: str) -> None:
    assert ADVICE.search(getattr(plausibility, advice))


def test_every_failure_without_an_argument_does() -> None:
    made = [
        function()
        for _, function in inspect.getmembers(failures, inspect.isfunction)
        if inspect.signature(function).return_annotation == AuthorFailure
        and all(
            one.default is not inspect.Parameter.empty
            for one in inspect.signature(function).parameters.values()
        )
    ]
    assert [] == [one.message for one in made if not ADVICE.search(one.message)]
    assert made

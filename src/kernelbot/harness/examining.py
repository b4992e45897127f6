"""The judge's side of a call: its data, and what a right answer is.

A question is one call's data. Most are for one runner; those of several ranks are for as many.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kernelbot.harness.checking import complaint, expected_output
from kernelbot.harness.problem import LoadedProblem, ProblemBroken
from kernelbot.harness.values import Encoded, UnsupportedValue, encode
from kernelbot.protocol import CaseValue


class Question(Protocol):
    """One call's data. Every method raises `ProblemBroken` where the problem's own code fails."""

    @property
    def given(self) -> Any:
        """What a session or a caller takes to the runner."""

    def work_out(self) -> None:
        """Have the reference's answer, so that the output is compared with it in kind."""

    def complaint(self, output: Any) -> str:
        """What is wrong with `output`; empty when nothing is."""


class Examiner(Protocol):
    """Who asks the questions."""

    def ask(self, arguments: Mapping[str, CaseValue], global_seed: int | None) -> Question:
        """The question of `generate_input(**arguments)`. Raises `ProblemBroken`."""


@dataclass
class SoleQuestion:
    """A question for one runner."""

    problem: LoadedProblem
    data: Any
    given: Encoded
    _expected: Any = None

    def work_out(self) -> None:
        """See `Question`."""
        self._expected = expected_output(self.problem, self.data)

    def complaint(self, output: Any) -> str:
        """See `Question`."""
        return complaint(self.problem, self.data, output, self._expected)


@dataclass(frozen=True)
class SoleExaminer:
    """Asks with the problem's code in this process."""

    problem: LoadedProblem

    def ask(self, arguments: Mapping[str, CaseValue], global_seed: int | None) -> SoleQuestion:
        """See `Examiner`."""
        data = self.problem.make_input(arguments, global_seed)
        return SoleQuestion(self.problem, data, encode_input(data, self.problem.modules))


def encode_input(data: Any, modules: frozenset[str]) -> Encoded:
    """Encode what the generator made. Raises `ProblemBroken` where it isn't plain data."""
    try:
        return encode(data, modules, allow_parameters=True)
    except UnsupportedValue as error:
        raise ProblemBroken(
            f"The problem's generate_input returned {error}, which can't be handed to a runner; "
            "set `harness: script`."
        ) from error

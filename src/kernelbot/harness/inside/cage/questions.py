"""Questions: one call's data each, and what a right answer is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kernelbot.harness.data.encode import Encoded, Place, UnsupportedValue, encode
from kernelbot.harness.inside.cage.checking import complaint, expected_output, unlike
from kernelbot.harness.inside.cage.comparison import size_bytes
from kernelbot.harness.inside.cage.kinds import Kinds, kind_of
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFunctions, blaming_problem
from kernelbot.protocol import CaseValue

_ROOM_SHARE = 2
_ROOM_BYTES = 16 << 20


class Question(Protocol):
    """One call's data. Every method raises `ProblemBroken` if the problem's own code fails."""

    @property
    def given(self) -> Any:
        """The data that a session or a caller sends to the runner."""

    def work_out(self) -> None:
        """Compute the reference's answer, so that the output is compared with it in kind."""

    def max_output_bytes(self) -> int | None:
        """The maximum size of a right output; None if unknown, as before `work_out`."""

    def complaint(self, output: Any) -> str:
        """What is wrong with `output`; empty when nothing is."""


@dataclass
class SoleQuestion:
    """A question for one runner."""

    problem: ProblemFunctions
    data: Any
    given: Encoded
    kinds: Kinds = field(default_factory=Kinds)
    """The kinds that right outputs had, of the same arguments but for the seed."""
    _expected: Any = None

    def work_out(self) -> None:
        """Implements `Question`."""
        if self._expected is None:
            self._expected = expected_output(self.problem, self.data)

    def max_output_bytes(self) -> int | None:
        """Implements `Question`."""
        return None if self._expected is None else max_output_bytes(self._expected)

    def complaint(self, output: Any) -> str:
        """Implements `Question`. An output of a kind that hasn't been right before is compared with
        the reference's in any case."""
        kind = kind_of(output)
        if self._expected is None and not self.kinds.has(kind):
            self.work_out()
        found = complaint(self.problem, self.data, output, self._expected)
        if not found and self._expected is not None:
            self.kinds.add(kind)
        return found

    def difference(self, output: Any) -> str:
        """How `output` differs in kind from the reference's answer, which was worked out."""
        return unlike(self.problem, self._expected, output, self.data)


@dataclass(frozen=True)
class SoleExaminer:
    """Makes questions with the problem's code in this process, in which no other code runs."""

    problem: ProblemFunctions
    kinds: dict[str, Kinds] = field(default_factory=dict)
    """By the arguments of questions, without their seeds."""

    def ask(
        self,
        arguments: Mapping[str, CaseValue],
        global_seed: int | None,
        place: Place | None = None,
    ) -> SoleQuestion:
        """The question of `generate_input(**arguments)`. `place`: see `encode`. Raises
        `ProblemBroken`."""
        data = self.problem.make_input(arguments, global_seed)
        given = encode_input(data, self.problem.modules, place)
        shape = repr(sorted((name, arguments[name]) for name in arguments if name != "seed"))
        kinds = self.kinds.setdefault(shape, Kinds())
        return SoleQuestion(self.problem, data, given, kinds)


def max_output_bytes(expected: Any) -> int:
    """The maximum size of a right output: well above the reference's, as sizes may differ."""
    with blaming_problem("reference's output"):
        return _ROOM_SHARE * size_bytes(expected) + _ROOM_BYTES


def encode_input(data: Any, modules: frozenset[str], place: Place | None = None) -> Encoded:
    """Encode what the generator made. Raises `ProblemBroken` if it isn't plain data."""
    with blaming_problem("input"):
        try:
            return encode(data, modules, of_input=True, place=place)
        except UnsupportedValue as error:
            raise ProblemBroken(
                f"The problem's generate_input returned {error}, which can't be sent to a "
                "runner; set `harness: script`."
            ) from error

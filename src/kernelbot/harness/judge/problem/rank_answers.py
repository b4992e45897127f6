"""What the problem's processes said, one for each rank."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFull
from kernelbot.harness.judge.problem.received import close_all
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageReply
from kernelbot.protocol.result_size import MAX_TEXT

R = TypeVar("R", bound=CageReply)


@dataclass(frozen=True)
class RankAnswer(Generic[R]):
    """What one rank's process said; the only one's rank is 0."""

    rank: int
    reply: R
    fds: list[int]

    @property
    def complaint(self) -> str:
        """What is wrong with its rank's output; empty if nothing."""
        reply = self.reply
        return reply.complaint[:MAX_TEXT] if isinstance(reply, messages.OutputCompared) else ""

    @property
    def finds_fault(self) -> bool:
        """Whether it complained or failed, so that the others may wait in vain."""
        return bool(self.complaint) or isinstance(self.reply, messages.ProblemCodeFailed)


def expected(answers: list[RankAnswer[CageReply]], wanted: type[R]) -> list[RankAnswer[R]]:
    """The answers of the wanted kind, without descriptors that weren't asked for. Raises
    `ProblemBroken` if one is of another kind, unless another's complaint explains it."""
    kept: list[RankAnswer[R]] = []
    if wanted not in (messages.Asked, messages.AllAsked):
        for one in answers:
            close_all(one.fds)
    is_explained = any(one.complaint for one in answers)
    for one in answers:
        reply = one.reply
        if isinstance(reply, wanted):
            kept.append(RankAnswer(one.rank, reply, one.fds))
        elif not is_explained:
            raise _failure(reply)
    return kept


def _failure(reply: CageReply) -> ProblemBroken:
    """The failure that a process of the problem's tells of, or saying anything else is one."""
    if not isinstance(reply, messages.ProblemCodeFailed):
        return ProblemBroken(f"The problem's code said what it should not: {reply.word}.")
    kind = ProblemFull if reply.full else ProblemBroken
    return kind(reply.text[:MAX_TEXT])

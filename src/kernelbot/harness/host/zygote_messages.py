"""What the host asks of a judges' zygote, and what that says. Both are trusted."""

from kernelbot.harness.words.message import Message


class ZygoteRequest(Message):
    """What the host says."""


class StartJudge(ZygoteRequest, word="judge"):
    """Have a judge for a job, whose socket comes along."""

    key: str
    undisturbed: bool
    """Whether no judges are forked ahead before this one has ended."""


class KillJudge(ZygoteRequest, word="kill"):
    """End a job's judge."""

    key: str


class ReleaseJudge(ZygoteRequest, word="release"):
    """A job's judge has given its result, and ends by itself."""

    key: str


class AskIfAlive(ZygoteRequest, word="answer"):
    """Answer, so that the host knows that the zygote lives."""


class ZygoteReply(Message):
    """What the zygote says."""


class ZygoteReady(ZygoteReply, word="ready"):
    """Judges can be had."""


class ZygoteAlive(ZygoteReply, word="here"):
    """To `AskIfAlive`."""

"""The enums of the wire. `domain` uses these same enums; there are no others."""

from enum import StrEnum
from typing import Self


class Mode(StrEnum):
    """What the author asked for. `LEADERBOARD` runs test, benchmark and leaderboard phases."""

    TEST = "test"
    BENCHMARK = "benchmark"
    PROFILE = "profile"
    LEADERBOARD = "leaderboard"


class NumberType(StrEnum):
    """Types of floating-point numbers that devices compute with at different speeds."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    FP6 = "fp6"
    FP4 = "fp4"


class Phase(StrEnum):
    """One stage of judging. A phase begins only if every phase before it was accepted."""

    TEST = "test"
    BENCHMARK = "benchmark"
    LEADERBOARD = "leaderboard"
    PROFILE = "profile"


class Verdict(StrEnum):
    """How a finished run, phase or test case ended; from best to worst."""

    words: str
    """The same for people."""

    ACCEPTED = "accepted", "accepted"
    WRONG_ANSWER = "wrong_answer", "wrong answer"
    OUTPUT_LIMIT = "output_limit", "printed too much"
    TIME_LIMIT = "time_limit", "too slow: over the time limit"
    MEMORY_LIMIT = "memory_limit", "over the memory limit"
    RUNTIME_ERROR = "runtime_error", "runtime error"
    COMPILE_ERROR = "compile_error", "does not compile"
    RULE_VIOLATION = "rule_violation", "against the rules"
    INTERNAL_ERROR = "internal_error", "could not be judged"

    def __new__(cls, value: str, words: str = "") -> Self:
        """An entry; `words` have a default only because `Verdict("accepted")` looks one up."""
        verdict = str.__new__(cls, value)
        verdict._value_ = value
        verdict.words = words
        return verdict


class Fault(StrEnum):
    """Whose failure it was: the submission's author's, ours, or the outside scheduler's."""

    AUTHOR = "author"
    PLATFORM = "platform"
    SCHEDULER = "scheduler"


class HarnessKind(StrEnum):
    """`NATIVE`: our judge and runner, apart. `SCRIPT`: the problem's own, unverified."""

    NATIVE = "native"
    SCRIPT = "script"


class Vendor(StrEnum):
    """Who made a device; `CPU` is the host's processor."""

    CPU = "cpu"
    NVIDIA = "nvidia"
    AMD = "amd"


class SandboxMode(StrEnum):
    """`REQUIRED`: without a sandbox nothing is judged. `NONE`: the operator chose to judge without
    one."""

    REQUIRED = "required"
    NONE = "none"

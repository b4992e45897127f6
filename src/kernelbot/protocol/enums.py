"""The enums of the wire. `domain` uses these same enums; there are no others."""

from enum import StrEnum


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
    """How a finished run, phase or test case ended."""

    ACCEPTED = "accepted"
    COMPILE_ERROR = "compile_error"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    RULE_VIOLATION = "rule_violation"
    INTERNAL_ERROR = "internal_error"


class Fault(StrEnum):
    """Whose failure it was: the submission's author's, ours, or the outside scheduler's."""

    AUTHOR = "author"
    PLATFORM = "platform"
    SCHEDULER = "scheduler"


class HarnessKind(StrEnum):
    """`NATIVE`: our judge and runner, apart. `SCRIPT`: the problem's own, unverified."""

    NATIVE = "native"
    SCRIPT = "script"


class Lang(StrEnum):
    """The language of a problem's submissions."""

    PY = "py"
    CPP = "cpp"
    CU = "cu"


class RankRule(StrEnum):
    """How the workloads' scores become one: the last, the arithmetic mean, the geometric mean."""

    LAST = "last"
    MEAN = "mean"
    GEOM = "geom"


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

"""Verdicts, faults and states in words."""

from kernelbot.protocol import Fault, Verdict

TITLES: dict[Verdict, str] = {
    Verdict.ACCEPTED: "accepted",
    Verdict.COMPILE_ERROR: "does not compile",
    Verdict.WRONG_ANSWER: "wrong answer",
    Verdict.RUNTIME_ERROR: "runtime error",
    Verdict.TIME_LIMIT: "too slow: over the time limit",
    Verdict.MEMORY_LIMIT: "over the memory limit",
    Verdict.OUTPUT_LIMIT: "printed too much",
    Verdict.RULE_VIOLATION: "against the rules",
    Verdict.INTERNAL_ERROR: "could not be judged",
}

FAULTS: dict[Fault, str] = {
    Fault.AUTHOR: "The submission's fault.",
    Fault.PLATFORM: "Our fault, not the submission's.",
    Fault.SCHEDULER: "The scheduler's fault, not the submission's.",
}


def mark(verdict: Verdict) -> str:
    """A sign for the verdict, one character wide."""
    if verdict is Verdict.ACCEPTED:
        return "✓"
    return "!" if verdict is Verdict.INTERNAL_ERROR else "✗"

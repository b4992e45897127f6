"""Verdicts, faults and states in words."""

from kernelbot.protocol import Fault, Verdict

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

"""What is wrong with a problem."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ProblemTrouble:
    """A mistake of the problem's author. `evidence`: where it is, several lines, or nothing."""

    message: str
    evidence: str = ""
    is_fatal: bool = True
    """Else it is for the problem's author to judge."""

"""What was found of one part of a node."""

from dataclasses import dataclass


@dataclass(frozen=True)
class VendorFinding:
    """`ok` None: there is nothing of the kind here. `needed`: no job is judged without it."""

    name: str
    ok: bool | None
    needed: bool
    note: str
    """What was found, or what to do."""

    @property
    def sign(self) -> str:
        """For a table."""
        if self.ok:
            return "✓"
        return "✗" if self.needed else "-"

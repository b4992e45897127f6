"""Syncing problems."""

from dataclasses import field
from typing import Annotated

from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import SyncOptions
from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import NO_CONTROL, Name, RequestBody


@dataclass(frozen=True)
class SyncBody(RequestBody):
    """Which repository, and how."""

    repository: Annotated[str, Within(min_length=1, max_length=500, pattern=NO_CONTROL)] | None = (
        field(
            default=None,
            metadata=described(
                "Any URL that git accepts, or owner/name on GitHub. Default: PROBLEMS_REPO."
            ),
        )
    )
    ref: Name | None = field(
        default=None,
        metadata=described("A branch, tag or commit. Default: the repository's own."),
    )
    force: bool = False
    dry_run: bool = False
    problem_set: Name | None = field(
        default=None,
        metadata=described("Only the competition file of this name, without its ending."),
    )
    visibility: Visibility = Visibility.PUBLIC

    def options(self) -> SyncOptions:
        """The options in the services' form."""
        return SyncOptions(self.force, self.dry_run, self.problem_set, self.visibility)

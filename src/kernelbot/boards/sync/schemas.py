"""Syncing problems."""

from pydantic import Field

from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import SyncOptions
from kernelbot.schemas.common import Name, RequestBody


class SyncBody(RequestBody):
    """Which repository, and how."""

    repository: Name | None = Field(
        default=None,
        description="Any URL that git accepts, or owner/name on GitHub. Default: PROBLEMS_REPO.",
        max_length=500,
    )
    ref: Name | None = Field(
        default=None, description="A branch, tag or commit. Default: the repository's own."
    )
    force: bool = False
    dry_run: bool = False
    problem_set: Name | None = Field(
        default=None, description="Only the competition file of this name, without its ending."
    )
    visibility: Visibility = Visibility.PUBLIC

    def options(self) -> SyncOptions:
        """The options in the services' form."""
        return SyncOptions(self.force, self.dry_run, self.problem_set, self.visibility)

"""The files that came out of a submission's runs: profiles, above all."""

from kernelbot.accounts.model import User
from kernelbot.domain.errors import NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.runs.files import RunFile
from kernelbot.store.database import Database
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.access import visible


class ArtifactService:
    """Files are visible to everyone who may see the run's result."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_artifacts(self, viewer: User, submission_id: int) -> list[RunFile]:
        """The artifacts of all runs whose results the viewer may see. Raises `NotFound`,
        `NotAllowed`."""
        async with self._database.read() as session:
            await visible(session, viewer, submission_id)
            secret = views.sees_secret(viewer)
            return await submissions.files(session, submission_id, secret=secret)

    async def get(
        self, viewer: User, submission_id: int, run_id: int, name: str
    ) -> tuple[RunFile, bytes]:
        """An artifact with its content. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            await visible(session, viewer, submission_id)
            secret = views.sees_secret(viewer)
            found = await submissions.file(session, submission_id, run_id, name, secret=secret)
        if found is None:
            raise NotFound(
                f"Submission {submission_id} has no such file.", next_step=Next.LIST_ARTIFACTS
            )
        return found

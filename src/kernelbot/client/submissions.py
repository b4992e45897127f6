"""Submissions, their files, and reviews: one method per route."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kernelbot.client.calls import Request, ask, call, described, download, part, send
from kernelbot.protocol import Mode

if TYPE_CHECKING:
    from kernelbot.runs.samples.schemas import SampleList
    from kernelbot.submissions.answers import HeldList, SubmissionList
    from kernelbot.submissions.artifacts.schemas import ArtifactList
    from kernelbot.submissions.model import SubmissionView
    from kernelbot.submissions.sharing.model import ResultLink


class SubmissionCalls:
    """Part of the clients."""

    @described
    def submit(
        self,
        file_name: str,
        content: bytes,
        *,
        board: str | None = None,
        devices: Sequence[str] = (),
        mode: Mode = Mode.LEADERBOARD,
        late: bool = False,
    ) -> Request[SubmissionView]:
        """Send a file. Its directives decide what was left out. `late`: also past the deadline,
        for admins. Once this returns, the submission is stored and will be judged."""
        from kernelbot.submissions.model import SubmissionView

        fields: dict[str, str | list[str]] = {"mode": mode, "device": list(devices)}
        if board is not None:
            fields["board"] = board
        if late:
            fields["late"] = "true"
        files = {"file": (file_name, content, "application/octet-stream")}
        return call(SubmissionView, "POST", "/submissions", data=fields, files=files)

    @described
    def submission(self, submission_id: int) -> Request[SubmissionView]:
        """One submission with code and results."""
        from kernelbot.submissions.model import SubmissionView

        return ask(SubmissionView, "GET", f"/submissions/{submission_id}")

    @described
    def submissions(
        self,
        *,
        board: str | None = None,
        user: str | None = None,
        everyone: bool = False,
        limit: int = 50,
        before_id: int | None = None,
    ) -> Request[SubmissionList]:
        """The caller's, the newest first; for organisers `everyone`'s on a board, or a `user`'s."""
        from kernelbot.submissions.answers import SubmissionList

        query = {"board": board, "user": user, "limit": limit, "before_id": before_id}
        if everyone:
            query["all"] = "true"
        return ask(SubmissionList, "GET", "/submissions", query=query)

    @described
    def share(self, submission_id: int, *, shows_code: bool = False) -> Request[ResultLink]:
        """Show the result to whoever has the link. For its author."""
        from kernelbot.submissions.sharing.model import ResultLink
        from kernelbot.submissions.sharing.schemas import NewResultLink

        body = NewResultLink(shows_code=shows_code)
        return ask(ResultLink, "PUT", f"/submissions/{submission_id}/link", body=body)

    @described
    def result_link(self, submission_id: int) -> Request[ResultLink]:
        """The link that shows the result."""
        from kernelbot.submissions.sharing.model import ResultLink

        return ask(ResultLink, "GET", f"/submissions/{submission_id}/link")

    @described
    def stop_sharing(self, submission_id: int) -> Request[None]:
        """End the link, if there is one."""
        return send("DELETE", f"/submissions/{submission_id}/link")

    @described
    def cancel(self, submission_id: int) -> Request[SubmissionView]:
        """Stop one that hasn't finished."""
        from kernelbot.submissions.model import SubmissionView

        return call(SubmissionView, "POST", f"/submissions/{submission_id}/cancel")

    @described
    def samples(self, submission_id: int) -> Request[SampleList]:
        """Every sample of a submission that the caller may see."""
        from kernelbot.runs.samples.schemas import SampleList

        return ask(SampleList, "GET", f"/submissions/{submission_id}/samples")

    @described
    def artifacts(self, submission_id: int) -> Request[ArtifactList]:
        """The files of a submission's runs."""
        from kernelbot.submissions.artifacts.schemas import ArtifactList

        return ask(ArtifactList, "GET", f"/submissions/{submission_id}/artifacts")

    @described
    def artifact(self, submission_id: int, run_id: int, name: str, file: Path) -> Request[int]:
        """Write one of them to `file`; returns its size in bytes."""
        path = f"/submissions/{submission_id}/artifacts/{run_id}/{part(name)}"
        return download(path, {}, file)

    @described
    def held(self, board: str | None = None) -> Request[HeldList]:
        """The submissions that wait for the caller's decision."""
        from kernelbot.submissions.answers import HeldList

        return ask(HeldList, "GET", "/reviews", query={"board": board})

    @described
    def release(self, submission_id: int, reason: str) -> Request[SubmissionView]:
        """Let a held or refused submission be ranked."""
        from kernelbot.submissions.model import SubmissionView
        from kernelbot.submissions.schemas import Decision

        path = f"/submissions/{submission_id}/release"
        return ask(SubmissionView, "POST", path, body=Decision(reason=reason))

    @described
    def refuse(self, submission_id: int, reason: str) -> Request[SubmissionView]:
        """Keep a submission from the ranking; its author reads the reason."""
        from kernelbot.submissions.model import SubmissionView
        from kernelbot.submissions.schemas import Decision

        path = f"/submissions/{submission_id}/refuse"
        return ask(SubmissionView, "POST", path, body=Decision(reason=reason))

"""What organisers ask of a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from kernelbot.client.bodies import document_of
from kernelbot.client.calls import Request, call, described, download, part

if TYPE_CHECKING:
    from kernelbot.boards.model import NamedBoard
    from kernelbot.boards.sync.model import SyncOptions, SyncOutcome
    from kernelbot.moderation.deletion.schemas import Deleted
    from kernelbot.platform.exports.model import Exported
    from kernelbot.platform.statistics.model import Statistics

_SYNC_S = 300.0


class OrganiserCalls:
    """One method per route. Part of what `organise` of a client is."""

    @described
    def export(self, boards: Sequence[str], file: Path) -> Request[int]:
        """Write a file of these boards (none: all), Parquet or CSV by its name's ending; returns
        its size in bytes. Also raises `UserError` for another ending."""
        from kernelbot.platform.exports.model import format_of

        params = {"board": list(boards), "format": [str(format_of(file.name))]}
        return download("/exports", params, file)

    @described
    def export_to_hub(
        self, boards: Sequence[str], name: str, *, private: bool
    ) -> Request[Exported]:
        """Make the server upload it under this name."""
        from kernelbot.platform.exports.model import Exported
        from kernelbot.platform.exports.schemas import HubBody

        body = document_of(HubBody(boards=tuple(boards), name=name, private=private))
        return call(Exported, "POST", "/exports/hub", json=body, timeout=_SYNC_S)

    @described
    def reveal_code(self, board: str, wanted: bool) -> Request[NamedBoard]:
        """Whether everyone who sees the board may read its code after the deadline."""
        from kernelbot.boards.model import NamedBoard

        path = f"/boards/{part(board)}"
        return call(NamedBoard, "PATCH", path, json={"reveal_code": wanted})

    @described
    def fix_seed(self, board: str, wanted: bool) -> Request[NamedBoard]:
        """Whether all of the board's secret runs share one seed."""
        from kernelbot.boards.model import NamedBoard

        path = f"/boards/{part(board)}"
        return call(NamedBoard, "PATCH", path, json={"fixed_seed": wanted})

    @described
    def refuse_unavailable(self, board: str, wanted: bool) -> Request[NamedBoard]:
        """Whether submissions for a device that takes no jobs are refused; else they wait."""
        from kernelbot.boards.model import NamedBoard

        path = f"/boards/{part(board)}"
        return call(NamedBoard, "PATCH", path, json={"refuse_unavailable": wanted})

    @described
    def try_on_cpu(self, board: str, wanted: bool) -> Request[NamedBoard]:
        """Whether tests are also taken for processors that the board doesn't offer."""
        from kernelbot.boards.model import NamedBoard

        path = f"/boards/{part(board)}"
        return call(NamedBoard, "PATCH", path, json={"try_on_cpu": wanted})

    @described
    def delete_board(self, name: str, *, force: bool = False) -> Request[Deleted]:
        """Delete a board; with `force` also one that has submissions."""
        from kernelbot.moderation.deletion.schemas import Deleted

        return call(
            Deleted, "DELETE", f"/boards/{part(name)}", params={"force": str(force).lower()}
        )

    @described
    def delete_submission(self, submission_id: int) -> Request[Deleted]:
        """Delete one submission."""
        from kernelbot.moderation.deletion.schemas import Deleted

        return call(Deleted, "DELETE", f"/submissions/{submission_id}")

    @described
    def delete_submissions_of(self, board: str, user: str) -> Request[Deleted]:
        """Delete all submissions of one person on a board."""
        from kernelbot.moderation.deletion.schemas import Deleted

        path = f"/boards/{part(board)}/submissions"
        return call(Deleted, "DELETE", path, params={"user": user})

    @described
    def delete_user(self, user_id: int | None, *, force: bool = False) -> Request[Deleted]:
        """Delete an account (None: the caller's); with `force` also one that has submissions."""
        from kernelbot.moderation.deletion.schemas import Deleted

        who = "me" if user_id is None else user_id
        return call(Deleted, "DELETE", f"/users/{who}", params={"force": str(force).lower()})

    @described
    def sync(
        self, repository: str | None, ref: str | None, options: SyncOptions
    ) -> Request[SyncOutcome]:
        """Sync problems from a repository; None: the server's default one."""
        from kernelbot.boards.sync.model import SyncOutcome
        from kernelbot.boards.sync.schemas import SyncBody

        body = SyncBody(
            repository=repository,
            ref=ref,
            force=options.force,
            dry_run=options.dry_run,
            problem_set=options.problem_set,
            visibility=options.visibility,
        )
        return call(SyncOutcome, "POST", "/sync", json=document_of(body), timeout=_SYNC_S)

    @described
    def sync_archive(
        self, name: str, archive: IO[bytes], options: SyncOptions
    ) -> Request[SyncOutcome]:
        """Sync problems from an archive."""
        from kernelbot.boards.sync.model import SyncOutcome

        fields = {
            "force": str(options.force).lower(),
            "dry_run": str(options.dry_run).lower(),
            "visibility": options.visibility.value,
        }
        if options.problem_set is not None:
            fields["problem_set"] = options.problem_set
        files = {"file": (name, archive, "application/octet-stream")}
        return call(SyncOutcome, "POST", "/sync/archive", data=fields, files=files, timeout=_SYNC_S)

    @described
    def statistics(
        self, board: str | None = None, *, last_day: bool = False
    ) -> Request[Statistics]:
        """How much was submitted and judged. `board` None: everywhere."""
        from kernelbot.platform.statistics.model import Statistics

        params = {"last_day": str(last_day).lower()} | ({"board": board} if board else {})
        return call(Statistics, "GET", "/stats", params=params)

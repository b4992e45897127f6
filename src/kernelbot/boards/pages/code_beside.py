"""The code of one who is ranked, beside the ranking, for those who may read it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from kernelbot.accounts.model import User
from kernelbot.domain.errors import NotAuthenticated, NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.drawing.texts import Texts
from kernelbot.ranking.model import Standing
from kernelbot.ranking.service import RankingVersion
from kernelbot.services import Services
from kernelbot.submissions.code_visibility import may_read_code
from kernelbot.web import documents

_SHOWN_CHARACTERS = 12_000


@dataclass(frozen=True)
class Neighbour:
    """One who is ranked just before or after. `offset`: of the page that has them."""

    standing: Standing
    offset: int


@dataclass(frozen=True)
class ShownCode:
    """A submission's code. `standing`: its row; None: it isn't ranked on the page that is shown,
    and has no neighbours then. `is_cut`: whether only its beginning is shown."""

    submission_id: int
    author: str
    file_name: str
    source: Markup
    is_cut: bool
    standing: Standing | None
    before: Neighbour | None
    after: Neighbour | None


def may_read_all(viewer: User | None, ranking: RankingVersion) -> bool:
    """Whether the viewer, who sees the board, may read everybody's code on it."""
    now = datetime.now(UTC)
    return may_read_code(viewer, ranking.board, ranking.organiser_id, now, author_id=None)


async def load_shown_code(
    services: Services,
    texts: Texts,
    viewer: User | None,
    ranking: RankingVersion,
    submission_id: int,
    *,
    offset: int,
    rows: int,
) -> ShownCode:
    """The code of a submission to the board, with its neighbours in the ranking. `offset` and
    `rows`: the page that is shown. Raises `NotAuthenticated`, `NotFound`, `NotAllowed`."""
    if viewer is None:
        raise NotAuthenticated("Code is for those who are logged in.", next_step=Next.LOG_IN)
    submission = await services.submissions.get(viewer, submission_id)
    if submission.board != ranking.board.name or submission.code is None:
        raise NotFound(f"Board {ranking.board.name!r} has no submission {submission_id}.")
    shown = documents.excerpt(submission.code, _SHOWN_CHARACTERS)
    source = await documents.source(texts, shown, submission.file_name, asker=viewer.id)
    before, own, after = await _around(services, ranking, submission_id, offset, rows)
    return ShownCode(
        submission_id,
        submission.author,
        submission.file_name,
        source,
        len(shown) < len(submission.code),
        own,
        before,
        after,
    )


async def _around(
    services: Services, ranking: RankingVersion, submission_id: int, offset: int, rows: int
) -> tuple[Neighbour | None, Standing | None, Neighbour | None]:
    """The row of a submission on a page, and those before and after it, which may be on the pages
    beside it."""
    start = max(offset - 1, 0)
    read = (
        await services.standings.page_of(ranking, limit=offset - start + rows + 1, offset=start)
    ).standings
    index = next((at for at, row in enumerate(read) if row.submission_id == submission_id), None)
    if index is None:
        return None, None, None

    def neighbour(at: int) -> Neighbour | None:
        if not 0 <= at < len(read):
            return None
        position = start + at
        page = offset
        if position < offset:
            page = max(offset - rows, 0)
        elif position >= offset + rows:
            page = offset + rows
        return Neighbour(read[at], page)

    return neighbour(index - 1), read[index], neighbour(index + 1)

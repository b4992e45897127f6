"""Pages of submissions, of which most are as they were the last time."""

from collections.abc import Callable
from functools import partial

from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.schemas.values import to_json
from kernelbot.submissions.lists import SubmissionLists
from kernelbot.submissions.model import ListedSubmission, Submission, SubmissionView


async def listed_json(
    lists: SubmissionLists,
    page: list[ListedSubmission],
    kept: VersionedCache[int, bytes],
    encoded: Callable[[Submission], bytes] = partial(to_json, SubmissionView),
) -> list[bytes]:
    """Each of a page as JSON; only what has changed is read and rendered."""
    entries = {one.id: kept.get(one.id, one) for one in page}
    changed = [one for one in page if entries[one.id] is None]
    for one, submission in await lists.shown(changed):
        entry = encoded(submission)
        kept.keep(one.id, one, entry)
        entries[one.id] = entry
    return [entry for entry in entries.values() if entry is not None]

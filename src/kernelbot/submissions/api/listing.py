"""Pages of submissions, of which most are as they were the last time."""

from collections.abc import Callable

from pydantic import BaseModel

from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.submissions.lists import SubmissionLists
from kernelbot.submissions.model import ListedSubmission, Submission


async def listed_json(
    lists: SubmissionLists,
    page: list[ListedSubmission],
    kept: VersionedCache[int, bytes],
    shown: Callable[[Submission], BaseModel],
) -> list[bytes]:
    """Each of a page as JSON; only what has changed is read and rendered."""
    entries = {one.id: kept.get(one.id, one) for one in page}
    changed = [one for one in page if entries[one.id] is None]
    for one, submission in await lists.shown(changed):
        entry = shown(submission).model_dump_json().encode()
        kept.keep(one.id, one, entry)
        entries[one.id] = entry
    return [entry for entry in entries.values() if entry is not None]

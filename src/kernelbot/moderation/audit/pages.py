"""The log of what organisers did. For admins."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.web.organisers import HOME, AdminPage, Word, filled

router = APIRouter(prefix=HOME, include_in_schema=False)

ROWS = 50


@router.get("/audit")
async def show_log(
    page: AdminPage,
    subject: Word = "",
    actor: Word = "",
    action: Word = "",
    before: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> Response:
    """Entries that the fields ask for, the newest first."""
    asked = {"subject": filled(subject), "actor": filled(actor), "action": filled(action)}
    entries = await page.services.audit.list_entries(
        page.user, **asked, before_id=before, limit=ROWS + 1
    )
    return page(
        "organise/audit.html",
        tab="audit",
        entries=entries[:ROWS],
        asked={key: value for key, value in asked.items() if value},
        before=before,
        next_before=entries[ROWS - 1].id if len(entries) > ROWS else None,
    )

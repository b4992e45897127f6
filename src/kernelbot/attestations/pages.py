"""A submission's signed document, for browsers."""

from fastapi import APIRouter, Response

from kernelbot.api.dependencies import SubmissionId
from kernelbot.attestations.answers import SignedDocument
from kernelbot.attestations.service import Attestations
from kernelbot.schemas.values import to_json
from kernelbot.web.pages import HEADERS, PersonPage

router = APIRouter(prefix="/submission", include_in_schema=False)


@router.get("/{submission_id}/signed")
async def download_signed(page: PersonPage, submission_id: SubmissionId) -> Response:
    """Its results as a signed document, which `kernelbot verify` checks."""
    document = await page.services.extension(Attestations).for_submission(page.user, submission_id)
    headers = {
        **HEADERS,
        "Content-Disposition": f'attachment; filename="submission-{submission_id}.json"',
        "Cache-Control": "no-store",
    }
    content = to_json(SignedDocument, document, indent=2) + b"\n"
    return Response(content, media_type="application/json", headers=headers)

"""A submission's signed document, for browsers."""

from fastapi import APIRouter, Response

from kernelbot.api.dependencies import ServicesDep, SubmissionId
from kernelbot.attestations.service import Attestations
from kernelbot.web.pages import HEADERS
from kernelbot.web.session import NeededSession

router = APIRouter(prefix="/submission", include_in_schema=False)


@router.get("/{submission_id}/signed")
async def download_signed(
    services: ServicesDep, session: NeededSession, submission_id: SubmissionId
) -> Response:
    """Its results as a signed document, which `kernelbot verify` checks."""
    document = await services.extension(Attestations).for_submission(session.user, submission_id)
    headers = {
        **HEADERS,
        "Content-Disposition": f'attachment; filename="submission-{submission_id}.json"',
        "Cache-Control": "no-store",
    }
    content = document.model_dump_json(by_alias=True, indent=2) + "\n"
    return Response(content, media_type="application/json", headers=headers)

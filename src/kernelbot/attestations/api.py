"""Results as signed documents, and the keys that sign them."""

from fastapi import APIRouter

from kernelbot.api.dependencies import PUBLIC, MaybeViewer, ServicesDep, SubmissionId, Viewer
from kernelbot.api.errors import documented
from kernelbot.attestations.answers import SignedDocument, SigningKeyList
from kernelbot.attestations.service import Attestations

router = APIRouter(tags=["attestations"])


@router.get(
    "/submissions/{submission_id}/attestation", responses=documented(401, 403, 404, 409, 422, 503)
)
async def attest_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> SignedDocument:
    """Its finished runs as one signed document; `kernelbot verify` checks it without a server."""
    return await services.extension(Attestations).for_submission(viewer, submission_id)


@router.get("/signing-keys", responses=documented(401, 503), openapi_extra=PUBLIC)
async def list_signing_keys(services: ServicesDep, _viewer: MaybeViewer) -> SigningKeyList:
    """All public keys that have signed documents here, the newest first: to compare with a
    document's. None: nothing was signed yet."""
    return SigningKeyList(keys=await services.extension(Attestations).keys())


@router.post("/signing-keys", responses=documented(401, 403, 503))
async def replace_signing_key(services: ServicesDep, viewer: Viewer) -> SigningKeyList:
    """Sign by a new key from now on. The old one's private part is deleted; what it has signed
    stays valid. For admins."""
    return SigningKeyList(keys=await services.extension(Attestations).replace_key(viewer))

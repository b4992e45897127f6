"""Results as signed documents, and the keys that sign them."""

import base64

from fastapi import APIRouter

from kernelbot.api.dependencies import PUBLIC, MaybeViewer, ServicesDep, SubmissionId, Viewer
from kernelbot.api.errors import documented
from kernelbot.attestations.model import SigningKey
from kernelbot.attestations.schemas import SignedDocument, SigningKeyList, SigningKeyView

router = APIRouter(tags=["attestations"])


@router.get(
    "/submissions/{submission_id}/attestation",
    responses=documented(401, 403, 404, 409, 422, 503),
)
async def attest_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> SignedDocument:
    """Its finished runs as one signed document; `kernelbot verify` checks it without a server."""
    return await services.attestations.of(viewer, submission_id)


@router.get("/signing-keys", responses=documented(401, 503), openapi_extra=PUBLIC)
async def list_signing_keys(services: ServicesDep, _viewer: MaybeViewer) -> SigningKeyList:
    """All public keys that have signed documents here, the newest first: to compare with a
    document's. None: nothing was signed yet."""
    return _shown(await services.attestations.keys())


@router.post("/signing-keys", responses=documented(401, 403, 503))
async def replace_signing_key(services: ServicesDep, viewer: Viewer) -> SigningKeyList:
    """Sign by a new key from now on. The old one's private part is deleted; what it has signed
    stays valid. For admins."""
    return _shown(await services.attestations.replace_key(viewer))


def _shown(keys: list[SigningKey]) -> SigningKeyList:
    return SigningKeyList(
        keys=[
            SigningKeyView(
                key_id=key.key_id,
                public_key=base64.b64encode(key.public_key).decode(),
                created_at=key.created_at,
                retired_at=key.retired_at,
            )
            for key in keys
        ]
    )

"""The asker's own tokens."""

from typing import Annotated

from fastapi import APIRouter, Path

from kernelbot.accounts.tokens.answers import TokenList
from kernelbot.accounts.tokens.model import IssuedToken, Token
from kernelbot.accounts.tokens.schemas import NewTokenRequest
from kernelbot.api.dependencies import ServicesDep, Shown, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX

router = APIRouter(prefix="/tokens", tags=["tokens"])


@router.get("", responses=documented(401, 503))
async def list_tokens(services: ServicesDep, viewer: Viewer) -> TokenList:
    """The asker's tokens, and the sessions of their browsers, without their texts, the newest
    first."""
    return TokenList(tokens=await services.tokens.list_tokens(viewer))


@router.post("", status_code=201, responses=documented(400, 401, 403, 409, 413, 422, 503))
async def create_token(
    services: ServicesDep, viewer: Viewer, credential: Shown, body: NewTokenRequest
) -> IssuedToken:
    """Create a token, whose text is in this answer only. It ends with the token that makes it."""
    return await services.tokens.create(
        viewer, body.name, expires_at=body.expires_at, made_with=credential
    )


@router.delete("/{token_id}", responses=documented(401, 404, 422, 503))
async def revoke_token(
    services: ServicesDep, viewer: Viewer, token_id: Annotated[int, Path(ge=1, le=BIGINT_MAX)]
) -> Token:
    """Revoke a token, or end a browser's session: from now on it is invalid, with all that was
    made with it."""
    return await services.tokens.revoke(viewer, token_id)

"""`popcorn register`: why it can't work against this host, and what does."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse

from kernelbot.api.dependencies import SettingsDep
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.domain.errors import UserError

router = APIRouter(prefix="/auth", tags=["popcorn"], route_class=PopcornRoute)

PROVIDERS = ("discord", "github")
INSTRUCTIONS = """\
This server can't finish a login that popcorn-cli begins: the client always sends people to the
login page of another host. Get a token here instead, and put it where the client looks for it.

  1. Get a token. In a browser:   {base}/auth/account
     with our own client:   kernelbot login {base} --github   (or --discord)
     or ask the organiser, who makes one with   kernelbot user create NAME
  2. Write it to ~/.popcorn.yaml as one line:   cli_id: YOUR_TOKEN
  3. Carry on:   POPCORN_API_URL={base} popcorn submit your_file.py
"""


@router.get(
    "/init",
    status_code=409,
    response_model=None,
    responses={**ERRORS, 409: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def popcorn_login(
    request: Request,
    settings: SettingsDep,
    provider: Annotated[str, Query(description="discord or github")],
) -> PlainTextResponse:
    """Always refused, in plain text that the client prints as it is: how to log in here."""
    if provider not in PROVIDERS:
        raise UserError(f"There is no login with {provider!r}.", hint="Use discord or github.")
    base = settings.base_url(request)
    return PlainTextResponse(INSTRUCTIONS.format(base=base), status_code=409)

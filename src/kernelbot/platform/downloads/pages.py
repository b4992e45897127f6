"""What people fetch from this server: its client, and the harness for machines that they lend."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.platform.distribution import DISTRIBUTION, install_command, wheel_url
from kernelbot.platform.downloads.service import HARNESS_NAME
from kernelbot.web.pages import PageDep

router = APIRouter(include_in_schema=False)

Sha256 = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]

_MAY_CHANGE = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
"""Headers of what another release of this server has under the same address."""
_FOR_EVER = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/client/")
async def client_page(request: Request, page: PageDep, settings: SettingsDep) -> Response:
    """How the client is installed. Installers can read its link as an index's (PEP 503)."""
    server = settings.base_url(request)
    return page(
        "client.html",
        wheel=await page.services.downloads.client(),
        distribution=DISTRIBUTION,
        url=wheel_url(server),
        command=install_command(server),
        judging=install_command(server, "judge"),
        server=server,
    )


@router.get("/client/{name}")
async def client_wheel(
    services: ServicesDep, name: Annotated[str, Path(max_length=200)]
) -> Response:
    found = await services.downloads.wheel(name)
    return Response(found.content, media_type="application/zip", headers=_MAY_CHANGE)


@router.get("/harness/")
async def harness_page(request: Request, page: PageDep, settings: SettingsDep) -> Response:
    """What whoever lends a machine needs: the harness with its hash, the image, whom to ask."""
    server = settings.base_url(request)
    harness = await page.services.downloads.harness()
    return page(
        "vendors.html",
        harness=harness,
        url=f"{server}/harness/{harness.sha256}/{HARNESS_NAME}",
        notes=settings.vendors,
        judging=install_command(server, "judge"),
    )


@router.get("/harness/SHA256SUMS")
async def harness_sums(services: ServicesDep) -> Response:
    """The harness's hash, as `sha256sum --check` reads it."""
    harness = await services.downloads.harness()
    line = f"{harness.sha256}  {harness.name}\n"
    return Response(line, media_type="text/plain", headers=_MAY_CHANGE)


@router.get(f"/harness/{{sha256}}/{HARNESS_NAME}")
async def harness_file(services: ServicesDep, sha256: Sha256) -> Response:
    found = await services.downloads.harness(sha256)
    return Response(found.content, media_type="application/zip", headers=_FOR_EVER)

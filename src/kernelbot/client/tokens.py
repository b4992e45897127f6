"""By which token a client says who asks."""

from typing import Protocol

from kernelbot.client.endpoint import Endpoint, find_local_server
from kernelbot.domain.errors import UserError

NOT_AUTHENTICATED = 401


class TokenSource(Protocol):
    """Where the token of each request is from."""

    def token(self) -> str | None:
        """The one to send; None: nobody asks by name."""

    def is_renewed(self, sent: str | None) -> bool:
        """Whether there is another one than that which was sent and refused."""


class OwnToken:
    """One that somebody was given. Raises `UserError` for what no header can hold."""

    def __init__(self, token: str | None) -> None:
        credentials(token)
        self._token = token

    def token(self) -> str | None:
        """The token that was given."""
        return self._token

    def is_renewed(self, _sent: str | None) -> bool:
        """Never."""
        return False


class LocalToken:
    """The token that a `kernelbot serve` of this account left. It ends with that process: one
    that was killed and comes back leaves another. So a request that is refused for its token is
    sent once more with the new one, if there is any; a server has done nothing of the first."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._url = endpoint.url
        self._token = endpoint.token

    def token(self) -> str | None:
        """The one that was left last."""
        return self._token

    def is_renewed(self, sent: str | None) -> bool:
        """Looks for it: another request's refusal may have renewed it meanwhile."""
        server = find_local_server(self._url)
        if server is None or server.token == sent:
            return False
        self._token = server.token
        return True


def credentials(token: str | None) -> dict[str, str]:
    """The header that says who asks. Raises `UserError` for what no header can hold."""
    if not token:
        return {}
    if not (token.isascii() and token.isprintable()):
        raise UserError(
            "This can't be a token: it contains characters that no token has.",
            hint="See KERNELBOT_TOKEN, or log in again.",
        )
    return {"Authorization": f"Bearer {token}"}

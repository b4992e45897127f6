"""Requests by httpx: awaited ones, and those that pass a proxy."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from kernelbot.client.answers import (
    misconfigured,
    no_url,
    packed_wrongly,
    unreachable,
    unsendable,
)
from kernelbot.client.tokens import NOT_AUTHENTICATED, TokenSource, credentials
from kernelbot.protocol.loopback import is_loopback

if TYPE_CHECKING:  # what a command has no use for isn't loaded for it
    import ssl


class OverHttpx:
    """Sends requests by httpx, and waits."""

    def __init__(
        self,
        url: str,
        tokens: TokenSource,
        timeout_s: float,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self._url = url
        with connecting(url):
            self._http = httpx.Client(
                base_url=url,
                auth=Credentials(tokens),
                verify=trusted(url),
                trust_env=not is_loopback(url),
                timeout=timeout_s,
                transport=transport,
            )

    def request(self, method: str, path: str, **content: Any) -> httpx.Response:
        """The whole answer."""
        with talking(self._url):
            return self._http.request(method, path, **content)

    @contextmanager
    def stream(self, method: str, path: str, **content: Any) -> Iterator[httpx.Response]:
        """The answer, which is read in the block."""
        with talking(self._url), self._http.stream(method, path, **content) as response:
            yield response

    def close(self) -> None:
        """Ends all connections."""
        self._http.close()


class Credentials(httpx.Auth):
    """Has httpx say who asks, and once more if the token was replaced meanwhile."""

    def __init__(self, tokens: TokenSource) -> None:
        self._tokens = tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """What httpx is to send for a request."""
        sent = self._tokens.token()  # another request may renew it while this one is under way
        request.headers.update(credentials(sent))
        answer = yield request
        if answer.status_code == NOT_AUTHENTICATED and self._tokens.is_renewed(sent):
            request.headers.update(credentials(self._tokens.token()))
            yield request


def trusted(url: str) -> "ssl.SSLContext | bool":
    """What httpx is to believe a server by (`verify`). Reading the certificates of all authorities
    takes longer than a command does. So for a server without encryption there are none: what is
    encrypted would be refused."""
    if url.lower().startswith("https:"):
        # For this machine httpx isn't to look for proxies in the environment, nor for authorities.
        return httpx.create_ssl_context() if is_loopback(url) else True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@contextmanager
def connecting(url: str) -> Iterator[None]:
    """The same as `talking`, where httpx reads what the environment says about proxies and
    authorities: what it can't use is raised as `UserError`."""
    with talking(url):
        try:
            yield
        except UnicodeEncodeError:  # of the URL
            raise
        except (ImportError, ValueError, OSError) as error:
            raise misconfigured(url, error) from error


@contextmanager
def talking(url: str) -> Iterator[None]:
    """What goes wrong with the connection in this block is raised as `Unreachable`, an answer that
    isn't packed as it says as `BadAnswer`, and what can't be sent as `UserError`."""
    try:
        yield
    except httpx.TransportError as error:
        raise unreachable(url, error) from error
    except httpx.DecodingError as error:
        raise packed_wrongly(url, error) from error
    except httpx.InvalidURL as error:
        raise no_url(url, error) from error
    except UnicodeEncodeError as error:
        raise unsendable(error) from None

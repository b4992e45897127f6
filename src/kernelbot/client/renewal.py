"""The token of a server of this account, after that server has started again."""

from collections.abc import Generator

import httpx

from kernelbot.client.answers import credentials
from kernelbot.client.endpoint import Endpoint, find_local_server

_NOT_AUTHENTICATED = 401


class LocalToken(httpx.Auth):
    """Sends the token that a `kernelbot serve` of this account left. It ends with that process: one
    that was killed and comes back leaves another. So a request that is refused for its token is
    sent once more with the new one, if there is any; a server has done nothing of the first."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._url = endpoint.url
        self._token = endpoint.token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """What httpx is to send for a request."""
        sent = self._token  # another request's refusal may renew it while this one is under way
        request.headers.update(credentials(sent))
        answer = yield request
        if answer.status_code != _NOT_AUTHENTICATED:
            return
        server = find_local_server(self._url)
        if server is not None and server.token != sent:
            self._token = server.token
            request.headers.update(credentials(self._token))
            yield request

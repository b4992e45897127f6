"""Requests over one connection of the standard library's: without a proxy no more is needed.

To load httpx and what it loads takes longer than most commands of the terminal take.
"""

import http.client
import os
import re
import select
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from kernelbot import __version__
from kernelbot.client.answers import misconfigured, packed_wrongly, unreachable, unsendable
from kernelbot.client.bodies import Body, body_of, plain_pairs
from kernelbot.client.tokens import NOT_AUTHENTICATED, TokenSource, credentials
from kernelbot.protocol.loopback import is_loopback

if TYPE_CHECKING:  # loaded for a server with encryption
    import ssl

_PIECE_BYTES = 65536
_GZIP = zlib.MAX_WBITS | 16
_IN_PATHS = "/%:@!$&'()*+,;=~"
_PLAIN = re.compile(r"[!-~]+")


class Answer:
    """An answer of which the head has come. `content` is all of it, once it was read."""

    def __init__(self, received: http.client.HTTPResponse, url: str) -> None:
        self.status_code = received.status
        self.reason_phrase = received.reason or http.client.responses.get(received.status, "")
        self.headers = received.headers
        self.content = b""
        self.is_complete = False
        """Whether all of it was read: else nothing else can be read of its connection."""
        self._received = received
        self._url = url
        packed = (received.headers["Content-Encoding"] or "").strip().lower() == "gzip"
        self._unpacking = zlib.decompressobj(_GZIP) if packed else None

    @property
    def is_success(self) -> bool:
        """Whether the server did what it was asked."""
        return 200 <= self.status_code < 300

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode("utf-8", "replace")

    def read(self) -> bytes:
        """The rest of the answer."""
        self.content = b"".join(self.iter_bytes())
        return self.content

    def iter_bytes(self) -> Iterator[bytes]:
        """The rest of the answer in pieces, as they come."""
        while piece := self._received.read1(_PIECE_BYTES):
            yield self._unpacked(piece)
        if self._received.length:
            raise http.client.IncompleteRead(b"", self._received.length)
        self.is_complete = True

    def close(self) -> None:
        """Nothing is read of it any more."""
        self._received.close()

    def _unpacked(self, piece: bytes) -> bytes:
        if self._unpacking is None:
            return piece
        try:
            return self._unpacking.decompress(piece)
        except zlib.error as error:
            raise packed_wrongly(self._url, error) from error


class Direct:
    """Asks one server, one request after another."""

    def __init__(self, url: str, tokens: TokenSource, timeout_s: float) -> None:
        self._url = url
        self._tokens = tokens
        self._timeout_s = timeout_s
        self._path = quote(urlsplit(url).path.rstrip("/"), safe=_IN_PATHS)
        self._connection = _connection(url)

    def request(self, method: str, path: str, **content: Any) -> Answer:
        """The whole answer."""
        with self.stream(method, path, **content) as answer:
            answer.read()
        return answer

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, Any] | None = None,
        json: object = None,
        data: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Answer]:
        """The answer, which is read in the block. What goes wrong is raised as `Unreachable`,
        `BadAnswer` or, for what can't be sent, `UserError`."""
        answer: Answer | None = None
        try:
            query = urlencode([*plain_pairs(params or {})], quote_via=quote)
            target = self._path + path + (f"?{query}" if query else "")
            body = body_of(json, data, files)
            wait_s = timeout or self._timeout_s
            sent = self._tokens.token()
            answer = self._sent(
                method, target, body, {**(headers or {}), **credentials(sent)}, wait_s
            )
            if answer.status_code == NOT_AUTHENTICATED and self._tokens.is_renewed(sent):
                self._end(answer)
                known = credentials(self._tokens.token())
                answer = self._sent(method, target, body, {**(headers or {}), **known}, wait_s)
            yield answer
        except UnicodeEncodeError as error:
            raise unsendable(error) from None
        except (http.client.HTTPException, OSError) as error:
            raise unreachable(self._url, _in_words(error)) from error
        finally:
            self._end(answer)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _end(self, answer: Answer | None) -> None:
        """Keep the connection only if the next answer can come by it."""
        if answer is not None:
            answer.close()
        if answer is None or not answer.is_complete:
            self.close()

    def _be_ready(self, timeout_s: float) -> None:
        """Have the next request wait so long. A server ends what is idle, and that shows as
        something to read."""
        self._connection.timeout = timeout_s
        if (found := self._connection.sock) is None:
            return
        if select.select([found], [], [], 0)[0]:
            self._connection.close()
        else:
            found.settimeout(timeout_s)

    def _sent(
        self,
        method: str,
        target: str,
        body: Body | None,
        headers: Mapping[str, str],
        timeout_s: float,
    ) -> Answer:
        self._be_ready(timeout_s)
        said = {
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
            "User-Agent": f"kernelbot/{__version__}",
            **(body.headers if body else {}),
            **headers,
        }
        self._connection.request(method, target, body.pieces() if body else None, said)
        return Answer(self._connection.getresponse(), self._url)


def can_be_direct(url: str) -> bool:
    """Whether no proxy is named that reaches it, and the address is that of a host, in plain
    letters: httpx knows what to do with all others, and names what is wrong with them."""
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    if not is_plain or "@" in parts.netloc or not _PLAIN.fullmatch(url):
        return False
    if is_loopback(url):
        return True
    if sys.platform in ("darwin", "win32"):  # proxies are also named in the system's settings
        from urllib.request import getproxies

        return not getproxies()
    return not any(value and name.lower().endswith("_proxy") for name, value in os.environ.items())


def _connection(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    assert parts.hostname
    if parts.scheme != "https":
        return http.client.HTTPConnection(parts.hostname, parts.port)
    try:
        context = _believed()
    except OSError as error:
        raise misconfigured(url, error) from error
    return http.client.HTTPSConnection(parts.hostname, parts.port, context=context)


def _believed() -> "ssl.SSLContext":
    """Which authorities a server's certificate may be of: the same as for httpx."""
    import ssl

    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        found = ssl.create_default_context(cafile=file or None, capath=None if file else folder)
    else:
        import certifi

        found = ssl.create_default_context(cafile=certifi.where())
    found.set_alpn_protocols(["http/1.1"])
    return found


def _in_words(error: Exception) -> str:
    """What a person reads of an error, whose own text may be empty or Python's."""
    if isinstance(error, http.client.RemoteDisconnected):
        return "Server disconnected without sending a response."
    if isinstance(error, http.client.IncompleteRead):
        return "the answer ended before it was complete"
    if isinstance(error, http.client.BadStatusLine):
        return f"what answers there doesn't speak HTTP: {error}"
    return str(error) or type(error).__name__

"""Sends one signed message to one address."""

import asyncio
import json
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
from standardwebhooks import Webhook as Signer

from kernelbot import __version__
from kernelbot.domain.errors import UserError
from kernelbot.webhooks.addresses import checked_url, public_address
from kernelbot.webhooks.model import DueMessage, WebhookRules

_GONE = 410
_MOST_LOOKUPS = 16


@dataclass(frozen=True)
class DeliveryAnswer:
    """How an attempt went. `status` None: there was no answer; `error` None: it was delivered."""

    status: int | None
    error: str | None

    @property
    def is_endpoint_deleted(self) -> bool:
        """Whether the receiver says that it wants no more."""
        return self.status == _GONE


class Sender:
    """Follows no redirects, waits `timeout_s` in all, and reads of an answer its head alone."""

    def __init__(
        self, rules: WebhookRules, *, timeout_s: float = 10.0, tls: ssl.SSLContext | None = None
    ) -> None:
        """`tls`: whose certificates are trusted; None: the usual ones."""
        self._rules = rules
        self._timeout_s = timeout_s
        self._lookups = ThreadPoolExecutor(_MOST_LOOKUPS, "webhook-names")
        # Made once: reading the certificates takes longer than most requests.
        self._tls = tls or httpx.create_ssl_context(trust_env=False)

    async def send(self, url: str, message: DueMessage) -> DeliveryAnswer:
        """Send it; what fails is in the answer."""
        try:
            async with asyncio.timeout(self._timeout_s):
                status = await self._post(checked_url(url, self._rules), message)
        except TimeoutError:
            return DeliveryAnswer(None, f"No answer within {self._timeout_s:g} s.")
        except UserError as error:
            return DeliveryAnswer(None, str(error))
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            return DeliveryAnswer(None, _why(error))
        if httpx.codes.is_success(status):
            return DeliveryAnswer(status, None)
        said = (
            "a redirect, which isn't followed" if httpx.codes.is_redirect(status) else "no success"
        )
        return DeliveryAnswer(status, f"The answer was {status}: {said}.")

    async def _post(self, url: str, message: DueMessage) -> int:
        parts = urlsplit(url)
        assert parts.hostname is not None, "it was checked"
        address = await public_address(parts.hostname, self._rules, self._lookups)
        # The address that was checked is the one that is called: a name may lead elsewhere the next
        # time that it is looked up.
        target = httpx.URL(url).copy_with(host=address)
        body = body_of(message)
        headers = {"Host": parts.netloc, **signed(message, body, datetime.now(UTC))}
        async with (
            httpx.AsyncClient(trust_env=False, timeout=self._timeout_s, verify=self._tls) as client,
            client.stream(
                "POST",
                target,
                content=body,
                headers=headers,
                extensions={"sni_hostname": parts.hostname},
            ) as response,
        ):
            return response.status_code


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "Its name leads nowhere."
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "Its certificate can't be verified."
    return f"It can't be reached: {type(error).__name__}."


def body_of(message: DueMessage) -> str:
    """The same in every attempt."""
    said = {
        "type": message.event,
        "timestamp": message.created_at.astimezone(UTC).isoformat(),
        "data": message.data,
    }
    return json.dumps(said, sort_keys=True)


def signed(message: DueMessage, body: str, now: datetime) -> dict[str, str]:
    """The headers that Standard Webhooks asks for."""
    return {
        "Content-Type": "application/json",
        "User-Agent": f"KernelBot/{__version__}",
        "webhook-id": message.message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Signer(message.secret).sign(message.message_id, now, body),
    }

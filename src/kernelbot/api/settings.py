"""Settings of the HTTP API itself."""

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelbot.accounts.tokens.model import Credential

if TYPE_CHECKING:  # who judges without a server reads settings as well
    from starlette.requests import Request

MIB = 1 << 20


@dataclass(frozen=True)
class VendorNotes:
    """What those who lend machines are told beside what is the same everywhere; None: nothing."""

    contact: str | None = None
    """How they reach the organisers: an address that begins with mailto: or https:."""
    repository: str | None = None
    """What they clone for the scripts of `scripts/buildkite/`."""
    image: str | None = None
    """The runner image, with its digest, as `docker pull` takes it."""


@dataclass(frozen=True)
class ApiSettings:
    """Sizes in bytes, times in seconds."""

    body_limit_bytes: int = MIB
    """Largest file of a submission."""
    text_limit_bytes: int = 256 << 10
    """Largest body that holds no file: JSON, or a form's fields. Anybody may send one, and to read
    a megabyte of the smallest fields takes a third of a second, in which nobody is answered."""
    board_body_limit_bytes: int = 16 * MIB
    """Largest problem in `POST /api/v1/boards`."""
    archive_limit_bytes: int = 64 * MIB
    """Largest upload of an archive of problems, with the form around it."""
    multipart_overhead_bytes: int = 64 << 10
    """What the form around an upload may add to the file."""
    admin_token: str | None = field(default=None, repr=False)
    """What an organiser's `Authorization: Bearer` must hold on `/admin`; None: nothing opens."""
    wrong_tokens_a_minute: int = 100
    """How many wrong tokens one address may send before it is refused."""
    public_url: str | None = None
    """How browsers reach this server; None: as the request says."""
    has_bot: bool = False
    """Whether the Discord bot works with this server."""
    vendors: VendorNotes = VendorNotes()
    shared_metrics: bool = False
    """Whether several processes share their counters. Then the registry already shows the sums."""
    begun_per_turn: int = 8
    """How many requests begin in one round of the event loop, but for `/health` and `/metrics`."""
    heartbeat_s: float = 15.0
    """How often a silent event stream shows that it is alive."""
    texts_patience_s: float = 0.3
    """How long a page waits for colours, or a difference, before it comes without."""
    profiles_patience_s: float = 5.0
    """How long the page of a profile waits until the profile is read."""
    queue_s: float = 2.0
    """How often an event stream looks for a waiting submission's place in the queue."""
    ask_again_s: float = 5.0
    """How long an event stream that has something to say goes on without asking whether its reader
    may still have that."""

    def base_url(self, request: "Request") -> str:
        """How browsers reach this server, without a slash at the end."""
        return (self.public_url or str(request.base_url)).rstrip("/")

    @property
    def is_https(self) -> bool:
        """Whether browsers reach this server by https, as far as we were told."""
        return (self.public_url or "").lower().startswith("https:")

    def admin_credential(self, sent: bytes) -> Credential | None:
        """ADMIN_TOKEN, if that is what was sent; compared in constant time."""
        expected = self.admin_token or ""
        right = hmac.compare_digest(sent.strip(), expected.encode())
        return Credential(expected, of_settings=True) if right and expected else None

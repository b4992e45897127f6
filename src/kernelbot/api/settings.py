"""Settings of the HTTP API itself."""

import hmac
from dataclasses import dataclass, field

from starlette.requests import Request

MIB = 1 << 20


@dataclass(frozen=True)
class ApiSettings:
    """Sizes in bytes, times in seconds."""

    body_limit_bytes: int = MIB
    """Largest body of a request, and largest file of a submission."""
    board_body_limit_bytes: int = 16 * MIB
    """Largest problem in `POST /api/v1/boards`."""
    archive_limit_bytes: int = 64 * MIB
    """Largest upload of an archive of problems, with the form around it."""
    multipart_overhead_bytes: int = 64 << 10
    """What the form around an upload may add to the file."""
    admin_token: str | None = field(default=None, repr=False)
    """What an organiser's `Authorization: Bearer` must hold on `/admin`; None: nothing opens."""
    public_url: str | None = None
    """How browsers reach this server; None: as the request says."""
    shared_metrics: bool = False
    """Whether several processes share their counters. Then the registry already shows the sums."""
    begun_per_turn: int = 8
    """How many requests begin in one round of the event loop, but for `/health` and `/metrics`."""
    heartbeat_s: float = 15.0
    """How often a silent event stream shows that it is alive."""
    queue_s: float = 2.0
    """How often an event stream looks for a waiting submission's place in the queue."""

    def base_url(self, request: Request) -> str:
        """How browsers reach this server, without a slash at the end."""
        return (self.public_url or str(request.base_url)).rstrip("/")

    def opens_admin(self, sent: str) -> bool:
        """Whether a header's text, decoded as latin-1, is the ADMIN_TOKEN. In constant time."""
        expected = (self.admin_token or "").encode()
        right = hmac.compare_digest(sent.strip().encode("latin-1", "replace"), expected)
        return right and bool(expected)

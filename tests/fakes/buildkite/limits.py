"""How many requests Buildkite takes: of an organization, and of each user, in each minute."""

import time
from dataclasses import dataclass, field

ORGANIZATION_A_MINUTE = 200
USER_A_MINUTE = 50
_WINDOW_S = 60


@dataclass
class FakeLimit:
    """One of the two. `infix` is what its headers have in their names."""

    infix: str
    most: int
    used: int = 0
    ends_at: float = float("-inf")

    @property
    def left(self) -> int:
        """Until the end of the window."""
        if time.monotonic() >= self.ends_at:
            self.used, self.ends_at = 0, time.monotonic() + _WINDOW_S
        return max(self.most - self.used, 0)

    @left.setter
    def left(self, count: int) -> None:
        """As if others had used what is missing."""
        self.used += self.left - count

    def resets_in(self, seconds: float) -> None:
        """As if the window had begun longer ago."""
        self.ends_at = time.monotonic() + seconds

    def headers(self) -> dict[str, str]:
        """Of each answer. Whole seconds, rounded down."""
        left = self.left
        return {
            f"RateLimit-{self.infix}Limit": str(self.most),
            f"RateLimit-{self.infix}Remaining": str(left),
            f"RateLimit-{self.infix}Reset": str(max(int(self.ends_at - time.monotonic()), 0)),
        }


@dataclass
class FakeLimits:
    """Both. A request that either refuses counts for none."""

    organization: FakeLimit = field(default_factory=lambda: FakeLimit("", ORGANIZATION_A_MINUTE))
    user: FakeLimit = field(default_factory=lambda: FakeLimit("User-", USER_A_MINUTE))

    def raise_to(self, most: int) -> None:
        """As Buildkite does for those who ask for it."""
        self.organization.most = self.user.most = most

    def refusing(self) -> str:
        """The scope of the limit that refuses a request; empty if none does, and it counts."""
        for scope, limit in (("user", self.user), ("organization", self.organization)):
            if not limit.left:
                return scope
        self.user.used += 1
        self.organization.used += 1
        return ""

    def headers(self) -> dict[str, str]:
        """Of each answer."""
        return {**self.organization.headers(), **self.user.headers()}

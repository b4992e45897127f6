"""The secret that decides what is held out."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from kernelbot.domain.errors import UserError

_BITS = 128


@dataclass(frozen=True)
class HeldOutSecret:
    """A number that no client is told. The same number holds the same out."""

    seed: int = field(default_factory=lambda: secrets.randbits(_BITS), repr=False)

    def __post_init__(self) -> None:
        """Raises `UserError` for a number that can't be."""
        if not 0 <= self.seed < 1 << _BITS:
            raise UserError(f"The seed of what is held out is from 0 to 2^{_BITS} - 1.")

    def data_seed(self, task: str, episode_seed: int) -> int:
        """The seed of the held-out data, the same for all episodes of a task and a seed, so that
        their rewards can be compared."""
        return int.from_bytes(self._digest("data", task, str(episode_seed))[:4], "big") >> 1

    def rank(self, problem: str, case: str) -> bytes:
        """By which a problem's cases are ordered, to hold the first of them out."""
        return self._digest("case", problem, case)

    def _digest(self, *texts: str) -> bytes:
        return hmac.digest(str(self.seed).encode(), "\0".join(texts).encode(), hashlib.sha256)

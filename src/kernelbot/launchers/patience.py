"""For how long something has been amiss with a job, and what is told of it meanwhile."""

import time
from collections.abc import Callable

import structlog

from kernelbot.domain.errors import KernelbotError, RateLimited
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.results import lost

RUNNING = Outcome(JobState.RUNNING)
WAITING = Outcome(JobState.WAITING)
log = structlog.get_logger()


class Patience:
    """Remembers when each trouble of each job was first asked about, until it is over. What was
    amiss long ago makes nothing of another kind look old."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[str, dict[str, float]] = {}
        self._waiting: dict[str, Outcome] = {}
        """What was told last of those that wait."""

    def since(self, name: str, trouble: str) -> float:
        """Seconds since the first question about it; 0 at the first."""
        now = self._clock()
        return now - self._since.setdefault(name, {}).setdefault(trouble, now)

    def over(self, name: str, *troubles: str) -> None:
        """Forget these troubles of a job: it was seen without them, and what is amiss later begins
        anew."""
        if (known := self._since.get(name)) is not None:
            for trouble in troubles:
                known.pop(trouble, None)

    def told(self, name: str, outcome: Outcome) -> Outcome:
        """The outcome, which the scheduler has told: what `still` goes on with."""
        self._waiting.pop(name, None)
        if outcome.state is JobState.WAITING:
            self._waiting[name] = outcome
        return outcome

    def still(self, name: str) -> Outcome:
        """The outcome of a job of which nothing can be said just now: it goes on waiting if that is
        what was told of it last, or else it runs."""
        return self._waiting.get(name, RUNNING)

    def failing(self, name: str, trouble: str, error: KernelbotError, silence_s: float) -> Outcome:
        """The outcome of a job that can't be asked about, though others may be: as before, and lost
        once that has been so for as long as a scheduler may be silent. A limit of requests is no
        silence."""
        if isinstance(error, RateLimited):
            self.over(name, trouble)
            return self.still(name)
        if trouble not in self._since.get(name, {}):
            log.warning("job_not_read", job=name, trouble=trouble, error=str(error))
        if self.since(name, trouble) >= silence_s:
            return lost(str(error), error.fault)
        return self.still(name)

    def forget(self, name: str) -> None:
        """Forget a job that isn't asked about any more."""
        self._since.pop(name, None)
        self._waiting.pop(name, None)

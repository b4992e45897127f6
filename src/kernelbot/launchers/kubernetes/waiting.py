"""Since when jobs have been waiting for what may never come."""

import time
from collections.abc import Mapping

from kernelbot.launchers.kubernetes.states import SeenAttempt, Wait

_BEFORE_ITS_NODE = frozenset((Wait.POD, Wait.NODE, Wait.CONTAINER))


class WaitTimes:
    """Remembers when each was first seen to wait. `stuck_s`: after this time it is stuck."""

    def __init__(self, stuck_s: float) -> None:
        self._stuck_s = stuck_s
        self._since: dict[str, dict[str, float]] = {}
        """Since when each has waited, by device and by the Job's uid."""

    def stuck(
        self, device: str, jobs: Mapping[str, SeenAttempt], *, for_a_node: bool
    ) -> tuple[str, SeenAttempt] | None:
        """One of the device's jobs that has waited too long, with its uid; None: none has. `jobs`:
        all of them by their uids; `for_a_node`: whether to wait for a node counts."""
        counted = _BEFORE_ITS_NODE if for_a_node else _BEFORE_ITS_NODE - {Wait.NODE}
        now = time.monotonic()
        before = self._since.get(device, {})
        waiting = {uid: seen for uid, seen in jobs.items() if seen.wait in counted}
        self._since[device] = {uid: before.get(uid, now) for uid in waiting}
        for uid, since in self._since[device].items():
            if now - since >= self._stuck_s:
                return uid, waiting[uid]
        return None

"""Estimates a run's place in the queue and its wait, as a pure function."""

import math

from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.runs.queue.store import WaitingRun


def estimate_position(
    found: WaitingRun, slots: int, running_limit: int | None
) -> DeviceQueuePosition:
    """The place and an estimate of the wait, consistent with each other. Runs ahead are judged on
    all slots at the pace of the device's latest runs, and the author's own among them on no more
    slots than they may use at once. If that takes longer than waiting for the turn, other waiting
    runs are judged meanwhile, and the place counts them."""
    if slots == 0:
        return DeviceQueuePosition(found.position, device=found.device)
    position = found.position
    free = max(0, slots - found.running)
    rounds = max(0, position - free) / slots
    if running_limit is not None:
        own_rounds = _own_rounds(found, min(slots, running_limit))
        if own_rounds > rounds:
            rounds = own_rounds
            judged_by_then = free + math.floor(rounds * slots)
            last = found.others + found.own_before + 1
            position = max(position, min(judged_by_then, last))
    wait_s = 0.0 if rounds == 0 else None if found.mean_s is None else rounds * found.mean_s
    return DeviceQueuePosition(position, wait_s, device=found.device)


def _own_rounds(found: WaitingRun, at_once: int) -> float:
    """How many rounds until so few of the author's own runs are left that this one may start."""
    at_once = max(1, at_once)
    free = max(0, at_once - found.own_running)
    return max(0, found.own_before + 1 - free) / at_once

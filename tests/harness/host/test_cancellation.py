import threading

from kernelbot.harness.host.cancellation import Cancellation


def test_who_waits_is_woken() -> None:
    cancelled, woken = Cancellation(), threading.Event()
    with cancelled.waking(woken.set):
        before = woken.is_set()
        cancelled.set()
    assert (False, True, True) == (before, woken.is_set(), cancelled.is_set())


def test_who_begins_to_wait_too_late_is_woken_at_once() -> None:
    cancelled, woken = Cancellation(), threading.Event()
    cancelled.set()
    with cancelled.waking(woken.set):
        assert woken.is_set()


def test_who_has_waited_is_left_alone() -> None:
    cancelled, woken = Cancellation(), threading.Event()
    with cancelled.waking(woken.set):
        pass
    cancelled.set()
    assert (False, True) == (woken.is_set(), cancelled.is_set())


def test_whoever_is_woken_may_cancel_too() -> None:
    """As a signal does that comes in the middle."""
    cancelled, woken = Cancellation(), threading.Event()

    def wake() -> None:
        if not woken.is_set():
            woken.set()
            cancelled.set()

    with cancelled.waking(wake):
        cancelled.set()
    assert cancelled.is_set()

import queue
import tempfile
from pathlib import Path

import pytest
from scripts.demo import PATIENCE_S, DemoTrouble, demo_folder, until_finished
from scripts.demo_view import Entry, Update

from kernelbot.domain.errors import Unavailable
from kernelbot.protocol import Verdict
from tests.scripts.test_demo_view import entry

Updates = queue.Queue[tuple[Entry, Update]]


def test_the_demo_lives_in_the_checkout() -> None:
    assert demo_folder(Path("/srv/kernel-bot_2.0")) == Path("/srv/kernel-bot_2.0/.demo")


@pytest.mark.parametrize("name", ["my projects", "o'brien", "a;b", 'a"b', "$HOME"])
def test_a_checkout_with_an_odd_name_has_its_demo_elsewhere(name: str) -> None:
    folder = demo_folder(Path("/srv") / name)
    assert folder.parent == Path(tempfile.gettempdir())


class SlowUpdates(Updates):
    """One comes each so many seconds of a clock that nothing else moves."""

    def __init__(self, each_s: float, *entries: Entry) -> None:
        super().__init__()
        self.now_s = 0.0
        self._each_s = each_s
        for one in entries:
            assert one.submission is not None
            self.put((one, one.submission))

    def get(self, block: bool = True, timeout: float | None = None) -> tuple[Entry, Update]:
        assert timeout is not None
        self.now_s += min(self._each_s, timeout)
        if self._each_s > timeout:
            raise queue.Empty
        return super().get(block=False)


def test_on_a_busy_machine_all_submissions_together_may_take_long() -> None:
    entries = [entry("correct", Verdict.ACCEPTED) for _ in range(4)]
    updates = SlowUpdates(PATIENCE_S * 0.9, *entries)
    assert [of for of, _ in until_finished(updates, 4, lambda: updates.now_s)] == entries


def test_updates_of_what_does_not_finish_do_not_keep_the_demo_waiting() -> None:
    updates = SlowUpdates(PATIENCE_S * 0.6, *[entry("correct", None)] * 4)
    with pytest.raises(DemoTrouble, match=r"^None of 2 submissions has finished for 300 s\.$"):
        list(until_finished(updates, 2, lambda: updates.now_s))


def test_an_error_among_the_updates_ends_the_demo() -> None:
    updates: Updates = queue.Queue()
    updates.put((entry("correct", None), Unavailable("It is away.")))
    with pytest.raises(Unavailable, match=r"^It is away\.$"):
        list(until_finished(updates, 1))

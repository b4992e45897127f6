"""When a worker holds runs of a device back, and when it tries one."""

from structlog.testing import ReturnLogger

from kernelbot.worker.brakes import FIRST_S, LONGEST_S, Brake


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Tried:
    """A brake, with the clock that it goes by. Runs have the numbers of their attempts."""

    def __init__(self, *, one_machine: bool = False) -> None:
        self.clock = Clock()
        self.changes = 0
        self.brake = Brake(ReturnLogger(), self._changed, one_machine=one_machine, clock=self.clock)

    def _changed(self) -> None:
        self.changes += 1

    def lose(self, *attempts: int) -> list[bool]:
        """Of attempts that are begun together, each is lost. Which of the losses count."""
        for attempt in attempts:
            self.brake.begun(attempt)
        counted = []
        for attempt in attempts:
            self.brake.taken(attempt)
            counted.append(self.brake.lost(attempt, attempt, "its node is broken"))
            self.brake.over(attempt)
        return counted

    def fill(self, *attempts: int) -> None:
        """There is no room for any of these, which are begun together."""
        for attempt in attempts:
            self.brake.begun(attempt)
        for attempt in attempts:
            self.brake.full(attempt, "a limit")
            self.brake.over(attempt)

    def open_after(self, most_s: float) -> float:
        """After how long a run may be begun."""
        before_s = self.clock.now_s
        while not self.brake.is_open and self.clock.now_s < before_s + most_s:
            self.clock.now_s += 1.0
        return self.clock.now_s - before_s


def test_three_runs_lost_in_a_row_hold_the_others_back() -> None:
    tried = Tried()
    assert [True, True] == tried.lose(1, 2)
    assert tried.brake.is_open
    tried.lose(3)
    assert (False, "the last 3 runs were lost: its node is broken", 1) == (
        tried.brake.is_open,
        tried.brake.why_not,
        tried.changes,
    )


def test_one_run_lost_three_times_says_nothing_of_the_device() -> None:
    tried = Tried()
    for attempt in (1, 2, 3, 4):
        assert tried.brake.lost(attempt, 7, "its node is broken")
    assert tried.brake.is_open


def test_a_verdict_ends_the_row() -> None:
    tried = Tried()
    tried.lose(1, 2)
    tried.brake.judged()
    tried.lose(3, 4)
    assert tried.brake.is_open


def test_losses_of_those_that_are_held_back_do_not_count() -> None:
    tried = Tried()
    assert [True, True, True, False, False] == tried.lose(1, 2, 3, 4, 5)


def test_after_a_pause_one_run_is_tried() -> None:
    tried = Tried()
    tried.lose(1, 2, 3)
    assert FIRST_S == tried.open_after(LONGEST_S)
    assert "" == tried.brake.why_not  # or boards that let nobody wait would never have one
    tried.brake.begun(4)
    assert (False, True) == (tried.brake.is_open, bool(tried.brake.why_not))


def test_the_pause_grows_with_each_trial_that_is_lost() -> None:
    tried = Tried()
    tried.lose(1, 2, 3)
    pauses = []
    for attempt in range(4, 12):
        pauses.append(tried.open_after(LONGEST_S + 1))
        assert [False] == tried.lose(attempt)
    assert [30, 60, 120, 240, 480, 600, 600, 600] == pauses


def test_who_was_begun_before_makes_the_pause_no_longer() -> None:
    tried = Tried()
    for attempt in (1, 2, 3, 4):
        tried.brake.begun(attempt)
    for attempt in (1, 2, 3, 4):
        tried.brake.lost(attempt, attempt, "its node is broken")
    assert FIRST_S == tried.open_after(LONGEST_S)


def test_a_verdict_lets_all_runs_through_again() -> None:
    tried = Tried()
    tried.lose(1, 2, 3)
    tried.open_after(LONGEST_S)
    tried.brake.begun(4)
    tried.brake.judged()
    assert (True, "") == (tried.brake.is_open, tried.brake.why_not)
    assert [True, True] == tried.lose(5, 6)
    assert tried.brake.is_open


def test_a_trial_that_ends_without_a_word_is_followed_by_another() -> None:
    """Its author has cancelled it."""
    tried = Tried()
    tried.lose(1, 2, 3)
    tried.open_after(LONGEST_S)
    tried.brake.begun(4)
    tried.brake.over(4)
    assert tried.brake.is_open


def test_one_refusal_of_the_device_holds_runs_back() -> None:
    tried = Tried()
    tried.brake.begun(1)
    tried.brake.begun(2)
    counted = [tried.brake.refused(attempt, "no such account") for attempt in (1, 2)]
    assert ([True, False], "no such account") == (counted, tried.brake.why_not)


def test_jobs_that_end_with_their_machine_are_one_loss() -> None:
    tried = Tried(one_machine=True)
    assert [True] * 4 == tried.lose(1, 2, 3, 4)
    tried.clock.now_s += 1.0
    assert [True] * 4 == tried.lose(5, 6, 7, 8)
    assert tried.brake.is_open
    tried.clock.now_s += 1.0
    tried.lose(9)
    assert not tried.brake.is_open


def test_runs_wait_while_there_is_no_room() -> None:
    tried = Tried()
    tried.fill(1)
    assert (False, "a limit") == (tried.brake.is_open, tried.brake.why_not)
    assert FIRST_S == tried.open_after(LONGEST_S)


def test_the_end_of_a_job_makes_room() -> None:
    tried = Tried()
    tried.brake.begun(1)
    tried.brake.taken(1)
    tried.fill(2, 3)
    assert not tried.brake.is_open
    tried.brake.over(1)
    assert tried.brake.is_open


def test_until_there_is_room_again_runs_are_begun_one_by_one() -> None:
    tried = Tried()
    tried.fill(1, 2)
    tried.open_after(LONGEST_S)
    tried.brake.begun(3)
    assert not tried.brake.is_open
    tried.brake.taken(3)
    assert (True, "") == (tried.brake.is_open, tried.brake.why_not)
    tried.brake.begun(4)
    assert (False, "") == (tried.brake.is_open, tried.brake.why_not)
    tried.brake.full(4, "a limit")
    assert "a limit" == tried.brake.why_not


def test_once_there_has_been_room_for_long_runs_are_begun_together() -> None:
    tried = Tried()
    tried.fill(1)
    tried.clock.now_s += LONGEST_S + 1
    tried.brake.begun(2)
    tried.brake.taken(2)
    for attempt in (3, 4):
        tried.brake.begun(attempt)
    assert tried.brake.is_open


def test_a_verdict_makes_no_room() -> None:
    tried = Tried()
    tried.fill(1)
    tried.brake.judged()
    assert not tried.brake.is_open


def test_runs_that_there_is_no_room_for_are_no_losses() -> None:
    tried = Tried()
    tried.lose(1, 2)
    tried.fill(3)
    assert "a limit" == tried.brake.why_not
    tried.lose(4)
    assert "the last 3 runs were lost: its node is broken" == tried.brake.why_not

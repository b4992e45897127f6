"""Which token pays, by what a scheduler's headers say of each."""

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx
import pytest

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.rest.client import HttpAnswer
from kernelbot.launchers.rest.tokens import Dialect, LimitHeaders, SchedulerTokens

DATES = Dialect(
    "It",
    "ITS_TOKEN",
    limits=(LimitHeaders("x-ratelimit-remaining", "x-ratelimit-limit", "x-ratelimit-reset"),),
    reset_is_a_date=True,
    longest_s=3700,
    reserve=100,
)
THEIR_NOW = 1_700_000_000.0


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def answer(
    left: int,
    resets_in_s: float = 600,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    text: bytes = b"",
) -> HttpAnswer:
    given = {
        "date": email.utils.formatdate(THEIR_NOW, usegmt=True),
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": str(left),
        "x-ratelimit-reset": str(int(THEIR_NOW + resets_in_s)),
        **(headers or {}),
    }
    return HttpAnswer(status, httpx.Headers(given), text)


def pays(tokens: SchedulerTokens) -> str:
    return tokens.best().headers()["Authorization"].removeprefix("Bearer ")


def test_the_first_pays_while_it_has_requests_to_spare() -> None:
    tokens = SchedulerTokens(["first", "backup"], DATES)
    tokens.note_limit(tokens.best(), answer(101))
    before = pays(tokens)
    tokens.note_limit(tokens.best(), answer(100))
    assert (before, pays(tokens)) == ("first", "backup")


def test_the_last_reserves_are_used_in_the_end() -> None:
    tokens = SchedulerTokens(["first", "backup"], DATES)
    tokens.note_limit(tokens.best(), answer(60))
    tokens.note_limit(tokens.best(), answer(20))
    assert pays(tokens) == "first"


def test_a_new_hour_begins_by_the_schedulers_clock() -> None:
    clock = Clock()
    tokens = SchedulerTokens(["first"], DATES, clock)
    tokens.note_limit(tokens.best(), answer(0, resets_in_s=600))
    before_s = tokens.wait_s()
    clock.now = 601
    assert (before_s, tokens.wait_s(), pays(tokens)) == (601, 0, "first")


def test_some_say_for_how_long_instead_of_until_when() -> None:
    tokens = SchedulerTokens(["first"], replace(DATES, reset_is_a_date=False), Clock())
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "42"}
    tokens.note_limit(tokens.best(), HttpAnswer(200, httpx.Headers(headers), b""))
    assert tokens.wait_s() == 43  # it may have been 42.9


@pytest.mark.parametrize("resets_in_s", [-3600, 10**8])
def test_nonsense_about_the_end_of_the_hour_stops_nobody_for_long(resets_in_s: float) -> None:
    clock = Clock()
    tokens = SchedulerTokens(["first"], DATES, clock)
    tokens.note_limit(tokens.best(), answer(0, resets_in_s=resets_in_s))
    clock.now = 3701
    assert tokens.wait_s() == 0


@pytest.mark.parametrize("text", ["", "-1", "1e9", "nan", "٣", "9" * 40])
def test_a_header_that_is_no_number_says_nothing(text: str) -> None:
    tokens = SchedulerTokens(["first"], DATES)
    headers = httpx.Headers([(b"x-ratelimit-remaining", text.encode())])
    tokens.note_limit(tokens.best(), HttpAnswer(200, headers, b""))
    assert pays(tokens) == "first"


def test_a_token_that_is_refused_is_tried_again_later() -> None:
    clock = Clock()
    tokens = SchedulerTokens(["first", "backup"], DATES, clock)
    tokens.refused(tokens.best())
    meanwhile = pays(tokens)
    clock.now = 61
    assert (meanwhile, pays(tokens)) == ("backup", "first")


def test_no_token_that_is_accepted_is_the_platforms_failure() -> None:
    tokens = SchedulerTokens(["first"], DATES)
    tokens.refused(tokens.best())
    with pytest.raises(PlatformError, match="set a valid ITS_TOKEN") as caught:
        tokens.best()
    assert "first" not in repr(caught.value)


@pytest.mark.parametrize(
    ("status", "left", "headers", "text", "met"),
    [
        (403, 10, {}, b"Must have admin rights", False),
        (403, 0, {}, b"", True),
        (403, 10, {"retry-after": "30"}, b"", True),
        (429, 10, {}, b"", True),
        (403, 10, {}, b"secondary rate limit", True),
        (200, 0, {}, b"", False),
    ],
)
def test_a_limit_is_told_from_a_refusal(
    status: int, left: int, headers: dict[str, str], text: bytes, met: bool
) -> None:
    tokens = SchedulerTokens(["first", "backup"], DATES)
    token = tokens.best()
    given = answer(left, status=status, headers=headers, text=text)
    tokens.note_limit(token, given)
    assert tokens.limited(token, given) == met
    assert not met or pays(tokens) == "backup"


def test_requests_are_spread_over_the_hour_when_they_run_short() -> None:
    tokens = SchedulerTokens(["first"], DATES, Clock())
    tokens.note_limit(tokens.best(), answer(2600, resets_in_s=3000))
    plenty = tokens.pause_s()
    tokens.note_limit(tokens.best(), answer(1000, resets_in_s=2999))
    assert (plenty, tokens.pause_s()) == (0.0, 3.0)


TWO = replace(
    DATES,
    limits=(
        LimitHeaders("remaining", "limit", "reset"),
        LimitHeaders("user-remaining", "user-limit", "user-reset"),
    ),
    reset_is_a_date=False,
    longest_s=120,
    share=0.5,
    spreads=True,
)


def of_two(left: int, user_left: int, status: int = 200) -> HttpAnswer:
    counted = {"remaining": left, "limit": 200, "reset": 59}
    user = {"user-remaining": user_left, "user-limit": 50, "user-reset": 39}
    headers = {name: str(value) for name, value in (counted | user).items()}
    return HttpAnswer(status, httpx.Headers(headers), b"")


@pytest.mark.parametrize(("left", "user_left", "wait_s"), [(0, 40, 60), (150, 0, 40), (9, 9, 0)])
def test_of_two_limits_the_one_that_is_met_counts(left: int, user_left: int, wait_s: float) -> None:
    tokens = SchedulerTokens(["first"], TWO, Clock())
    tokens.note_limit(tokens.best(), of_two(left, user_left))
    assert tokens.used_up_s() == wait_s


def test_the_second_half_of_a_limit_is_spread_over_the_rest_of_its_time() -> None:
    clock = Clock()
    tokens = SchedulerTokens(["first"], TWO, clock)
    tokens.note_limit(tokens.best(), of_two(150, 21))
    at_first_s = tokens.wait_s()
    tokens.spend()
    assert (at_first_s, tokens.wait_s(), tokens.pause_s(), tokens.spare()) == (0, 2, 4, 0)


def test_a_request_that_isnt_answered_yet_has_used_up_one() -> None:
    tokens = SchedulerTokens(["first"], TWO, Clock())
    waiting = [tokens.spend() for _ in range(3)]
    tokens.answered(waiting[0])
    tokens.note_limit(waiting[0], of_two(150, 40))
    assert waiting[0].left == 38


def test_a_limit_without_a_time_is_waited_for_longer_each_time() -> None:
    clock = Clock()
    tokens = SchedulerTokens(["first"], DATES, clock)
    waits_s = []
    for _ in range(3):
        token = tokens.best()
        secondary = answer(4000, status=403, text=b"You have exceeded a secondary rate limit.")
        tokens.note_limit(token, secondary)
        tokens.limited(token, secondary)
        waits_s.append(tokens.wait_s())
        clock.now += waits_s[-1]
    good = answer(4000)
    tokens.limited(tokens.best(), good)
    tokens.limited(tokens.best(), answer(4000, status=429))
    assert [*waits_s, tokens.wait_s()] == [60, 120, 240, 60]


def test_a_year_that_no_clock_has_is_no_time() -> None:
    tokens = SchedulerTokens(["first"], DATES)
    odd = {"date": "Mon, 30 Nov 10000000000 10:00:00 GMT"}
    tokens.note_limit(tokens.best(), answer(101, headers=odd))
    assert "first" == pays(tokens)

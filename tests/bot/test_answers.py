"""Messages within Discord's limits."""

import pytest
from structlog.testing import capture_logs

from kernelbot.bot.answers import Attached, message_of
from kernelbot.bot.errors import error_text
from kernelbot.domain.errors import KernelbotError, Paused, Unavailable, UserError

MIB = 1 << 20


@pytest.mark.parametrize(
    ("sizes", "sent", "others"),
    [
        ([MIB] * 10, "0123456789", ""),
        ([1] * 12, "0123456789", "10, 11"),
        ([16 * MIB, 9 * MIB], "1", "0"),
        ([9 * MIB, 9 * MIB, 9 * MIB, MIB], "013", "2"),
    ],
    ids=["as many as fit", "too many", "one that is too large", "too large together"],
)
def test_what_a_message_has_no_room_for_is_named(sizes: list[int], sent: str, others: str) -> None:
    files = [Attached(str(number), bytes(size)) for number, size in enumerate(sizes)]
    content, shown = message_of("text", files)
    note = f"\nThere is no room in a message for: {others}" if others else ""
    assert (f"text{note}", sent) == (content, "".join(one.filename for one in shown))


def test_a_long_text_leaves_room_for_the_note() -> None:
    files = [Attached("_" * 50, b"")] * 30
    content, shown = message_of("x" * 5000, files)
    assert (True, 10, True) == (len(content) <= 2000, len(shown), "no room" in content[-400:])


@pytest.mark.parametrize(
    ("error", "logged"),
    [(Unavailable("It's away."), 1), (UserError("You can't."), 0), (Paused("Not now."), 0)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_fault_is_no_error_in_the_log(error: KernelbotError, logged: int) -> None:
    with capture_logs() as logs:
        said = error_text(error, "ping")
    assert (f"❌ {error}", logged) == (said.splitlines()[0], len(logs))

import logging
from collections.abc import Iterator

import pytest
import structlog

from kernelbot.main.logs import set_up_logs


@pytest.fixture(autouse=True)
def usual_logs() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


def test_nothing_that_strangers_say_reaches_the_terminal_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up_logs(json=False)
    log, clear = structlog.get_logger(), "\x1b[2J"
    log.info("request", path="/\x1b]0;mine\x07")
    try:
        raise ValueError(clear)
    except ValueError as error:
        log.error("request_crashed", exc_info=error)
    logging.getLogger("elsewhere").warning(clear)
    shown = capsys.readouterr().err
    assert "/\\x1b]0;mine\\x07" in shown
    assert 2 == shown.count("\\x1b[2J")
    assert not any(raw in shown for raw in ("\x1b]", "\x07", "\x1b[2J"))

import pytest
from structlog.testing import capture_logs

from kernelbot.api.errors import note, status_of
from kernelbot.domain.errors import KernelbotError, Paused, Unavailable


@pytest.mark.parametrize(("error", "logged"), [(Paused("Paused."), 0), (Unavailable("Gone."), 1)])
def test_what_organisers_have_decided_is_no_failure(error: KernelbotError, logged: int) -> None:
    with capture_logs() as logs:
        note(error, status_of(error))
    assert logged == len(logs)

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.domain.listening import listen


@pytest.mark.parametrize("host", ["192.0.2.1", "a b"])
def test_a_host_that_is_not_here_is_named(host: str) -> None:
    with pytest.raises(UserError) as refused:
        listen(host, 0)
    assert "Choose another with --host." == refused.value.hint


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UserError) as refused:
        listen("127.0.0.1", taken.getsockname()[1])
    assert "Choose another with --port." == refused.value.hint

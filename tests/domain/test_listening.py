import gc

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.domain.listening import listen


@pytest.mark.parametrize("host", ["192.0.2.1", "a b"])
def test_a_host_that_is_not_here_is_named(host: str) -> None:
    with pytest.raises(UserError) as refused:
        listen(host, 0)
    assert "Choose another with --host." == refused.value.hint


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("port", [-1, 1 << 16])
def test_a_number_that_no_port_has_is_named(port: int) -> None:
    """Python leaves the socket of such a one open."""
    with pytest.raises(UserError, match=f"^Can't listen on 127.0.0.1 port {port}: ") as refused:
        listen("127.0.0.1", port)
    assert "Choose another with --port." == refused.value.hint
    del refused
    gc.collect()


def test_a_port_is_shared_by_those_who_say_so() -> None:
    with listen("127.0.0.1", 0, shared=True) as one:
        port = one.getsockname()[1]
        with listen("127.0.0.1", port, shared=True) as other:
            assert port == other.getsockname()[1]


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UserError) as refused:
        listen("127.0.0.1", taken.getsockname()[1])
    assert "Choose another with --port." == refused.value.hint

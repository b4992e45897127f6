"""Which addresses no proxy is asked for."""

import pytest

from kernelbot.protocol.loopback import is_loopback


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000", "https://127.8.0.1/at", "http://LOCALHOST", "http://u@[::1]:80/"],
)
def test_addresses_of_this_machine(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.kernels.lab",
        "http://localhost.kernels.lab",
        "http://kernels.lab/localhost",
        "http://localhost@kernels.lab",
        "http://10.0.0.1",
        "http://[::1",
        "localhost",
        "",
    ],
)
def test_other_addresses(url: str) -> None:
    assert not is_loopback(url)

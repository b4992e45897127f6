import socket

import pytest
from scripts.ports import first_of_connections, free_ports

from scripts import ports


@pytest.mark.skipif(first_of_connections() <= 10_000, reason="connections may have any port here")
def test_no_connection_takes_a_port_that_was_found() -> None:
    found = free_ports(50)
    assert (50, True) == (len(set(found)), max(found) < first_of_connections())


def test_a_port_that_somebody_has_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, free = free_ports(2)
    chosen = iter([taken - 10_000, free - 10_000])
    monkeypatch.setattr(ports, "first_of_connections", lambda: 60_000)
    monkeypatch.setattr("secrets.randbelow", lambda _: next(chosen))
    with socket.create_server(("127.0.0.1", taken)):
        assert [free] == free_ports(1)


def test_where_connections_may_have_any_port_it_is_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "first_of_connections", lambda: 1024)
    assert 0 < free_ports(1)[0]

import os
import socket
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.server.serve import _account_name, _listening, serve


def test_answers_are_sent_at_once() -> None:
    with (
        _listening("127.0.0.1", 0) as listeners,
        socket.create_connection(listeners[0].getsockname()),
    ):
        connection, _ = listeners[0].accept()
        with connection:
            nodelay = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert nodelay != 0


def test_an_account_without_a_name_serves_under_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # what a container may run us as
    assert "uid-54321" == _account_name()


def test_several_listeners_share_the_connections_to_a_port() -> None:
    with _listening("127.0.0.1", 0, 2) as listeners:
        connected = [socket.create_connection(listeners[0].getsockname()) for _ in range(64)]
        counts = [_waiting(listener) for listener in listeners]
        for connection in connected:
            connection.close()
    assert 64 == sum(counts)
    assert min(counts) > 8  # each goes either way: fewer come once in a billion times


@pytest.mark.parametrize("count", [1, 2])
def test_a_port_that_others_share_is_taken(count: int) -> None:
    with _listening("127.0.0.1", 0, 2) as listeners:
        port = listeners[0].getsockname()[1]
        with pytest.raises(UserError, match=f"port {port}"), _listening("127.0.0.1", port, count):
            pass


def _waiting(listener: socket.socket) -> int:
    """How many connections the listener has to give."""
    listener.setblocking(False)
    count = 0
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return count
        connection.close()
        count += 1


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("x", "ADMIN_TOKEN has less than 20 characters"),
        ("x" * 19, "ADMIN_TOKEN has less than 20 characters"),
        ("x" * 18 + " \n", "ADMIN_TOKEN has less than 20 characters"),
        ("x" * 20, "The data folder can't be made"),
        ("", "The data folder can't be made"),
    ],
)
def test_an_admin_token_that_could_be_guessed_is_refused_first_of_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADMIN_TOKEN", token)
    (tmp_path / "file").touch()
    with pytest.raises(UserError) as refused:
        serve(data=tmp_path / "file" / "data")
    assert expected == str(refused.value)[: len(expected)]
    if token and len(token.strip()) < 20:
        assert "Make one: openssl rand -hex 24" == refused.value.hint

import os
import socket

import pytest

from kernelbot.main.serve import _account_name, _listening


def test_answers_are_sent_at_once() -> None:
    with (
        _listening("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        connection, _ = listener.accept()
        with connection:
            nodelay = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert nodelay != 0


def test_an_account_without_a_name_serves_under_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # what a container may run us as
    assert "uid-54321" == _account_name()

import socket

from kernelbot.main.serve import _listening


def test_answers_are_sent_at_once() -> None:
    with (
        _listening("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        connection, _ = listener.accept()
        with connection:
            nodelay = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert nodelay != 0

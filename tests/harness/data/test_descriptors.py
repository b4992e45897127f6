"""Closing what a stranger may have sent descriptors over; that one that lingers keeps nobody
waiting is tried by the exploits."""

import socket
import threading
from collections.abc import Callable

import pytest

from kernelbot.harness.data.descriptors import close_socket


def _send(far: socket.socket) -> None:
    far.send(b"unread")


def _end(far: socket.socket) -> None:
    far.close()


def _send_and_end(far: socket.socket) -> None:
    far.send(b"unread")
    far.close()


@pytest.mark.parametrize(
    ("does", "apart"), [(_send, True), (_end, False), (_send_and_end, True), (str, True)]
)
def test_a_socket_is_closed_in_place_if_it_is_at_its_end(
    does: Callable[[socket.socket], object], apart: bool
) -> None:
    near, far = socket.socketpair()
    threads: list[object] = []
    with far:
        does(far)
        threading.setprofile(lambda frame, *_: threads.append(frame))
        try:
            close_socket(near)
        finally:
            threading.setprofile(None)
    assert (-1, apart) == (near.fileno(), bool(threads))


def test_a_closed_socket_stays_closed() -> None:
    near, far = socket.socketpair()
    with far:
        near.close()
        close_socket(near)
    assert near.fileno() == -1

"""How a process of the platform learns that it is to stop."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from kernelbot.server.answer import answer
from kernelbot.server.settings import read_settings
from kernelbot.server.stopping import StopRequests, ended_in_order
from tests.support.world import World


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that is closed is let go of, and this one stays."""
    monkeypatch.setattr(os, "isatty", lambda _: False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_second_signal_insists(number: signal.Signals) -> None:
    stop = StopRequests()
    before = (stop.asked.is_set(), stop.insisted.is_set())
    signal.raise_signal(number)
    await stop.asked.wait()
    once = stop.insisted.is_set()
    signal.raise_signal(number)
    await stop.insisted.wait()
    assert ((False, False), False) == (before, once)


async def test_a_closed_terminal_is_nothing_to_who_was_told_to_ignore_it() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        stop = StopRequests()
        signal.raise_signal(signal.SIGHUP)
        await asyncio.sleep(0.01)
        assert not stop.asked.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_requests_are_counted_ends_what_was_started(
    number: signal.Signals,
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as ended, ended_in_order():
        signal.raise_signal(number)
    assert (128 + number, before) == (ended.value.code, signal.getsignal(number))


def test_a_second_signal_cuts_off_nothing_that_is_being_ended() -> None:
    ended = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:
            for number in (signal.SIGHUP, signal.SIGTERM):  # as a shell and its terminal do
                signal.raise_signal(number)
            ended.append("the database")

    with pytest.raises(SystemExit), ended_in_order():
        work()
    assert ["the database"] == ended


async def test_the_end_of_the_parent_asks_once() -> None:
    ours, theirs = os.pipe()
    stop = StopRequests(ours)
    os.close(theirs)
    await stop.asked.wait()
    await asyncio.sleep(0.01)
    assert not stop.insisted.is_set()
    os.close(ours)


@pytest.mark.exhaustive  # each run has test_the_end_of_the_parent_asks_once
@pytest.mark.parametrize("rounds", range(4))
async def test_a_signal_just_before_answering_begins_is_not_lost(
    world: World, tmp_path: Path, rounds: int
) -> None:
    stop = StopRequests()
    settings = read_settings(data=tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        signal.raise_signal(signal.SIGINT)
        for _ in range(rounds):  # the event loop needs two to hand it over
            await asyncio.sleep(0)
        await asyncio.wait_for(answer(world.services, settings, listener, stop), 30)
    assert stop.asked.is_set()

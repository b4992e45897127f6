"""The operator's token after servers that were killed."""

import json
import math
import os
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.client.endpoint import ClientFiles, url_for_others
from kernelbot.domain.errors import NotAuthenticated, UserError
from kernelbot.server import operator
from kernelbot.server.operator import ServerNote, note_folder, renewed, sign_out_the_dead
from tests.support.waiting import until
from tests.support.world import World


async def left_behind(world: World, file: Path, pid: int, data: Path | None = None) -> str:
    """The token of a server of that process, in its file."""
    signed_in = await world.services.users.sign_in("op", Role.ADMIN, token_name="serve")
    note(file, signed_in.token, pid, data)
    return signed_in.token


def note(file: Path, token: str, pid: int, data: Path | None) -> None:
    found = {"url": "http://x", "token": token, "pid": pid}
    file.write_text(json.dumps(found | ({"data": str(data)} if data else {})))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def ended_process() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


async def test_the_next_start_takes_back_what_killed_servers_left(
    world: World, tmp_path: Path
) -> None:
    same_port = await left_behind(world, tmp_path / "8000.json", os.getpid())
    killed = await left_behind(world, tmp_path / "8001.json", ended_process())
    serving = await left_behind(world, tmp_path / "8002.json", os.getpid())
    (tmp_path / "8003.json").write_text("{")
    # Another process has its number by now, but not its lock.
    renumbered = await left_behind(world, tmp_path / "8004.json", os.getpid(), tmp_path)
    await sign_out_the_dead(world.services, tmp_path / "8000.json")
    for token in (same_port, killed, renumbered):
        with pytest.raises(NotAuthenticated):
            await world.services.users.authenticate(token)
    assert "op" == (await world.services.users.authenticate(serving)).name
    assert ["8002.json", "8003.json"] == names(tmp_path)


async def test_a_token_lasts_while_it_is_renewed_and_not_for_ever(
    world: World, tmp_path: Path
) -> None:
    token = await left_behind(world, tmp_path / "8000.json", os.getpid())
    with psycopg.connect(world.database.url, autocommit=True) as connection:

        def lasts_s() -> float:
            row = connection.execute(
                "SELECT extract(epoch FROM expires_at - now())::float8 FROM tokens"
                " ORDER BY id DESC LIMIT 1"
            ).fetchone()
            assert row is not None
            return float(row[0] or math.inf)

        async with renewed(world.services, token, lasts_s=5.0):
            for _ in range(3):
                connection.execute("UPDATE tokens SET expires_at = now() + interval '1 hour'")
                await until(lambda: lasts_s() <= 5.0)
            assert "op" == (await world.services.users.authenticate(token)).name
        assert lasts_s() <= 5.0


async def test_a_laptop_that_has_slept_for_an_hour_gets_its_token_renewed_when_it_wakes(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it sleeps no pause ends, and the token's time goes on."""
    monkeypatch.setattr(operator, "_LOOK_S", 0.01)
    awake = time.time
    token = await left_behind(world, tmp_path / "8000.json", os.getpid())
    with psycopg.connect(world.database.url, autocommit=True) as connection:

        def is_valid() -> bool:
            row = connection.execute(
                "SELECT expires_at > now() FROM tokens ORDER BY id DESC LIMIT 1"
            ).fetchone()
            return row is not None and row[0] is True

        async with renewed(world.services, token):
            await until(is_valid)
            connection.execute("UPDATE tokens SET expires_at = now() - interval '45 minutes'")
            monkeypatch.setattr(time, "time", lambda: awake() + 3600)
            await until(is_valid)
            assert "op" == (await world.services.users.authenticate(token)).name


@pytest.mark.parametrize("public_url", [None, "https://kernels.example/"])
def test_clients_here_hand_on_the_address_that_others_reach(
    tmp_path: Path, public_url: str | None
) -> None:
    here = "http://127.0.0.1:8000"
    (tmp_path / "8000.json").write_text(ServerNote(here, public_url, None).text("t"))
    files = ClientFiles(tmp_path / "config.toml", tmp_path, tmp_path / ".popcorn.yaml")
    expected = "https://kernels.example" if public_url else here
    assert (expected, "http://elsewhere") == (
        url_for_others(here, files),
        url_for_others("http://elsewhere", files),
    )


def test_a_home_without_room_for_the_note_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match="can't be made: Not a directory") as refused:
        note_folder()
    assert "XDG_STATE_HOME" in str(refused.value.hint)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert tmp_path / "state" / "kernelbot" / "servers" == note_folder()
    assert 0o700 == note_folder().stat().st_mode & 0o777

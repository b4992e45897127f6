import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.client.endpoint import DEFAULT_URL, ClientFiles, Endpoint, find_endpoint, remember
from kernelbot.domain.errors import UserError
from kernelbot.launchers.lockfile import LockFile


@pytest.fixture
def places(tmp_path: Path) -> ClientFiles:
    return ClientFiles(
        tmp_path / "c" / "config.toml", tmp_path / "servers", tmp_path / ".popcorn.yaml"
    )


def serve(places: ClientFiles, url: str, token: str, pid: int, data: Path | None = None) -> None:
    places.servers.mkdir(exist_ok=True)
    found = {"url": url, "token": token, "pid": pid}
    text = json.dumps(found | ({"data": str(data)} if data else {}))
    (places.servers / f"{url.rpartition(':')[2]}.json").write_text(text)


def a_dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_without_anything_it_is_the_usual_address(places: ClientFiles) -> None:
    assert Endpoint(DEFAULT_URL, None) == find_endpoint(environ={}, places=places)


def test_a_url_given_wins(places: ClientFiles) -> None:
    environ = {"KERNELBOT_URL": "http://b", "KERNELBOT_TOKEN": "t"}
    found = find_endpoint("http://a/", environ=environ, places=places)
    assert Endpoint("http://a", "t", "KERNELBOT_TOKEN") == found


def test_our_variable_comes_before_the_other_client_s(places: ClientFiles) -> None:
    environ = {"KERNELBOT_URL": "http://ours", "POPCORN_API_URL": "http://theirs"}
    assert "http://ours" == find_endpoint(environ=environ, places=places).url


def test_the_other_client_s_variable_is_honoured(places: ClientFiles) -> None:
    environ = {"POPCORN_API_URL": "http://theirs//"}
    assert "http://theirs" == find_endpoint(environ=environ, places=places).url


def test_a_server_of_this_account_needs_no_token(places: ClientFiles) -> None:
    serve(places, "http://127.0.0.1:8123", "secret", os.getpid())
    found = find_endpoint(environ={}, places=places)
    assert Endpoint("http://127.0.0.1:8123", "secret", "the local server") == found


def test_a_server_that_died_is_not_asked(places: ClientFiles) -> None:
    serve(places, "http://127.0.0.1:8123", "secret", a_dead_pid())
    assert Endpoint(DEFAULT_URL, None) == find_endpoint(environ={}, places=places)


def test_a_server_is_gone_with_its_lock_whoever_has_its_number_by_now(
    places: ClientFiles, tmp_path: Path
) -> None:
    """As after a restart of the machine, and in containers."""
    serve(places, "http://127.0.0.1:8123", "secret", os.getpid(), tmp_path / "data")
    tokens = [find_endpoint(environ={}, places=places).token]
    lock = LockFile.acquire(tmp_path / "data" / "serve.lock")
    assert lock is not None
    tokens.append(find_endpoint(environ={}, places=places).token)
    lock.release()
    tokens.append(find_endpoint(environ={}, places=places).token)
    assert [None, "secret", None] == tokens


def test_where_the_lock_can_not_be_read_the_number_decides(
    places: ClientFiles, tmp_path: Path
) -> None:
    (tmp_path / "data").touch()  # no folder
    tokens = []
    for pid in (os.getpid(), a_dead_pid()):
        serve(places, "http://127.0.0.1:8123", "secret", pid, tmp_path / "data")
        tokens.append(find_endpoint(environ={}, places=places).token)
    assert ["secret", None] == tokens


def test_a_local_token_goes_to_its_own_server_only(places: ClientFiles) -> None:
    serve(places, "http://127.0.0.1:8123", "secret", os.getpid())
    assert None is find_endpoint("http://else.where", environ={}, places=places).token


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": "http://a"}', '{"url":1,"pid":"x"}'])
def test_a_broken_state_file_is_no_server(places: ClientFiles, text: str) -> None:
    places.servers.mkdir()
    (places.servers / "8000.json").write_text(text)
    assert Endpoint(DEFAULT_URL, None) == find_endpoint(environ={}, places=places)


def test_the_token_kept_at_login_is_used(places: ClientFiles) -> None:
    path = remember("http://a/", 'quo"te\\', places)
    assert Endpoint("http://a", 'quo"te\\', str(path)) == find_endpoint(environ={}, places=places)


def test_a_second_login_keeps_the_first(places: ClientFiles) -> None:
    remember("http://a", "1", places)
    remember("http://b", "2", places)
    tokens = [
        find_endpoint(url, environ={}, places=places).token for url in ("http://a", "http://b")
    ]
    assert ["1", "2"] == tokens


def test_only_this_account_reads_the_tokens(places: ClientFiles) -> None:
    assert 0o600 == stat.S_IMODE(remember("http://a", "1", places).stat().st_mode)


def test_the_other_client_s_token_is_used(places: ClientFiles) -> None:
    places.popcorn.write_text("cli_id: abc123\n")
    found = find_endpoint("http://a", environ={}, places=places)
    assert Endpoint("http://a", "abc123", str(places.popcorn)) == found


@pytest.mark.parametrize("content", [b"- a\n", b"cli_id: [", b"\xff\xfe", b"cli_id:\n"])
def test_the_other_client_s_file_may_be_broken(places: ClientFiles, content: bytes) -> None:
    places.popcorn.write_bytes(content)
    assert None is find_endpoint("http://a", environ={}, places=places).token


@pytest.mark.parametrize("content", [b"url = ", b"\xff", b"tokens = 3", b"url = 3"])
def test_our_own_broken_file_is_named(places: ClientFiles, content: bytes) -> None:
    places.config.parent.mkdir()
    places.config.write_bytes(content)
    with pytest.raises(UserError, match=r"config\.toml"):
        find_endpoint(environ={}, places=places)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://a", "http://", "'; echo x"])
def test_what_is_no_url_is_refused(places: ClientFiles, url: str) -> None:
    with pytest.raises(UserError, match="is not a server's URL"):
        find_endpoint(url, environ={}, places=places)


def test_a_token_is_not_in_the_text_form() -> None:
    assert "secret" not in repr(Endpoint("http://a", "secret"))


def test_a_mark_at_the_beginning_of_the_configuration_is_passed_over(places: ClientFiles) -> None:
    places.config.parent.mkdir()
    places.config.write_text('url = "http://a"\n', "utf-8-sig")
    assert "http://a" == find_endpoint(environ={}, places=places).url


def test_a_folder_in_the_place_of_the_configuration_is_named(places: ClientFiles) -> None:
    places.config.mkdir(parents=True)
    with pytest.raises(UserError, match=r"config\.toml can't be read: Is a directory\."):
        find_endpoint(environ={}, places=places)


def test_a_token_that_can_not_be_kept_is_told(places: ClientFiles) -> None:
    places.config.parent.write_text("")  # where its folder would be
    with pytest.raises(UserError, match=r"config\.toml can't be written: File exists\."):
        remember("http://a", "t", places)

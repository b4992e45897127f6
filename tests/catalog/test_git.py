import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from kernelbot.catalog import git
from kernelbot.catalog.git import GitLimits, fetch, repository_url, without_password
from kernelbot.domain.errors import InvalidProblem, Unavailable, UserError
from tests.support import problem_sets
from tests.support.git_server import PASSWORD, git_server
from tests.support.problem_sets import commit_all


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "a").write_text("1")
    commit_all(folder)
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def url(folder: Path) -> str:
    return f"file://{folder}"


def test_the_default_branch(origin: Path, into: Path) -> None:
    commit = fetch(url(origin), None, into)
    expected = problem_sets.git(origin, "rev-parse", "HEAD")
    assert (expected, "1") == (commit, (into / "checkout" / "a").read_text())


@pytest.mark.parametrize("ref", ["autumn", "v1", "commit"])
def test_a_branch_a_tag_or_a_commit(origin: Path, into: Path, ref: str) -> None:
    first = problem_sets.git(origin, "rev-parse", "HEAD")
    problem_sets.git(origin, "branch", "autumn")
    problem_sets.git(origin, "tag", "v1")
    (origin / "a").write_text("2")
    commit_all(origin)
    found = fetch(url(origin), first if ref == "commit" else ref, into)
    assert (first, "1") == (found, (into / "checkout" / "a").read_text())


@pytest.mark.parametrize("ref", ["nowhere", "0" * 40, "--upload-pack=touch x", "a..b", "a b", "-x"])
def test_a_reference_that_is_not_there(origin: Path, into: Path, ref: str) -> None:
    with pytest.raises(UserError):
        fetch(url(origin), ref, into)


@pytest.mark.exhaustive
def test_folders_that_hold_each_other_ten_milliard_times(origin: Path, into: Path) -> None:
    tree = problem_sets.git(origin, "rev-parse", "HEAD^{tree}")
    for _ in range(10):
        lines = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        tree = problem_sets.git(origin, "mktree", text=lines)
    commit = problem_sets.git(origin, "commit-tree", tree, "-m", "bomb")
    problem_sets.git(origin, "branch", "bomb", commit)
    with pytest.raises(InvalidProblem, match="too large"):
        fetch(url(origin), "bomb", into, GitLimits(timeout_s=60))


def test_a_repository_that_is_gone(tmp_path: Path, into: Path) -> None:
    """Git's advice, which comes below the reason, is for whoever typed the command."""
    gone = tmp_path / "none"
    with pytest.raises(UserError) as caught:
        fetch(url(gone), None, into)
    reason = f"'{gone}' does not appear to be a git repository"
    assert f"HEAD can't be fetched from file://{gone}: {reason}" == str(caught.value)


def test_an_empty_repository(tmp_path: Path, into: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    problem_sets.git(empty, "init", "--quiet")
    with pytest.raises(UserError, match=r"anything in the repository|can't be fetched"):
        fetch(url(empty), None, into)


def test_a_huge_repository(origin: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MAX_BYTES", 1000)
    (origin / "big").write_bytes(os.urandom(1001))
    commit_all(origin)
    with pytest.raises(InvalidProblem, match="too large"):
        fetch(url(origin), None, into)
    assert not (into / "checkout" / "big").exists()


def test_a_repository_with_too_many_files(
    origin: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_FILES", 1)
    (origin / "b").write_text("")
    commit_all(origin)
    with pytest.raises(InvalidProblem, match="too large"):
        fetch(url(origin), None, into)


def test_git_writes_no_file_beyond_its_limit(origin: Path, into: Path) -> None:
    (origin / "big").write_bytes(os.urandom(3 << 20))
    commit_all(origin)
    with pytest.raises((UserError, InvalidProblem)):
        fetch(url(origin), None, into, GitLimits(file_mib=1))


def test_a_server_that_never_answers(into: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(Unavailable, match="longer than"):
            fetch(address, None, into, GitLimits(timeout_s=0.5))


def test_nobody_waits_for_it_any_more(into: Path) -> None:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"

        def leave() -> None:
            with silent.accept()[0] as connection:
                over.set()
                while connection.recv(1 << 16):  # until git ends
                    pass

        leaving = threading.Thread(target=leave)
        leaving.start()
        with pytest.raises(Unavailable, match="nobody waits for it"):
            fetch(address, None, into, over=over)
        leaving.join()


def test_no_hook_runs(origin: Path, into: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hook = origin / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    fetch(url(origin), None, into)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu-mode/reference-kernels", "https://github.com/gpu-mode/reference-kernels.git"),
        (" file:///srv/x ", "file:///srv/x"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("HTTPS://example.org/a", "HTTPS://example.org/a"),
    ],
)
def test_addresses(text: str, expected: str) -> None:
    assert expected == repository_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "/etc",
        "../x",
        "ext::sh -c id",
        "--upload-pack=id",
        "-u/x",
        "file:///a b",
        "ftp://x/y",
        "a/b/c",
    ],
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(UserError):
        repository_url(text)


def test_a_password_reaches_the_server_and_nobody_else(origin: Path, into: Path) -> None:
    with git_server(origin.parent) as server:
        host = f"127.0.0.1:{server.server_port}"
        fetch(f"http://ada:{quote(PASSWORD)}@{host}/origin/.git", None, into)
    assert "1" == (into / "checkout" / "a").read_text()
    assert b"git" in server.command_lines
    assert quote(PASSWORD).encode() not in server.command_lines
    assert PASSWORD.encode() not in server.command_lines


def test_a_wrong_password_is_in_no_message(origin: Path, into: Path) -> None:
    with git_server(origin.parent) as server:
        host = f"127.0.0.1:{server.server_port}"
        with pytest.raises(UserError) as raised:
            fetch(f"http://ada:secret@{host}/origin/.git", None, into)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://ada:secret@example.org/a.git", "https://example.org/a.git"),
        ("HTTPS://token@example.org:8443/a", "HTTPS://example.org:8443/a"),
        ("https://a:b@c:d@example.org/x@y", "https://example.org/x@y"),
        ("ssh://git:secret@example.org/a", "ssh://git@example.org/a"),
        ("ftp://u:secret@x/y", "ftp://u@x/y"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("https://example.org/a@b", "https://example.org/a@b"),
        ("owner/name", "owner/name"),
    ],
)
def test_an_address_without_its_password(address: str, expected: str) -> None:
    assert expected == without_password(address)


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
def test_no_proxy_is_asked_for_hosts_that_need_none(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv(name, "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        answering = threading.Thread(target=server.serve_forever, args=(0.01,))
        answering.start()
        try:
            with pytest.raises(UserError) as refused:
                fetch(f"http://127.0.0.1:{server.server_port}/x.git", None, tmp_path)
        finally:
            server.shutdown()
            answering.join()
    assert "501" in str(refused.value)  # the server's own: it knows no method

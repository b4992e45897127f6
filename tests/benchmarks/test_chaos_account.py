"""A server that belongs to another account than the schedulers around it."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.chaos_account import Account, AccountTrouble, account_of, calls_as

NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Account]:
    with calls_as(NOBODY, NOBODY) as calls:
        yield Account("nobody", NOBODY, NOBODY, tmp_path, group=None, calls=calls)


@needs_root
def test_a_command_runs_as_the_account(account: Account) -> None:
    command = [*account.command, "id", "-u"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert f"{NOBODY}\n" == said.stdout


@needs_root
def test_a_command_starts_in_the_accounts_group(account: Account, tmp_path: Path) -> None:
    """Joined by root, before it becomes the account."""
    joined = replace(account, group=tmp_path / "a group")
    (tmp_path / "a group").mkdir(mode=0o700)
    said = subprocess.run(
        [*joined.command, "sh", "-c", "echo $$"],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert said.stdout == (tmp_path / "a group" / "cgroup.procs").read_text()


@needs_root
def test_a_call_is_made_by_the_account_while_we_stay_root(account: Account) -> None:
    """Threads of this process go on as root meanwhile, such as the agents of the fake Buildkite."""
    there = [account.call(which) for which in (os.getuid, os.geteuid, os.getgid)]
    assert ([NOBODY] * 3, 0) == (there, os.geteuid())


def test_an_account_that_does_not_exist_is_said() -> None:
    with pytest.raises(AccountTrouble, match="no account of-nobody"), account_of("of-nobody", None):
        pass

"""A server that belongs to another account than the schedulers around it."""

import os
import subprocess
from pathlib import Path

import pytest
from benchmarks.chaos_account import Account, AccountTrouble, account_of

NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account("nobody", NOBODY, NOBODY, tmp_path, group=None)


@needs_root
def test_a_command_runs_as_the_account(account: Account) -> None:
    command = [*account.command, "id", "-u"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert f"{NOBODY}\n" == said.stdout


@needs_root
def test_a_command_starts_in_the_accounts_group(account: Account, tmp_path: Path) -> None:
    """Joined by root, before it becomes the account."""
    joined = Account("nobody", NOBODY, NOBODY, tmp_path, group=tmp_path / "a group")
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
def test_the_process_counts_as_the_account_for_a_while(account: Account) -> None:
    with account.acting():
        during = (os.geteuid(), os.getegid())
    assert ((NOBODY, NOBODY), (0, 0)) == (during, (os.geteuid(), os.getegid()))


def test_an_account_that_does_not_exist_is_said() -> None:
    with pytest.raises(AccountTrouble, match="no account of-nobody"), account_of("of-nobody", None):
        pass

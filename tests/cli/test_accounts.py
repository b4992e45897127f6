"""Accounts and access from the terminal, against a real server."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import LoginRules, github
from tests.fakes.oauth_provider import CLIENT_ID, CLIENT_SECRET, FakeProvider, fake_provider
from tests.support.live import LiveServer, live_server
from tests.support.terminal import Shell

pytestmark = pytest.mark.each_run(
    "test_a_token_is_made_and_revoked",
    "test_a_role_and_a_ban",
    "test_an_invite_from_the_maker_to_the_guest",
    "test_a_deadline_is_written_as_in_competition_files",
)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with fake_provider("github") as fake:
        yield fake


@pytest.fixture
def live(database_url: str, provider: FakeProvider) -> Iterator[LiveServer]:
    app = github(CLIENT_ID, CLIENT_SECRET, url=provider.url, api_url=provider.url)
    with live_server(database_url, LoginRules((app,))) as server:
        yield server


def logged_in(live: LiveServer, shell: Shell, *options: str) -> str:
    """What `login --github` says, once somebody has typed its code in a browser."""
    waiting = shell.start("login", live.url, "--github", "--json", *options)
    assert waiting.stderr is not None
    page = waiting.stderr.readline().removeprefix("Open ").strip()
    code = re.search(r"[A-Z]{4}-[A-Z]{4}", waiting.stderr.readline())
    assert code is not None
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        form = browser.get(page).text
        csrf = re.search(r'name="csrf" value="(\w+)"', form)
        assert csrf is not None
        browser.post(f"{live.url}/auth/device", data={"csrf": csrf[1], "code": code[0]})
    return waiting.communicate(timeout=60)[0]


def test_a_terminal_logs_in_through_a_browser(
    live: LiveServer, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.person = (7, "grace")
    shell = Shell(tmp_path, {})
    out = logged_in(live, shell)
    said = shell("token", "list", "--json").document
    names = [token["name"] for token in said["tokens"]]
    assert (True, ["terminal", "web login"]) == ('"user": "grace"' in out, names)


def test_an_invite_makes_an_account_from_a_terminal(
    database_url: str, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.person = (7, "grace")
    app = github(CLIENT_ID, CLIENT_SECRET, url=provider.url, api_url=provider.url)
    with live_server(database_url, LoginRules((app,), Registration.INVITE)) as live:
        live.call(live.world.board())
        made = live.call(live.world.services.invites.create(live.world.admin.user, ("sort",)))
        out = logged_in(live, Shell(tmp_path, {}), "--invite", made.codes[0])
    assert '"user": "grace"' in out


def test_an_invite_joins_with_a_token_too(live: LiveServer, ada: Shell) -> None:
    live.call(live.world.board())
    made = live.call(live.world.services.invites.create(live.world.admin.user, ("sort",)))
    said = ada("login", live.url, live.world.ada.token, "--invite", made.codes[0])
    assert (0, True) == (said.code, "Boards you can use now: sort" in said.out)


def test_an_identity_is_listed_and_unlinked(
    live: LiveServer, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.person = (7, "grace")
    shell = Shell(tmp_path, {})
    logged_in(live, shell)  # whose token doesn't expire
    listed = shell("identity", "list").out
    wrong = shell("identity", "unlink", "discord", "--json")
    gone = shell("identity", "unlink", "github", "--json")
    left = shell("identity", "list", "--json").document
    assert (True, 2, "7", []) == (
        "github:7" in listed,
        wrong.code,
        gone.document["subject"],
        left["identities"],
    )


def test_a_login_without_a_token_says_how(live: LiveServer, tmp_path: Path) -> None:
    said = Shell(tmp_path, {})("login", live.url, "--json")
    assert (2, "bad_request") == (said.code, said.document["error"]["code"])


def test_a_token_is_made_and_revoked(ada: Shell) -> None:
    made = ada("token", "create", "laptop", "--days", "3", "--json").document
    listed = ada("token", "list").out
    gone = ada("token", "revoke", str(made["id"]), "--json")
    left = ada("token", "list", "--json").document["tokens"]
    assert (True, 0, ["first"]) == ("laptop" in listed, gone.code, [t["name"] for t in left])


def test_a_new_token_says_what_it_ends_with(ada: Shell) -> None:
    (first,) = ada("token", "list", "--json").document["tokens"]
    said = ada("token", "create", "laptop").out
    assert f"It ends with the token that made it, {first['id']}." in said


def test_a_role_and_a_ban(admin: Shell) -> None:
    role = admin("user", "role", "ada", "creator")
    ban = admin("user", "ban", "ada", "--reason", "copied")
    listed = admin("user", "list", "--search", "ada").out
    unban = admin("user", "unban", "ADA")
    assert [0, 0, 0] == [role.code, ban.code, unban.code]
    assert (True, True) == ("creator" in listed, "banned" in listed)


def test_an_invite_from_the_maker_to_the_guest(live: LiveServer, admin: Shell, ada: Shell) -> None:
    live.call(live.world.board())
    admin("board", "edit", "sort", "--visibility", "closed")
    code = admin("invite", "create", "sort").out.strip()
    joined = ada("join", code)
    listed = admin("invite", "list", "sort").out
    revoked = admin("invite", "revoke", code)
    assert ("Boards you can use now: sort\n", True, 0) == (
        joined.out,
        "ada" in listed,
        revoked.code,
    )


def test_limits_are_set_shown_and_lifted(live: LiveServer, admin: Shell) -> None:
    live.call(live.world.board())
    set_ = admin("board", "limit", "sort", "--ranked", "0", "--test", "60").out
    lifted = admin("board", "limit", "sort", "--ranked", "none").out
    assert "test: 60 an hour\nleaderboard: not accepted for now\n" == set_
    assert "test: 60 an hour\nleaderboard: any number\n" == lifted


def test_a_pause_and_what_the_log_says_of_it(live: LiveServer, admin: Shell, ada: Shell) -> None:
    live.call(live.world.board())
    admin("pause", "moving")
    refused = ada("submit", "fast.py", "--board", "sort", "--json")
    admin("resume")
    log = admin("audit", "--action", "platform", "--json").document["entries"]
    assert (3, "paused") == (refused.code, refused.document["error"]["code"])
    assert ["platform.resume", "platform.pause"] == [entry["action"] for entry in log]


def test_a_deadline_from_the_terminal(live: LiveServer, admin: Shell) -> None:
    live.call(live.world.board())
    over = admin("board", "edit", "sort", "--deadline", "2020-01-01T00:00:00")
    wrong = admin("board", "edit", "sort", "--deadline", "soon")
    assert ("sort: deadline: none -> 2020-01-01 00:00 UTC\n", 2) == (over.out, wrong.code)


def test_an_account_is_deleted_by_an_admin_and_by_its_owner(
    live: LiveServer, admin: Shell, ada: Shell
) -> None:
    live.call(live.world.board())
    live.call(live.world.submit())
    kept = ada("user", "delete", "ADA")
    own = ada("user", "delete", "ADA", "--force", "--json")
    bob = admin("user", "delete", "bob")
    afterwards = ada("submission", "list", "--json")
    assert (2, {"user": "ADA", "submissions": 1}) == (kept.code, own.document)
    assert (0, "not_authenticated") == (bob.code, afterwards.document["error"]["code"])


def test_a_deadline_is_written_as_in_competition_files(live: LiveServer, admin: Shell) -> None:
    live.call(live.world.board())
    said = admin("board", "edit", "sort", "--deadline", "2027-1-31 7:59 +02:00")
    assert "sort: deadline: none -> 2027-01-31 05:59 UTC\n" == said.out


def test_the_address_of_a_page_is_no_servers(live: LiveServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"KERNELBOT_TOKEN": "t"})
    address = f"{live.url}/board/sort"
    for command in (("whoami", "--url", address), ("login", address, "t")):
        said = shell(*command)
        assert (2, f"Error: {address} isn't a KernelBot server's address.") == (
            said.code,
            said.err.splitlines()[0],
        )

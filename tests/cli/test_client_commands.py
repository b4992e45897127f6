"""The commands that talk to a server, against a real one without a worker."""

import signal
import stat
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.client.endpoint import ClientFiles, remember
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Lang
from kernelbot.render.advice import ADVICE
from tests.support.live import LiveServer
from tests.support.problems import CORRECT
from tests.support.terminal import Shell

pytestmark = pytest.mark.each_run(
    "test_a_competitor_creates_no_board",
    "test_boards_are_listed",
    "test_a_board_as_json",
    "test_a_statement",
    "test_a_user_and_their_token",
    "test_a_login_is_kept_for_this_account_alone",
    "test_a_submission_that_nobody_waits_for",
    "test_a_submission_is_cancelled_and_waiting_for_it_ends",
    "test_ctrl_c_leaves_it_running",
    "test_a_hostile_name_is_kept",
    "test_a_file_that_is_not_taken",
    "test_without_a_server_it_is_said_how_to_get_one",
)


@pytest.fixture
def board(live: LiveServer) -> None:
    live.call(live.world.board())


def test_a_board_from_a_folder(admin: Shell, tmp_path: Path) -> None:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    said = admin("board", "create", "--from", "sums", "--name", "autumn", "--json")
    document = said.document
    assert (0, "autumn", ["CPU"]) == (said.code, document["board"], document["devices"])


def test_a_competitor_creates_no_board(ada: Shell, tmp_path: Path) -> None:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    said = ada("board", "create", "--from", "sums", "--json")
    assert (2, "not_allowed") == (said.code, said.document["error"]["code"])


@pytest.mark.usefixtures("board")
def test_boards_are_listed(ada: Shell) -> None:
    said = ada("board", "list")
    expected = "board  devices  ranked by  deadline\nsort   CPU      last       no deadline\n"
    assert (0, expected) == (said.code, said.out)


@pytest.mark.usefixtures("board")
def test_a_board_is_shown(ada: Shell) -> None:
    said = ada("board", "show", "sort")
    expected = "sort on CPU: no deadline\nSort it.\n(Python)\n\nNobody is ranked here yet.\n"
    assert (0, expected, "") == (said.code, said.out, said.err)


@pytest.mark.usefixtures("board")
def test_a_board_as_json(ada: Shell) -> None:
    document = ada("board", "show", "sort", "--json").document
    assert ("sort", "CPU", []) == tuple(document[key] for key in ("board", "device", "standings"))


@pytest.mark.usefixtures("board")
def test_a_statement(ada: Shell) -> None:
    said = ada("board", "show", "sort", "--statement")
    assert (0, True) == (said.code, said.out.startswith("Sort it.\n\nTo start from, Python:\n"))


def test_a_user_and_their_token(admin: Shell, live: LiveServer) -> None:
    made = admin("user", "create", "eve", "--json").document
    shell = Shell(admin.home, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": made["token"]})
    assert ({"id", "name", "token"} - set(made), 0) == (set(), shell("submission", "list").code)


def test_a_login_is_kept_for_this_account_alone(live: LiveServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {})
    said = shell("login", live.url + "/", live.world.ada.token, "--json")
    file = Path(said.document["file"])
    listed = shell("submission", "list", "--json")
    assert (0, 0o600, 0, []) == (
        said.code,
        stat.S_IMODE(file.stat().st_mode),
        listed.code,
        listed.document["submissions"],
    )


def test_a_token_that_is_not_good_is_not_kept(live: LiveServer, tmp_path: Path) -> None:
    said = Shell(tmp_path, {})("login", live.url, "wrong", "--json")
    assert (2, "not_authenticated", []) == (
        said.code,
        said.document["error"]["code"],
        list(tmp_path.rglob("config.toml")),
    )


def test_what_to_do_next_is_printed_once(live: LiveServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": "wrong"})
    said, document = shell("submission", "list"), shell("submission", "list", "--json").document
    advice = ADVICE[Next.LOG_IN]
    assert f"Error: The token isn't valid here.\n{advice}\n" == said.err
    assert {
        "code": "not_authenticated",
        "detail": "The token isn't valid here.",
        "fault": "author",
        "next": "log_in",
        "hint": advice,
    } == document["error"]


def test_the_other_client_s_token_works(live: LiveServer, tmp_path: Path) -> None:
    (tmp_path / ".popcorn.yaml").write_text(f"cli_id: {live.world.ada.token}\n")
    shell = Shell(tmp_path, {"POPCORN_API_URL": live.url})
    assert 0 == shell("submission", "list").code


@pytest.mark.usefixtures("board")
def test_a_submission_that_nobody_waits_for(ada: Shell) -> None:
    said = ada("submit", "fast.py", "--board", "sort", "--no-wait", "--json")
    assert (0, "", 1, "queued") == (
        said.code,
        said.err,
        said.document["id"],
        said.document["state"],
    )


@pytest.mark.usefixtures("board")
def test_a_submission_is_shown(ada: Shell) -> None:
    ada("submit", "fast.py", "--board", "sort", "--no-wait")
    said = ada("submission", "show", "1")
    expected = (
        "Submission 1 (fast.py) waits in the queue at position 1. Its device is not available: no "
        "worker serves it just now.\n\n"
        "Public run on CPU: waiting in the queue\n\n"
        "Secret run on CPU: waiting in the queue\n\n"
        "Its page: "
    )
    assert (0, expected) == (said.code, said.out[: len(expected)])
    assert said.out.endswith("/submission/1\n")


@pytest.mark.usefixtures("board")
def test_a_submission_as_json(ada: Shell) -> None:
    ada("submit", "fast.py", "--board", "sort", "--no-wait")
    document = ada("submission", "show", "1", "--json").document
    assert (1, "queued", None, None, None, 2) == (
        *(document[key] for key in ("id", "state", "verdict", "score_s", "place")),
        len(document["runs"]),
    )


@pytest.mark.usefixtures("board")
def test_its_source_can_be_had_back(ada: Shell) -> None:
    ada("submit", "fast.py", "--board", "sort", "--no-wait")
    assert CORRECT.decode() == ada("submission", "show", "1", "--code").out


@pytest.mark.usefixtures("board")
def test_a_submission_is_cancelled_and_waiting_for_it_ends(ada: Shell) -> None:
    ada("submit", "fast.py", "--board", "sort", "--no-wait")
    cancelled = ada("submission", "cancel", "1")
    waited = ada("submission", "wait", "1")
    assert (0, "Submission 1 is cancelled.\n", 1, "Submission 1 (fast.py) is cancelled.") == (
        cancelled.code,
        cancelled.out,
        waited.code,
        waited.out.splitlines()[0],
    )


@pytest.mark.usefixtures("board")
def test_ctrl_c_leaves_it_running(ada: Shell) -> None:
    process = ada.start("submit", "fast.py", "--board", "sort")
    assert process.stderr is not None
    while "waiting in the queue" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    state = ada("submission", "show", "1", "--json").document["state"]
    assert (130, "queued", True) == (
        process.returncode,
        state,
        "To follow it: kernelbot submission wait 1" in rest,
    )


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize("name", ["a'; echo x.py", 'quo"te.py', "-n.py", "späße.py"])
def test_a_hostile_name_is_kept(ada: Shell, name: str) -> None:
    (ada.home / name).write_bytes(CORRECT)
    document = ada("submit", "--board", "sort", "--no-wait", "--json", "--", name).document
    assert name == document["file_name"]


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("new\nline.py", CORRECT, "invalid_submission"),
        ("big.py", b"#" * (2 << 20), "submission_too_large"),
        ("binary.py", b"\xff\xfe\x00", "invalid_submission"),
        ("empty.py", b"", "invalid_submission"),
        ("fast.exe", CORRECT, "invalid_submission"),
        ("gone.py", None, "invalid_submission"),
    ],
)
def test_a_file_that_is_not_taken(ada: Shell, name: str, content: bytes | None, code: str) -> None:
    if content is not None:
        (ada.home / name).write_bytes(content)
    said = ada("submit", name, "--board", "sort", "--json")
    assert (2, code) == (said.code, said.document["error"]["code"])


@pytest.mark.usefixtures("board")
def test_a_file_whose_name_is_not_utf_8(ada: Shell) -> None:
    name = b"caf\xe9.py".decode(errors="surrogateescape")
    (ada.home / name).write_bytes(CORRECT)
    said = ada("submit", name, "--board", "sort", "--no-wait", "--json")
    assert (0, "caf?.py") == (said.code, said.document["file_name"])


def test_a_board_that_is_not_there(ada: Shell) -> None:
    said = ada("submit", "fast.py", "--board", "a'; echo x")
    assert (2, "", True) == (said.code, said.out, said.err.startswith("Error: "))


def test_without_a_server_it_is_said_how_to_get_one(shell: Shell) -> None:
    said = shell("board", "list", "--url", "http://127.0.0.1:1", "--json")
    error = said.document["error"]
    assert (3, "unreachable", "platform", True) == (
        said.code,
        error["code"],
        error["fault"],
        "kernelbot serve" in error["hint"],
    )


def test_devices_are_listed(ada: Shell) -> None:
    said = ada("devices")
    assert (0, ["CPU", "H100"]) == (
        said.code,
        [line.split()[0] for line in said.out.splitlines()[1:]],
    )


def test_a_reader_that_goes_away_is_no_crash(ada: Shell) -> None:
    process = ada.start("board", "list")
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors


def test_a_starter_file_is_written_once(admin: Shell, tmp_path: Path) -> None:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    admin("board", "create", "--from", "sums")
    written = admin("board", "starter", "sums", "--to", "mine.py")
    again = admin("board", "starter", "sums", "--to", "mine.py", "--json")
    assert (0, True, "conflict") == (
        written.code,
        "def custom_kernel" in (tmp_path / "mine.py").read_text(),
        again.document["error"]["code"],
    )


@pytest.mark.usefixtures("board")
def test_a_board_that_was_meant_is_named(ada: Shell) -> None:
    said = ada("submit", "fast.py", "--board", "srot")
    assert (2, True) == (said.code, "Did you mean sort?" in said.err)


@pytest.mark.usefixtures("board")
def test_an_empty_list_of_a_board_names_it_if_it_is_there(ada: Shell) -> None:
    empty = ada("submission", "list", "--board", "sort")
    wrong = ada("submission", "list", "--board", "srot")
    expected = "You have submitted nothing to sort yet. To submit: "
    assert (0, f"{expected}kernelbot submit FILE --board sort\n") == (empty.code, empty.out)
    assert (2, True) == (wrong.code, "Did you mean sort?" in wrong.err)


def test_one_may_ask_who_one_is_and_log_out(live: LiveServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {})
    shell("login", live.url, live.world.ada.token)
    who = shell("whoami", "--json").document
    out = shell("logout")
    nobody = shell("logout", "--json", live.url).document["error"]["code"]
    assert (live.url, "ada", 0, "bad_request") == (who["url"], who["user"], out.code, nobody)


@pytest.mark.usefixtures("board")
def test_the_server_is_named_if_there_are_others(live: LiveServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {})
    remember("http://kernels.example.org", "t", places_of(tmp_path))
    remember(live.url, live.world.ada.token, places_of(tmp_path))
    assert f"Server: {live.url} (from " in shell("board", "list").err


def places_of(home: Path) -> ClientFiles:
    config = home / ".config" / "kernelbot" / "config.toml"
    return ClientFiles(config, home / "servers", home / ".popcorn.yaml")

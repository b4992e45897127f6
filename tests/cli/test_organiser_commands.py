"""What organisers type, against a real server without a worker."""

from pathlib import Path

import pytest

from kernelbot.render.duels import NOT_BY_WORKLOAD
from tests.support.judging import fought
from tests.support.live import LiveServer
from tests.support.problem_sets import commit_all, write_competition, write_problem
from tests.support.ranked import ranked
from tests.support.terminal import Shell

pytestmark = pytest.mark.each_run(
    "test_a_folder_is_synced_after_a_look_at_the_plan",
    "test_a_mistake_is_named_and_ends_with_two",
    "test_statistics_deletion_and_revealing",
    "test_a_board_may_let_no_submission_wait_for_a_device_that_is_down",
)


@pytest.fixture
def admin(live: LiveServer, tmp_path: Path) -> Shell:
    write_problem(tmp_path / "set", "one")
    write_competition(tmp_path / "set", "one")
    return Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": live.world.admin.token})


def test_a_folder_is_synced_after_a_look_at_the_plan(admin: Shell) -> None:
    plan, done = admin("sync", "set", "--dry-run"), admin("sync", "set")
    expected = "+ create one: on CPU\nset: 1 of 1 boards would change.\n"
    assert (0, expected) == (plan.code, plan.out)
    assert (0, expected.replace("would change", "changed")) == (done.code, done.out)


def test_a_device_more_leaves_the_ranking_as_it_is(
    admin: Shell, live: LiveServer, tmp_path: Path
) -> None:
    admin("sync", "set")
    live.call(ranked(live.world, 1.0, board="one"))
    before = admin("board", "show", "one", "--device", "CPU", "--csv")
    write_competition(tmp_path / "set", "one", gpus="[CPU, H100]")
    done = admin("sync", "set")
    after = admin("board", "show", "one", "--device", "CPU", "--csv")
    assert (0, "~ update one: devices: CPU, H100\nset: 1 of 1 boards changed.\n") == (
        done.code,
        done.out,
    )
    assert (0, True, before.out) == (after.code, "ada" in after.out, after.out)


def test_a_repository_is_synced(admin: Shell, tmp_path: Path) -> None:
    commit = commit_all(tmp_path / "set")
    document = admin("sync", f"file://{tmp_path}/set", "--ref", "main", "--json").document
    assert (commit, True, "create") == (
        document["commit"],
        document["applied"],
        document["items"][0]["action"],
    )


def test_a_mistake_is_named_and_ends_with_two(admin: Shell, tmp_path: Path) -> None:
    (tmp_path / "set" / "one" / "reference.py").unlink()
    said = admin("sync", "set")
    assert (2, True) == (said.code, "no such file: `reference.py`" in said.out)
    counts = "set: 0 of 0 boards changed. Not read because of mistakes: 1."
    assert counts == said.out.splitlines()[-1]


def test_a_folder_that_is_not_there_is_said_to_be_none(admin: Shell) -> None:
    said = admin("sync", "nosuchfolder")
    expected = "There is no folder or archive nosuchfolder here, so it was taken for a repository."
    assert (2, True) == (said.code, expected in said.err), said.err


def test_what_nobody_reads_is_named_with_the_plan(admin: Shell, tmp_path: Path) -> None:
    write_competition(tmp_path / "set", "one", more="dead_line: 2027-01-01")
    said = admin("sync", "set", "--dry-run")
    note = "Note: spring.yaml:4: dead_line: unknown key, ignored"
    assert ("+ create one: on CPU", note) == tuple(said.out.splitlines()[:2])


def test_statistics_deletion_and_revealing(admin: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    sent = live.call(live.world.submit())
    refused = admin("board", "delete", "sort", "--json").document["error"]
    assert ("force", "With --force they are deleted as well.") == (
        refused["next"],
        refused["hint"],
    )
    stats = admin("stats", "--board", "sort", "--json").document
    revealed = admin("board", "edit", "sort", "--reveal-code", "--json").document
    gone = admin("submission", "delete", str(sent.id), "--json").document
    emptied = admin("board", "delete", "sort", "--json").document
    assert (1, True, 1, 0) == (
        stats["submissions"],
        revealed["reveal_code"],
        gone["submissions"],
        emptied["submissions"],
    )


def test_secret_runs_can_share_a_seed(admin: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    edited = admin("board", "edit", "sort", "--fixed-seed", "--json").document
    assert edited["fixed_seed"] is True


def test_a_board_may_let_no_submission_wait_for_a_device_that_is_down(
    admin: Shell, ada: Shell, live: LiveServer
) -> None:
    live.call(live.world.board())
    edited = admin("board", "edit", "sort", "--refuse-unavailable")
    refused = ada("submit", "fast.py", "--board", "sort", "--json")
    again = admin("board", "edit", "sort", "--let-wait", "--json").document
    assert (
        "sort: while a device takes no jobs: submissions wait -> submissions are refused",
        (2, "device_unavailable"),
        False,
    ) == (
        edited.out.strip(),
        (refused.code, refused.document["error"]["code"]),
        again["refuse_unavailable"],
    )


def test_a_board_for_gpus_may_take_tests_on_a_processor(
    admin: Shell, ada: Shell, live: LiveServer
) -> None:
    live.call(live.world.board(devices=("H100",)))
    edited = admin("board", "edit", "sort", "--try-on-cpu")
    shown = ada("board", "show", "sort")
    again = admin("board", "edit", "sort", "--no-try-on-cpu", "--json").document
    assert (
        "sort: tests on a processor: only if it is one of its devices -> taken as well",
        True,
        False,
    ) == (edited.out.strip(), "--mode test --device CPU" in shown.out, again["try_on_cpu"])


def test_a_deletion_names_what(admin: Shell) -> None:
    said = admin("submission", "delete", "--board", "sort", "--json")
    assert (2, "bad_request") == (said.code, said.document["error"]["code"])


def test_duels_are_listed(admin: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    first = live.call(ranked(live.world, 1.0, relative_error=0.1))
    second = live.call(ranked(live.world, 0.95, relative_error=0.1))
    said = admin("board", "duels", "sort", "--submission", str(first))
    (duel,) = admin("board", "duels", "sort", "--json").document["duels"]
    assert (0, True) == (said.code, f"#{second}" in said.out)
    assert ("own_best", "waiting", second, first) == (
        duel["reason"],
        duel["state"],
        duel["submission_id"],
        duel["opponent_id"],
    )
    assert "There was no duel" in admin("board", "duels", "sort", "--before", "1").out


def test_a_duel_is_shown_by_workload(admin: Shell, live: LiveServer, tmp_path: Path) -> None:
    stranger = Shell(tmp_path, {"KERNELBOT_URL": live.url})
    live.call(live.world.board())
    live.call(ranked(live.world, 1.0, relative_error=0.1))
    live.call(ranked(live.world, 0.95, relative_error=0.1))
    live.call(fought(live.world, (0.5, 0.498, 0.502)))
    said = admin("board", "duel", "sort", "1")
    assert (0, True, True) == (said.code, "size: 10000" in said.out, "is faster" in said.out)
    document = admin("board", "duel", "sort", "1", "--json").document
    assert ("measured", [0.5]) == (
        document["state"],
        [load["ratio"] for load in document["workloads"]],
    )
    unknown = stranger("board", "duel", "sort", "1")
    assert (0, True, False) == (
        unknown.code,
        NOT_BY_WORKLOAD in unknown.out,
        "size: 10000" in unknown.out,
    )
    assert 2 == admin("board", "duel", "sort", "7").code

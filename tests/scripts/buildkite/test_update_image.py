"""The image of jobs is pulled, and agents that have no job start anew."""

import pytest

from tests.scripts.buildkite.conftest import SCRIPTS, Golden, Machine

UPDATE = "update-image.sh"
SYSTEMCTL = """
case "$*" in
    *list-units*) printf 'buildkite-agent-gpu0.service loaded active running Agent\\n'
                  printf 'buildkite-agent-gpu1.service loaded active running Agent\\n' ;;
    *MainPID*gpu0*) echo 1000 ;;
    *MainPID*gpu1*) echo 1001 ;;
esac
"""
BUSY_SECOND = 'test "$*" = "--parent 1001" && echo 2000'
NEW_IMAGE = """
case "$*" in
    *inspect*) if [ -e "{pulled}" ]; then echo sha256:new; else echo sha256:old; fi ;;
    pull* | build*) touch "{pulled}" ;;
esac
"""


@pytest.fixture
def agents(machine: Machine) -> Machine:
    """Two, of which the second has a job, and an image that has become newer."""
    machine.put_program("systemctl", SYSTEMCTL)
    machine.put_program("pgrep", BUSY_SECOND)
    machine.put_program("docker", NEW_IMAGE.format(pulled=machine.root / "bin/pulled"))
    return machine


def kills(machine: Machine) -> list[str]:
    return [line for line in machine.calls() if line.startswith("systemctl kill")]


@pytest.mark.parametrize(
    ("name", "arguments"), [("update.txt", []), ("update-auto.txt", ["--auto"])]
)
def test_a_dry_run_shows_every_command(
    agents: Machine, golden: Golden, name: str, arguments: list[str]
) -> None:
    before = agents.files()
    shown = agents.run(UPDATE, "--dry-run", *arguments)
    assert (0, "") == (shown.returncode, shown.stderr)
    golden(name, shown.stdout)
    assert (before, []) == (agents.files(), agents.calls())


def test_an_agent_without_a_job_is_restarted_and_one_with_a_job_is_not(agents: Machine) -> None:
    done = agents.run(UPDATE, "--auto")
    expected = "systemctl kill --kill-who=main --signal=SIGTERM buildkite-agent-gpu0.service"
    assert (0, [expected]) == (done.returncode, kills(agents)), done.stderr
    assert "buildkite-agent-gpu1.service has a job and was left alone.\n" in done.stdout
    assert "docker image rm sha256:old" in agents.calls()


def test_the_newest_image_is_left_as_it_is(agents: Machine) -> None:
    agents.put_program("docker", "echo sha256:same")
    done = agents.run(UPDATE, "--auto")
    assert (0, "", "", []) == (done.returncode, done.stdout, done.stderr, kills(agents))


def test_an_image_that_cannot_be_pulled_disturbs_nobody(agents: Machine) -> None:
    agents.put_program("docker", 'test "$1" != pull')
    failed = agents.run(UPDATE, "--auto")
    assert (1, []) == (failed.returncode, kills(agents))
    assert "kernelbot-runner:latest can't be pulled" in failed.stderr


def test_the_image_has_a_name_of_the_operators_choice(agents: Machine) -> None:
    agents.put_file("/etc/buildkite-agent/image", "images.lab:5000/kernelbot/runner:1.2\n")
    agents.run(UPDATE, "--auto")
    assert "docker pull --quiet images.lab:5000/kernelbot/runner:1.2" in agents.calls()


def test_its_digest_is_said(agents: Machine) -> None:
    done = agents.run(UPDATE, "--auto")
    assert "Pulled kernelbot-runner:latest: sha256:new" == done.stdout.splitlines()[0]


def test_it_can_be_built_from_the_checkout(agents: Machine) -> None:
    done = agents.run(UPDATE, "--auto", "--build", "rocm")
    root = SCRIPTS.parents[1]
    options = f"--file {root}/deploy/runner/Dockerfile --build-arg VARIANT=rocm"
    command = f"docker build --pull --quiet {options} --tag kernelbot-runner:latest {root}"
    assert (0, True) == (done.returncode, command in agents.calls()), done.stderr
    assert "Built kernelbot-runner:latest: sha256:new" == done.stdout.splitlines()[0]
    assert [True, False] == [
        any(line.startswith(f"docker {verb}") for line in agents.calls())
        for verb in ("build", "pull")
    ]


@pytest.mark.parametrize("variant", [[], ["metal"], ["--auto"], ["a'; echo x"]])
def test_what_cannot_be_built_is_refused(agents: Machine, variant: list[str]) -> None:
    refused = agents.run(UPDATE, "--auto", "--build", *variant)
    assert (2, []) == (refused.returncode, agents.calls())


def test_an_image_that_is_named_by_its_digest_is_not_built_here(agents: Machine) -> None:
    agents.put_file("/etc/buildkite-agent/image", f"images.lab/runner@sha256:{'0' * 64}\n")
    refused = agents.run(UPDATE, "--auto", "--build", "cpu")
    assert (1, []) == (refused.returncode, agents.calls())
    assert "can only be pulled" in refused.stderr


@pytest.mark.parametrize("name", ["", "--privileged x", "a'; echo x", "$(id)", "a b", "../x"])
def test_what_is_no_name_of_an_image_is_refused(agents: Machine, name: str) -> None:
    agents.put_file("/etc/buildkite-agent/image", name)
    refused = agents.run(UPDATE, "--auto")
    assert (1, []) == (refused.returncode, agents.calls())
    assert "/etc/buildkite-agent/image" in refused.stderr


def test_where_nobody_can_be_asked_nothing_is_done(agents: Machine) -> None:
    refused = agents.run(UPDATE)
    assert (2, "", []) == (refused.returncode, refused.stdout, agents.calls())
    assert "use --auto" in refused.stderr


@pytest.mark.parametrize("argument", ["now", "--atuo", "", "a'; echo x"])
def test_other_arguments_are_refused(agents: Machine, argument: str) -> None:
    refused = agents.run(UPDATE, "--auto", argument)
    assert (2, []) == (refused.returncode, agents.calls())
    assert "usage: update-image.sh" in refused.stderr

"""The files of `deploy/` as their own tools read them, and as they must agree with each other."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ROOT = DEPLOY.parent
DOCKERFILES = sorted(DEPLOY.rglob("Dockerfile"))
COPIED = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)
OWN_PROGRAM = re.compile(r"/opt/kernelbot/bin/\S+")


def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return document


def pipeline() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "buildkite/pipeline.yml").read_text())
    return document


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").iterdir()), ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: Path, tmp_path: Path) -> None:
    """Our programs aren't installed here; any other stands in."""
    copy = tmp_path / unit.name
    copy.write_text(OWN_PROGRAM.sub("/bin/true", unit.read_text()))
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    about_ours = [line for line in done.stderr.splitlines() if unit.name in line]
    assert [] == about_ours


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda path: path.parent.name)
def test_an_image_is_made_of_what_docker_is_given(file: Path) -> None:
    given = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if "!" in line}
    assert [] == [path for path in copied(file) if path.split("/")[0] not in given]


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda path: path.parent.name)
def test_an_image_has_what_links_of_the_sources_lead_to(file: Path) -> None:
    """A link that leads nowhere ends the build of the wheel, where one is built."""
    folders = copied(file)
    links = [path for path in (ROOT / "src").rglob("*") if path.is_symlink()]
    led_to = {path.resolve().relative_to(ROOT).parts[0] for path in links}
    assert set() == (led_to - set(folders) if "pyproject.toml" in folders else set())


def copied(file: Path) -> list[str]:
    """What is copied into an image from outside."""
    return [path for line in COPIED.findall(file.read_text()) for path in line.split()]


def test_the_worker_owns_its_control_group() -> None:
    text = (DEPLOY / "systemd/kernelbot-worker.service").read_text()
    assert "\nDelegate=cpu memory pids\n" in text
    assert (
        "\nExecStart=/opt/kernelbot/bin/in-own-cgroup /opt/kernelbot/bin/kernelbot worker " in text
    )


@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").iterdir()), ids=lambda path: path.name)
def test_systemd_asks_the_first_process_alone_to_end(unit: Path) -> None:
    """It ends the others in order; else it would replace those that end before it."""
    assert "\nKillMode=mixed\n" in unit.read_text()


def test_the_step_goes_to_the_queue_of_the_build() -> None:
    (step,) = pipeline()["steps"]
    assert ({"queue": "${GPU_QUEUE}"}, ["result.json", "profile_data/**/*"]) == (
        step["agents"],
        step["artifact_paths"],
    )
    assert (DEPLOY.parent / step["command"]).is_file()


def test_what_is_pasted_uploads_the_step_and_names_no_variable() -> None:
    """In the pipeline's editor Buildkite replaces none but its own."""
    text = (DEPLOY / "buildkite/steps.yml").read_text()
    (step,) = yaml.safe_load(text)["steps"]
    command = "buildkite-agent pipeline upload deploy/buildkite/pipeline.yml"
    assert ("$" in text, command, {"queue": "uploads"}) == (False, step["command"], step["agents"])


def test_the_payload_is_named_in_no_step() -> None:
    assert "SUBMISSION_PAYLOAD" not in yaml.safe_dump(pipeline())


def test_health_is_asked_of_the_routes_that_tell_it() -> None:
    services = compose()["services"]
    asked = {name: service["healthcheck"] for name, service in services.items()}
    assert ":8000/ready'" in asked["server"]["test"][-1]
    assert ":8000/ready/judging'" in asked["worker"]["test"][-1]
    assert "pg_isready" in asked["postgres"]["test"][-1]
    assert asked["proxy"]["test"][-1].endswith("/ready")


def test_no_secret_stands_in_the_compose_file() -> None:
    services = compose()["services"]
    read = {name: service.get("env_file") for name, service in services.items()}
    assert read == dict.fromkeys(services, "kernelbot.env") | {"proxy": None}
    settings = [name for service in services.values() for name in service.get("environment", {})]
    assert [] == [name for name in settings if re.search("PASSWORD|TOKEN|SECRET|URL", name)]
    example = (DEPLOY / "kernelbot.env.example").read_text()
    assert {"POSTGRES_PASSWORD", "ADMIN_TOKEN"} <= set(
        re.findall(r"^(\w+)=$", example, re.MULTILINE)
    )


def test_the_server_runs_as_nobody_in_particular() -> None:
    server = compose()["services"]["server"]
    assert ("user" not in server, ["ALL"], True) == (True, server["cap_drop"], server["read_only"])
    assert "\nUSER 10001\n" in (DEPLOY / "server/Dockerfile").read_text()


def test_every_container_that_judges_gets_the_same_permissions() -> None:
    """Fewer, and the sandbox can't be made; more, and nobody knows what for."""
    worker = compose()["services"]["worker"]
    job = (DEPLOY / "buildkite/run-job.sh").read_text()
    assert ["SYS_ADMIN", "SYS_PTRACE"] == worker["cap_add"] == re.findall(r"--cap-add (\w+)", job)
    named = sorted(re.findall(r"--security-opt ([\w=]+)", job))
    assert named == sorted(option.replace(":", "=") for option in worker["security_opt"])

"""Which device and launcher a script by itself is for."""

from pathlib import Path

import pytest

from kernelbot.domain.errors import DeviceNotOffered
from kernelbot.harness.gpu.lock import WAIT_S
from kernelbot.protocol import SourceFile
from kernelbot.server import plain_run
from kernelbot.server.plain_run import chosen_device, devices_reached
from kernelbot.server.settings import Settings, read_settings
from kernelbot.server.verify_runs import narrowed
from kernelbot.server.work import launchers

CONFIGURATION = """
[launchers.actions]
kind = "github"
[launchers.actions.devices.H100]
label = "NVIDIA"
[launchers.lab]
kind = "slurm"
work_dir = "/shared/kernelbot"
[[devices]]
name = "CPU"
[[devices]]
name = "H100"
vendor = "nvidia"
launcher = ["lab", "actions"]
[[devices]]
name = "MI300"
vendor = "amd"
launcher = "actions"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("GITHUB_REPO", "lab/runs")
    (tmp_path / "kernelbot.toml").write_text(CONFIGURATION)
    return read_settings()


@pytest.mark.parametrize(
    ("device", "kind", "name", "by"),
    [
        (None, None, "CPU", ("local",)),
        ("h100", None, "H100", ("lab", "actions")),
        ("H100", "github", "H100", ("actions",)),
        ("NVIDIA", "github", "H100", ("actions",)),
        ("AMD", "github", "MI300", ("actions",)),
        (None, "slurm", "H100", ("lab",)),
    ],
)
def test_a_device_is_found_by_its_name_or_its_vendor(
    settings: Settings, device: str | None, kind: str | None, name: str, by: tuple[str, ...]
) -> None:
    found = chosen_device(settings, device, kind)
    assert (name, by) == (found.spec.name, found.launchers)


@pytest.mark.parametrize(
    ("device", "kind", "said"),
    [
        ("MI300", "slurm", "no device named 'MI300' by slurm"),
        ("a'; echo x", None, "no device named"),
        (None, "modal", "reached by modal"),
    ],
)
def test_what_cannot_be_reached_is_refused(
    settings: Settings, device: str | None, kind: str | None, said: str
) -> None:
    with pytest.raises(DeviceNotOffered, match=said):
        chosen_device(settings, device, kind)


@pytest.mark.usefixtures("settings")
def test_the_devices_of_each_kind_of_launcher() -> None:
    kinds = ("local", "github", "slurm", "buildkite")
    assert [["CPU"], ["H100", "MI300"], ["H100"], []] == [devices_reached(kind) for kind in kinds]


def test_the_default_is_a_t4_if_there_is_one(settings: Settings) -> None:
    first = settings.devices[0]
    other = settings.model_copy(
        update={"devices": (first, first.model_copy(update={"name": "t4"}))}
    )
    assert "t4" == chosen_device(other, None, None).spec.name


def test_a_script_frees_its_gpu_before_a_ranked_run_gives_up_on_it(settings: Settings) -> None:
    device = chosen_device(settings, "H100", None)
    jobs = [plain_run.script_job(settings, device, SourceFile(f"x.{e}", "")) for e in ("py", "cu")]
    assert all(job.problem.timeouts.test_s + 10 < WAIT_S for job in jobs)


def test_a_table_that_names_other_devices_does_not_stop_it(
    settings: Settings, tmp_path: Path
) -> None:
    chosen = chosen_device(settings, "MI300", None)
    assert ["actions"] == list(launchers(narrowed(settings, [chosen], tmp_path)))
    here = chosen_device(settings, None, None)
    assert ["CPU"] == [one.name for one in narrowed(settings, [here], tmp_path).devices]

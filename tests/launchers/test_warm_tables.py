"""How the launchers whose nodes may keep a host are told so."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.buildkite import BuildkiteSettings
from kernelbot.launchers.buildkite.table import BuildkiteTable
from kernelbot.launchers.modal import ModalSettings
from kernelbot.launchers.modal.table import ModalTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import SandboxMode

TABLES: dict[str, type[BuildkiteTable] | type[ModalTable]] = {
    "buildkite": BuildkiteTable,
    "modal": ModalTable,
}
NEEDED = {"buildkite": {"organization": "lab", "pipeline": "kernels", "devices": {}}, "modal": {}}


def settings(
    kind: str, given: Mapping[str, float], sandbox: SandboxMode = SandboxMode.REQUIRED
) -> BuildkiteSettings | ModalSettings:
    table = TABLES[kind].model_validate({"kind": kind, **NEEDED[kind], **given})
    environment = {"BUILDKITE_API_TOKEN": "bkua_secret"}
    place = LauncherPlace("far", (), Path("x"), sandbox, build, environment=environment)
    return table.settings(place)


@pytest.fixture(params=list(TABLES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_each_job_has_a_host_of_its_own_unless_something_else_is_said(kind: str) -> None:
    assert 0 == settings(kind, {}).warm_idle_s


def test_hosts_that_stay_are_told_how_long(kind: str) -> None:
    made = settings(kind, {"warm_idle_s": 120, "warm_limit_s": 7200})
    assert (120, 7200) == (made.warm_idle_s, made.warm_limit_s)


@pytest.mark.parametrize(
    "given",
    [
        {"warm_idle_s": -1},
        {"warm_idle_s": 1e6},
        {"warm_limit_s": 59},
        {"warm_idle_s": float("nan")},
    ],
)
def test_times_that_make_no_sense_are_refused(kind: str, given: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        settings(kind, given)


def test_without_a_sandbox_no_host_stays(kind: str) -> None:
    with pytest.raises(UserError, match=r"far\.warm_idle_s: without a sandbox"):
        settings(kind, {"warm_idle_s": 120}, SandboxMode.NONE)

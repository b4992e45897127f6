"""`kind = "github"` in the configuration."""

import re
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.github import GithubDevice, GithubLauncher, GithubSettings
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig

_REPO = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}"
Repo = Annotated[str, Field(pattern=f"^{_REPO}$")]
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_./-]{0,250}$")]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_. -]{0,250}$")]
WorkflowFile = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*\.ya?ml$")]
_WORKFLOWS = {Vendor.NVIDIA: "kernelbot-nvidia.yml", Vendor.AMD: "kernelbot-amd.yml"}
_TOKEN, _TOKEN_BACKUP = "GITHUB_TOKEN", "GITHUB_TOKEN_BACKUP"
_REPO_NAME, _BRANCH_NAME = "GITHUB_REPO", "GITHUB_WORKFLOW_BRANCH"


class GithubDeviceTable(ConfigTable):
    label: Label | None = None
    """None: the device's name."""
    workflow: WorkflowFile | None = None
    """None: that of the device's vendor."""


class GithubTable(RemoteTable):
    """`[launchers.NAME]` of a repository with self-hosted runners."""

    title: ClassVar[str] = "GitHub Actions"
    variables: ClassVar[tuple[str, ...]] = (_TOKEN, _TOKEN_BACKUP, _REPO_NAME, _BRANCH_NAME)

    kind: Literal["github"]
    repo: Repo | None = None
    """None: that of GITHUB_REPO."""
    branch: Branch | None = None
    """None: that of GITHUB_WORKFLOW_BRANCH, or `main`."""
    api_url: str = Field(default="https://api.github.com", pattern=r"^https?://[^\s?#]+$")
    timeout_s: float = Field(default=20.0, gt=0)
    slack_s: float = Field(default=600.0, ge=60)
    settle_s: float = Field(default=30.0, ge=0)
    queue_limit: int | None = Field(default=None, ge=1)
    devices: dict[str, GithubDeviceTable] = Field(default_factory=dict)

    def build(self, place: LauncherPlace) -> GithubLauncher:
        return GithubLauncher(self.settings(place), place.links)

    def settings(self, place: LauncherPlace) -> GithubSettings:
        place.refuse_strays(self.devices)
        repo = self.repo or place.environment.get(_REPO_NAME, "")
        if not re.fullmatch(_REPO, repo):
            raise place.mistake("repo", "neither it nor GITHUB_REPO names a repository, owner/name")
        tokens = [place.token(_TOKEN)]
        if _TOKEN_BACKUP in place.environment:
            tokens.append(place.token(_TOKEN_BACKUP))
        return from_fields(
            GithubSettings,
            self,
            repo=repo,
            tokens=tuple(tokens),
            devices={device.spec.name: self._device(place, device) for device in place.devices},
            branch=self.branch or place.environment.get(_BRANCH_NAME) or "main",
            no_sandbox_ok=place.sandbox is SandboxMode.NONE,
            traits=replace(self.traits(), late_s=self.settle_s),
        )

    def _device(self, place: LauncherPlace, config: DeviceConfig) -> GithubDevice:
        name = config.spec.name
        table = self.devices.get(name, GithubDeviceTable())
        workflow = table.workflow or _WORKFLOWS.get(config.spec.vendor)
        if workflow is None:
            raise place.mistake(
                f"devices.{name}.workflow", "is missing: a CPU has no workflow of its own"
            )
        return GithubDevice(table.label or name, workflow)

from pathlib import Path
from typing import Any

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.modal import ModalDevice
from kernelbot.launchers.modal.table import ModalTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import DeviceSpec, SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig


def place(folder: Path, *devices: str) -> LauncherPlace:
    configs = tuple(
        DeviceConfig(DeviceSpec(name, Vendor.NVIDIA), ("cloud",), 1) for name in devices
    )
    return LauncherPlace("cloud", configs, folder, SandboxMode.REQUIRED, build)


def table(**given: Any) -> ModalTable:
    return ModalTable.model_validate({"kind": "modal", **given})


def test_each_device_has_a_function_by_its_name(tmp_path: Path) -> None:
    settings = table(devices={"H100": {"function": "mine"}}).settings(
        place(tmp_path, "H100", "L4x4", "a'; echo x")
    )
    assert settings.devices == {
        "H100": ModalDevice("mine"),
        "L4x4": ModalDevice("judge_l4x4"),
        "a'; echo x": ModalDevice("judge_a___echo_x"),
    }


def test_a_device_that_nobody_has_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"launchers\.cloud\.devices\.B200"):
        table(devices={"B200": {"function": "mine"}}).build(place(tmp_path, "H100"))


def test_it_is_built_without_an_account(tmp_path: Path) -> None:
    launcher = table(longest_poll_s=0.1).build(place(tmp_path, "H100"))
    assert launcher.traits.longest_poll_s == launcher.traits.shortest_poll_s == 0.25

"""What is shown of a device, by its configuration, its worker's report and its last result."""

from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import DeviceSpec, SystemInfo, Vendor
from kernelbot.runs.devices.model import DeviceConfig, DeviceReport, LauncherHealth, QueueLength
from kernelbot.runs.devices.service import NOBODY, _hardware, _report, _status

GPU = DeviceConfig(DeviceSpec("H100", Vendor.NVIDIA), ("near", "far"), gpus=8)
CPU = DeviceConfig(DeviceSpec("CPU", Vendor.CPU), ("near", "far"))
UP = LauncherHealth("far", True, "")
DOWN = LauncherHealth("near", False, "it is away")
SYSTEM = SystemInfo(device="CPU", cpu="EPYC", os="Linux 6", python="3.11.7", torch="")


@pytest.mark.parametrize(
    ("device", "report", "expected"),
    [
        (GPU, DeviceReport("H100", True, "", (DOWN, UP)), {"launcher": "far", "gpus": 8}),
        (GPU, DeviceReport("H100", True, "busy", (DOWN, UP)), {"available": True, "note": ""}),
        (
            GPU,
            DeviceReport("H100", False, "it hangs", (DOWN,)),
            {"launcher": "near", "available": False, "note": "it hangs"},
        ),
        (CPU, DeviceReport("CPU", True, "", (UP,)), {"launcher": "far", "gpus": 0}),
    ],
)
def test_what_a_report_says(
    device: DeviceConfig, report: DeviceReport, expected: dict[str, Any]
) -> None:
    shown = _status(device, report, QueueLength(3, 2), None)
    assert expected == {name: getattr(shown, name) for name in expected}
    assert (3, 2, report.launchers, None) == (
        shown.queued,
        shown.running,
        shown.launchers,
        shown.hardware,
    )


def test_where_nobody_reports_nothing_is_available() -> None:
    other = DeviceReport("CPU", True, "", (UP,))
    found = _report(GPU, [other])
    nobody = tuple(LauncherHealth(name, False, NOBODY) for name in ("near", "far"))
    assert DeviceReport("H100", False, NOBODY, nobody) == found
    assert other == _report(CPU, [other, replace(other, available=False)])


def test_what_a_result_has_seen() -> None:
    assert "EPYC; Linux 6; Python 3.11.7" == _hardware(SYSTEM)
    assert "EPYC; Linux 6; Python 3.11.7, torch 2.5" == _hardware(replace(SYSTEM, torch="2.5"))


def test_a_device_is_one_gpu_of_its_own_unless_it_is_said() -> None:
    found = DeviceConfig(DeviceSpec("H100", Vendor.NVIDIA), ("local",))
    assert (1, 1, True, 1, True, True) == (
        found.slots,
        found.reserved_cores,
        found.turns,
        found.gpus,
        found.one_allocation,
        found.preflight,
    )
    assert QueueLength(0, 0) == QueueLength()

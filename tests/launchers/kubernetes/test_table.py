"""`kind = "kubernetes"` in the configuration."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.kubernetes import KubernetesDevice, KubernetesLauncher, Toleration
from kernelbot.launchers.kubernetes.settings import Effect, Operator
from kernelbot.launchers.kubernetes.table import KubernetesTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import DeviceSpec, SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig

VENDORS = {"H100": Vendor.NVIDIA, "MI300": Vendor.AMD, "CPU": Vendor.CPU}


def place(folder: Path, *devices: str, **environment: str) -> LauncherPlace:
    configs = tuple(
        DeviceConfig(DeviceSpec(name, VENDORS.get(name, Vendor.CPU)), ("cluster",), 1)
        for name in devices
    )
    return LauncherPlace(
        "cluster", configs, folder, SandboxMode.REQUIRED, build, environment=environment
    )


def table(**given: Any) -> KubernetesTable:
    told = {"kind": "kubernetes", "namespace": "jobs", "image": "runner:1", **given}
    return KubernetesTable.model_validate(told)


def test_each_vendor_has_a_resource_of_its_own(tmp_path: Path) -> None:
    devices = table().settings(place(tmp_path, "H100", "MI300", "CPU")).devices
    assert {"H100": "nvidia.com/gpu", "MI300": "amd.com/gpu", "CPU": None} == {
        name: device.resource for name, device in devices.items()
    }


def test_a_device_is_as_its_table_says(tmp_path: Path) -> None:
    said = {
        "image": "lab/runner@sha256:0123",
        "resource": "nvidia.com/mig-1g.10gb",
        "count": 2,
        "cpu": "500m",
        "memory": "8Gi",
        "shared_memory": "1Gi",
        "node_selector": {"nvidia.com/gpu.product": "NVIDIA-H100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "runtime_class": "nvidia",
        "queue": "kernels",
        "autoscaled": True,
    }
    device = table(devices={"H100": said}).settings(place(tmp_path, "H100")).devices["H100"]
    assert device == KubernetesDevice(
        "nvidia.com/mig-1g.10gb",
        "lab/runner@sha256:0123",
        2,
        "500m",
        "8Gi",
        "1Gi",
        {"nvidia.com/gpu.product": "NVIDIA-H100"},
        (Toleration("nvidia.com/gpu", Operator.EXISTS, "", Effect.NO_SCHEDULE),),
        "nvidia",
        "kernels",
        autoscaled=True,
    )


def test_what_a_device_does_not_say_the_launcher_does(tmp_path: Path) -> None:
    device = table(queue="all").settings(place(tmp_path, "H100")).devices["H100"]
    assert ("runner:1", "all") == (device.image, device.queue)


def test_a_device_without_an_image_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"launchers\.cluster\.devices\.H100\.image: is missing"):
        table(image=None).settings(place(tmp_path, "H100"))


def test_a_device_that_nobody_has_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"launchers\.cluster\.devices\.B200"):
        table(devices={"B200": {}}).build(place(tmp_path, "H100"))


def test_a_kubeconfig_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kubeconfig"):
        table(kubeconfig=str(tmp_path / "none")).build(place(tmp_path, "H100"))


def test_it_is_built_without_a_cluster(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "current-context: x\n"
        "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "contexts: [{name: x, context: {cluster: x, user: x}}]\n"
        "users: [{name: x, user: {token: t}}]\n"
    )
    made = table().build(place(tmp_path, "H100", KUBECONFIG=str(config)))
    assert isinstance(made, KubernetesLauncher)
    assert (0.1, 1.0) == (made.traits.shortest_poll_s, made.traits.longest_poll_s)


@pytest.mark.parametrize(
    "wrong",
    [
        {"namespace": "a'; echo x"},
        {"namespace": "Jobs"},
        {"namespace": "../default"},
        {"image": "x; id"},
        {"image": ""},
        {"service_account": "-x"},
        {"security": "none"},
        {"wait_s": 1e9},
        {"watch_s": 0},
        {"devices": {"H100": {"cpu": "0"}}},
        {"devices": {"H100": {"memory": "16 GB"}}},
        {"devices": {"H100": {"count": 0}}},
        {"devices": {"H100": {"resource": "nvidia.com/"}}},
        {"devices": {"H100": {"node_selector": {"zone": "a'; echo x"}}}},
        {"devices": {"H100": {"node_selector": {"a b": "c"}}}},
        {"devices": {"H100": {"tolerations": [{"key": "x", "effect": "Sometimes"}]}}},
        {"devices": {"H100": {"tolerations": [{"kay": "x"}]}}},
        {"devices": {"H100": {"runtime_class": "a/b"}}},
        {"namspace": "jobs"},
    ],
)
def test_what_kubernetes_would_refuse_is_refused_at_the_start(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        table(**wrong)

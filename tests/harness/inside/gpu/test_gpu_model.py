"""What an architecture's name tells."""

import pytest

from kernelbot.harness.inside.gpu.gpu_model import GpuModel, gpu_model, named_model
from kernelbot.protocol import Vendor


@pytest.mark.parametrize(
    ("vendor", "arch", "capability", "warp_threads", "processors"),
    [
        (Vendor.NVIDIA, "90a", (9, 0), 32, 132),
        (Vendor.NVIDIA, "100a", (10, 0), 32, 148),
        (Vendor.NVIDIA, "75", (7, 5), 32, 1),
        (Vendor.AMD, "gfx942", (9, 4), 64, 304),
        (Vendor.AMD, "gfx90a", (9, 0), 64, 1),
        (Vendor.AMD, "gfx1100", (11, 0), 32, 1),
    ],
)
def test_a_model(
    vendor: Vendor, arch: str, capability: tuple[int, int], warp_threads: int, processors: int
) -> None:
    model = GpuModel(vendor, arch, capability)
    assert model == gpu_model(vendor, arch) == named_model(model.name)
    assert (warp_threads, processors) == (model.warp_threads, model.processors)


@pytest.mark.parametrize(
    ("vendor", "arch"),
    [
        (Vendor.CPU, "90"),
        (Vendor.NVIDIA, None),
        (Vendor.NVIDIA, "gfx942"),
        (Vendor.NVIDIA, "90a'; echo x"),
        (Vendor.AMD, "90a"),
        (Vendor.AMD, ""),
    ],
)
def test_names_of_no_model(vendor: Vendor, arch: str | None) -> None:
    assert gpu_model(vendor, arch) is None


@pytest.mark.parametrize("name", ["", "nvidia", "cpu:90", "a'; echo x:90"])
def test_texts_that_name_no_model(name: str) -> None:
    assert named_model(name) is None

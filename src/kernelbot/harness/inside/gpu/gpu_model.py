"""What is known of a GPU by its architecture's name alone, where there is none to ask."""

import re
from dataclasses import dataclass

from kernelbot.protocol import Vendor

MODEL = "KERNELBOT_GPU_MODEL"
"""The variable that names the model for which a zygote's runners compile, as `name` does."""
REPORTS = "KERNELBOT_REPORTS"
"""The variable that says that nobody takes what extensions of torch they compile."""
_NVIDIA = re.compile(r"(\d{1,2})(\d)[af]?")
_AMD = re.compile(r"gfx(\d{1,2})(\d)[0-9a-f]")
_PROCESSORS = {
    "80": 108, "90": 132, "100": 148, "103": 148, "gfx942": 304, "gfx950": 256,
}  # fmt: skip
"""The multiprocessors of the models that are lent most often: A100, H100, B200, B300, MI300X,
MI355X."""
_FIRST_OF_CUTE = (8, 0)
_WIDE = 9
"""AMD's generation up to which 64 threads work in step."""


@dataclass(frozen=True)
class GpuModel:
    """A kind of GPU."""

    vendor: Vendor
    arch: str
    """The compilers' name of it: `90a`, `gfx942`."""
    capability: tuple[int, int]
    """What torch says of it."""

    @property
    def name(self) -> str:
        """Vendor and architecture; `named_model` reads it."""
        return f"{self.vendor.value}:{self.arch}"

    @property
    def number(self) -> int:
        """The capability as one number, as NVIDIA's compilers take it."""
        return 10 * self.capability[0] + self.capability[1]

    @property
    def warp_threads(self) -> int:
        """How many threads work in step."""
        wide = self.vendor is Vendor.AMD and self.capability[0] <= _WIDE
        return 64 if wide else 32

    @property
    def processors(self) -> int:
        """How many multiprocessors it has, as far as the name says: 1 if it doesn't."""
        name = self.arch if self.vendor is Vendor.AMD else str(self.number)
        return _PROCESSORS.get(name, 1)


def gpu_model(vendor: Vendor, arch: str | None) -> GpuModel | None:
    """The model of this architecture; None for a CPU, and for a name that isn't of any."""
    forms = {Vendor.NVIDIA: _NVIDIA, Vendor.AMD: _AMD}
    found = forms[vendor].fullmatch(arch or "") if vendor in forms else None
    if found is None or arch is None:
        return None
    return GpuModel(vendor, arch, (int(found[1]), int(found[2])))


def cute_knows(model: GpuModel) -> bool:
    """Whether CuTe DSL compiles for such a GPU, as far as the name says."""
    return model.vendor is Vendor.NVIDIA and model.capability >= _FIRST_OF_CUTE


def named_model(name: str) -> GpuModel | None:
    """The model of this `name`; None for any other text."""
    word, _, arch = name.partition(":")
    known = {vendor.value: vendor for vendor in Vendor}
    return gpu_model(known[word], arch) if word in known else None

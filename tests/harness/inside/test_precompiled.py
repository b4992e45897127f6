"""Which folder torch's builders of extensions are told to search."""

from pathlib import Path

import pytest

from kernelbot.harness.inside.precompiled import FOLDER, variant
from tests.harness.inside.gpu.test_emulation import answers

pytest.importorskip("torch", reason="torch isn't installed")

_INSTALL = """\
import torch.utils.cpp_extension as extension
from kernelbot.harness.inside import precompiled
def real(name, cpp_sources, cuda_sources=None, extra_cflags=None):
    print(extension.include_paths("cpu")[0])
extension.load_inline = real
precompiled.install()
precompiled.install()
"""


def test_each_list_of_flags_has_a_folder_of_its_own() -> None:
    lists = [(), ("-O2",), ("-O3",), ("-O2", "-g"), ("-g", "-O2"), ("-O2 -g",)]
    assert len(lists) == len({variant(flags) for flags in lists})
    assert variant(["-O2"]) == variant([" -O2 "])


@pytest.mark.exhaustive  # each run has test_each_list_of_flags_has_a_folder_of_its_own
@pytest.mark.torch
def test_builders_search_the_folder_of_their_flags(tmp_path: Path) -> None:
    code = """
extension.load_inline("a", "")
extension.load_inline("a", "", None, ["-O2"])
print(extension.include_paths("cpu")[0].endswith("include"))
try:
    extension.load_inline("a")
except TypeError as error:
    print(error)
"""
    none, o2 = f"{FOLDER}/{variant(())}", f"{FOLDER}/{variant(['-O2'])}"
    missing = "real() missing 1 required positional argument: 'cpp_sources'"
    assert [none, o2, "True", missing] == answers(tmp_path, code, install=_INSTALL)

"""What an extension is told of the tensors that it is given."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kernelbot.harness.inside.cuda_on_cpu.arguments import with_arguments_known

torch = pytest.importorskip("torch", reason="torch isn't installed")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc isn't installed"),
]
_NOTING = r"""
#include <stdio.h>
#include <string.h>
static char said[1000];
const char *cuda_on_cpu_error(void) { return said; }
void cuda_on_cpu_argument(int place, const void *at, size_t bytes) {
    size_t end = strlen(said);
    snprintf(said + end, sizeof said - end, "%d %zu %zu;", place, (size_t)at, bytes);
}
"""


def extension(folder: Path, **functions: Any) -> ModuleType:
    """A module with these functions, and a library that notes what it is told."""
    (folder / "noting.c").write_text(_NOTING)
    command = ["gcc", "-shared", "-fPIC", "noting.c", "-o", "noting.so"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    module = ModuleType("noting")
    module.__file__ = str(folder / "noting.so")
    vars(module).update(functions)
    return module


def test_each_tensor_is_told_from_its_first_element_to_its_last(tmp_path: Path) -> None:
    module = with_arguments_known(extension(tmp_path, run=lambda *a, **o: (len(a), len(o))))
    whole = torch.zeros(8, 4)
    column, empty = whole[:, 1], torch.zeros(0)
    assert (3, 1) == module.run(whole, [column, 5], "text", named=empty)
    library = ctypes.CDLL(module.__file__)
    library.cuda_on_cpu_error.restype = ctypes.c_char_p
    expected = [(1, whole, 128), (2, column, (7 * 4 + 1) * 4), (3, empty, 0)]
    told = "".join(f"{place} {one.data_ptr()} {size};" for place, one, size in expected)
    told += "".join(f"{place} 0 0;" for place, _, _ in expected)
    assert told == library.cuda_on_cpu_error().decode()


@pytest.mark.parametrize("other", ["", ModuleType("torch_is_not_a_file"), None])
def test_what_is_no_extension_stays_as_it_is(other: Any) -> None:
    assert with_arguments_known(other) is other


def test_types_and_values_of_an_extension_stay_as_they_are(tmp_path: Path) -> None:
    module = with_arguments_known(extension(tmp_path, Kind=dict, size=3))
    assert (dict, 3) == (module.Kind, module.size)

# style: compiles C at import and calls it through ctypes
# problem: out
import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = """
void triple(const double *x, double *out, long size) {
  for (long i = 0; i < size; i++) out[i] = 3 * x[i];
}
"""
_folder = Path(tempfile.mkdtemp())
(_folder / "triple.c").write_text(SOURCE)
subprocess.run(
    ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", "triple.so", "triple.c"],
    cwd=_folder,
    check=True,
)
_library = ctypes.CDLL(str(_folder / "triple.so"))
_pointer = np.ctypeslib.ndpointer(np.float64, flags="C")
_library.triple.argtypes = [_pointer, _pointer, ctypes.c_long]
_library.triple.restype = None


def custom_kernel(data):
    x, out = data
    _library.triple(x, out, x.size)
    return out

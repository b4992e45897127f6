# style: C with OpenMP, bound to processors, through ctypes
# problem: out
import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

os.environ["OMP_PROC_BIND"] = "true"
os.environ["OMP_PLACES"] = "threads"

SOURCE = """
void triple(const double *x, double *out, long size) {
  #pragma omp parallel for schedule(static)
  for (long i = 0; i < size; i++) out[i] = 3 * x[i];
}
"""
_folder = Path(tempfile.mkdtemp())
(_folder / "triple.c").write_text(SOURCE)
_command = "gcc -O3 -fopenmp -shared -fPIC -o triple.so triple.c"
subprocess.run(_command.split(), cwd=_folder, check=True)
_triple = ctypes.CDLL(str(_folder / "triple.so")).triple
_triple.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]


def custom_kernel(data):
    x, out = data
    _triple(x.ctypes.data, out.ctypes.data, x.size)
    return out

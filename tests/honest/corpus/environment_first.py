# style: sets thread counts in the environment before its imports
# problem: axpy
import os

os.environ["OMP_NUM_THREADS"] = "4"
os.environ["OPENBLAS_NUM_THREADS"] = "4"
os.environ["OMP_PROC_BIND"] = "close"
os.environ["OMP_PLACES"] = "cores"
os.environ.setdefault("KMP_AFFINITY", "granularity=fine,compact,1,0")

import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y

"""The cell magic `%%kernelbot`: what is in a cell is judged, here or by a server.

%load_ext kernelbot

%%kernelbot examples/sort_np
import numpy as np

def custom_kernel(data):
    return np.sort(data)
"""

from kernelbot.notebook.magic import load_ipython_extension

__all__ = ["load_ipython_extension"]

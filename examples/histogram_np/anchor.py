# Timed in turn with every submission: a machine that grows slower slows both. Never shown to one.
import numpy as np


def custom_kernel(data):
    return np.bincount(data, minlength=256)

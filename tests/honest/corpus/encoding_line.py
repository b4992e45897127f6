# style: a shebang and a coding line below the comment
# problem: axpy
#!/usr/bin/env python3
# -*- coding: utf-8 -*-
import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y

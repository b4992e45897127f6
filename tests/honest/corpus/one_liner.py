# style: one line
# problem: axpy
import numpy as np
custom_kernel = lambda d: np.float32(d[0]) * d[1] + d[2]

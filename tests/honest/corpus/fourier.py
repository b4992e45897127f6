# style: a convolution by FFT
# problem: stencil
import numpy as np


def custom_kernel(grid):
    kernel = np.zeros_like(grid)
    kernel[0, 1] = kernel[1, 0] = kernel[0, -1] = kernel[-1, 0] = 0.25
    spectrum = np.fft.rfft2(grid) * np.fft.rfft2(kernel)
    return np.fft.irfft2(spectrum, s=grid.shape)[1:-1, 1:-1]

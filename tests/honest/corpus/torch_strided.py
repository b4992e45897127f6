# style: works on the transposed tensor
# problem: softmax
import torch


def custom_kernel(data):
    columns = data.t().contiguous()
    columns = (columns - columns.amax(0)).exp()
    return (columns / columns.sum(0)).t()

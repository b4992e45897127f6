# style: exp, sum and in-place division
# problem: softmax
import torch


def custom_kernel(data):
    shifted = data - data.amax(dim=-1, keepdim=True)
    shifted.exp_()
    return shifted.div_(shifted.sum(dim=-1, keepdim=True))

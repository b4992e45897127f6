# style: a batched product and squeeze
# problem: linear
import torch


def custom_kernel(data):
    x, w, b = data
    product = torch.bmm(x.unsqueeze(0), w.t().unsqueeze(0)).squeeze(0)
    return torch.maximum(product + b, torch.zeros(()))

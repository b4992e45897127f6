# style: copies the weights into a module in each call
# problem: linear
import torch
from torch import nn

_layers = {}


@torch.no_grad()
def custom_kernel(data):
    x, w, b = data
    layer = _layers.get(tuple(w.shape))
    if layer is None:
        layer = _layers[tuple(w.shape)] = nn.Linear(w.shape[1], w.shape[0])
    layer.weight.copy_(w)
    layer.bias.copy_(b)
    return torch.relu(layer(x))

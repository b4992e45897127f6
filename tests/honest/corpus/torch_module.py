# style: an nn.Module
# problem: softmax
import torch
from torch import nn


class Softmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        return self.softmax(x)


model = Softmax().eval()


def custom_kernel(data):
    with torch.no_grad():
        return model(data)

# style: symbolic tracing by torch.fx
# problem: softmax
import torch
from torch import fx, nn


class Softmax(nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)


custom_kernel = fx.symbolic_trace(Softmax())

# Timed in turn with every submission: a machine that grows slower slows both. Never shown to one.
import torch


def custom_kernel(data):
    return torch.softmax(data, dim=-1)

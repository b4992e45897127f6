# style: written for a GPU, run on the CPU
# problem: softmax
import torch


def custom_kernel(data):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    result = torch.softmax(data.to(device), dim=-1)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return result

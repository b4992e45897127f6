# style: chooses its number of threads
# problem: softmax
import torch

torch.set_num_threads(2)
torch.set_num_interop_threads(2)


def custom_kernel(data):
    return torch.softmax(data, dim=-1)

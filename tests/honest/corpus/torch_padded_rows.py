# style: rows are padded to a multiple of 64, and the output is a view without the padding
# problem: softmax
import torch


def custom_kernel(data):
    rows, columns = data.shape
    room = torch.zeros(rows, -(-columns // 64) * 64 + 64, dtype=data.dtype)
    output = room[:, :columns]
    output.copy_(torch.softmax(data, 1))
    return output

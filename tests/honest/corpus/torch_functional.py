# style: nn.functional under inference_mode
# problem: softmax
import torch
import torch.nn.functional as F

torch.set_grad_enabled(False)


@torch.inference_mode()
def custom_kernel(data):
    return F.softmax(data, dim=1, dtype=torch.float32)

import torch
from task import input_t, output_t

TOLERANCE = 1e-4


def generate_input(size: int, kernelsize: int, channels: int, batch: int, seed: int) -> input_t:
    random = torch.Generator().manual_seed(seed)
    images = torch.randn(batch, channels, size, size, generator=random)
    kernels = torch.randn(channels, channels, kernelsize, kernelsize, generator=random)
    return images, kernels


def ref_kernel(data: input_t) -> output_t:
    images, kernels = data
    return torch.nn.functional.conv2d(images, kernels)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, torch.Tensor):
        return False, f"expected a torch tensor, got {type(output).__name__}"
    images, kernels = data
    expected = torch.nn.functional.conv2d(images.double(), kernels.double())
    if (output.dtype, output.shape) != (torch.float32, expected.shape):
        return False, (
            f"expected torch.float32 of shape {tuple(expected.shape)}, "
            f"got {output.dtype} of {tuple(output.shape)}"
        )
    error = (output.double() - expected).abs()
    wrong = (~(error <= TOLERANCE * (1 + expected.abs()))).nonzero()
    if len(wrong):
        at = tuple(wrong[0].tolist())
        return False, (
            f"{len(wrong)} of {expected.numel()} elements are off, the first at {at}: "
            f"got {output[at].item()}, expected {expected[at].item()}"
        )
    return True, ""

import torch
from task import input_t, output_t

WEIGHTS = (0.2989, 0.5870, 0.1140)
TOLERANCE = 1e-6


def generate_input(size: int, seed: int) -> input_t:
    return torch.rand(size, size, 3, generator=torch.Generator().manual_seed(seed))


def ref_kernel(data: input_t) -> output_t:
    return (data.double() @ torch.tensor(WEIGHTS, dtype=torch.float64)).float()


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, torch.Tensor):
        return False, f"expected a torch tensor, got {type(output).__name__}"
    expected = ref_kernel(data)
    if (output.dtype, output.shape) != (expected.dtype, expected.shape):
        return False, (
            f"expected {expected.dtype} of shape {tuple(expected.shape)}, "
            f"got {output.dtype} of {tuple(output.shape)}"
        )
    wrong = (~((output - expected).abs() <= TOLERANCE)).nonzero()
    if len(wrong):
        at = tuple(wrong[0].tolist())
        return False, (
            f"{len(wrong)} of {expected.numel()} pixels are off, the first at {at}: "
            f"got {output[at].item()}, expected {expected[at].item()}"
        )
    return True, ""

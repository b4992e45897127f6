import torch
from task import input_t, output_t

FLOAT32_EPS = 2.0**-23


def generate_input(m: int, n: int, k: int, seed: int) -> input_t:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(m, k, generator=random), torch.randn(k, n, generator=random)


def ref_kernel(data: input_t) -> output_t:
    a, b = data
    return a @ b


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, torch.Tensor):
        return False, f"expected a torch tensor, got {type(output).__name__}"
    a, b = (part.double() for part in data)
    expected = a @ b
    if (output.dtype, output.shape) != (torch.float32, expected.shape):
        return False, (
            f"expected torch.float32 of shape {tuple(expected.shape)}, "
            f"got {output.dtype} of {tuple(output.shape)}"
        )
    # The forward error of a float32 dot product is at most k * eps * |a| . |b|.
    allowed = a.shape[1] * FLOAT32_EPS * (a.abs() @ b.abs())
    wrong = (~((output.double() - expected).abs() <= allowed)).nonzero()
    if len(wrong):
        at = tuple(wrong[0].tolist())
        return False, (
            f"{len(wrong)} of {expected.numel()} elements are off, the first at {at}: "
            f"got {output[at].item()}, expected {expected[at].item()} +- {allowed[at].item():.2g}"
        )
    return True, ""

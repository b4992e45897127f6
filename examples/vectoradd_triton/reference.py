import torch
from task import input_t, output_t


def generate_input(size: int, seed: int) -> input_t:
    random = torch.Generator(device="cuda").manual_seed(seed)
    a = torch.randn(size, device="cuda", generator=random)
    b = torch.randn(size, device="cuda", generator=random)
    return a, b, torch.empty_like(a)


def ref_kernel(data: input_t) -> output_t:
    a, b, _ = data
    return a + b


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, torch.Tensor):
        return False, f"expected a torch tensor, got {type(output).__name__}"
    expected = ref_kernel(data)
    if (output.dtype, output.shape) != (expected.dtype, expected.shape):
        return False, (
            f"expected {expected.dtype} of shape {tuple(expected.shape)}, "
            f"got {output.dtype} of {tuple(output.shape)}"
        )
    wrong = (output != expected).nonzero()
    if len(wrong):
        at = wrong[0].item()
        return False, (
            f"{len(wrong)} of {expected.numel()} elements differ, the first at [{at}]: "
            f"got {output[at].item()}, expected {expected[at].item()}"
        )
    return True, ""

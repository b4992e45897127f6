import torch

Data = tuple[torch.Tensor, torch.Tensor, int, torch.Tensor]


def generate_input(size: int, seed: int) -> Data:
    random = torch.Generator(device="cuda").manual_seed(seed)
    a = torch.randn(size, device="cuda", generator=random)
    b = torch.randn(size, device="cuda", generator=random)
    return a, b, size, torch.empty_like(a)


def ref_kernel(data: Data) -> torch.Tensor:
    a, b, _, _ = data
    return a + b


def check_implementation(data: Data, output: torch.Tensor) -> tuple[bool, str]:
    expected = ref_kernel(data)
    wrong = (output != expected).nonzero()
    if len(wrong):
        at = wrong[0].item()
        return False, (
            f"{len(wrong)} of {expected.numel()} sums differ, the first at [{at}]: "
            f"got {output[at].item()}, expected {expected[at].item()}"
        )
    return True, ""

import torch


def generate_input(
    batch: int, inner: int, outer: int, seed: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, inner, generator=gen)
    w = torch.randn(outer, inner, generator=gen)
    return x, w, torch.randn(outer, generator=gen)


def ref_kernel(data: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> torch.Tensor:
    x, w, b = data
    return torch.relu(x @ w.T + b)


def check_implementation(
    data: tuple[torch.Tensor, torch.Tensor, torch.Tensor], output: torch.Tensor
) -> bool:
    return torch.allclose(output, ref_kernel(data), 1e-3, 1e-3)

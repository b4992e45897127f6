import torch


def generate_input(rows: int, cols: int, seed: int) -> torch.Tensor:
    return torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed))


def ref_kernel(data: torch.Tensor) -> torch.Tensor:
    return torch.softmax(data, dim=-1)


def check_implementation(data: torch.Tensor, output: torch.Tensor) -> bool:
    return output.dtype == torch.float32 and torch.allclose(output, ref_kernel(data), 1e-4, 1e-5)

# style: triton, as its interpreter runs it here
# problem: linear
import torch
import triton
import triton.language as tl


@triton.jit
def relu_add(x, b, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + row * n + at, mask=mask) + tl.load(b + at, mask=mask)
    tl.store(out + row * n + at, tl.maximum(value, 0), mask=mask)


def custom_kernel(data):
    x, w, b = data
    product = x @ w.t()
    out = torch.empty_like(product)
    n = product.shape[1]
    relu_add[(product.shape[0],)](product, b, out, n, BLOCK=triton.next_power_of_2(n))
    return out

import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    a = tl.load(a_ptr + at, mask=inside)
    b = tl.load(b_ptr + at, mask=inside)
    tl.store(out_ptr + at, a - b, mask=inside)


def custom_kernel(data):
    a, b, out = data
    kernel[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
    return out

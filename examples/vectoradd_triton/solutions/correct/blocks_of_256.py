# More programs, each with less to do.
import triton
import triton.language as tl


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    total = tl.load(a_ptr + at, mask=inside) + tl.load(b_ptr + at, mask=inside)
    tl.store(out_ptr + at, total, mask=inside)


def custom_kernel(data):
    a, b, out = data
    add_kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out

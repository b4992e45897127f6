#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

__global__ void k(const __half *a, const __hip_bfloat16 *b, __half2 *pairs, float *out, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    __half x = __hfma(a[i], a[i], __float2half(1.5f));
    if (__hgt(x, __float2half(2.0f))) x = __hmin(x, __shfl_xor(x, 1));
    float2 both = __half22float2(__hadd2(pairs[i], __halves2half2(x, x)));
    __hip_bfloat16 y = b[i] * b[i] + __float2bfloat16(both.x);
    pairs[i] = __floats2half2_rn(both.y, __half2float(hexp(x)));
    out[i] = __bfloat162float(y) + __half2float(__ushort_as_half(__half_as_ushort(x)));
}

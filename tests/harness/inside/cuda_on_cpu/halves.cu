// What test_halves.py calls.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

template <class T, class T2> __global__ void pairs(const T2 *a, const T2 *b, T2 *out, unsigned *masks, int n) {
    int i = threadIdx.x;
    T2 x = a[i], y = b[i];
    T2 results[] = {__hadd2_sat(x, y), __hmul2_sat(x, y),   __hfma2_relu(x, y, y), __h2div(x, y),
                    -x,                __habs2(x),          h2exp2(x),             h2floor(x),
                    h2rint(x),         __hmax2_nan(x, y),   __hle2(x, y),          __hgtu2(x, y),
                    __hisnan2(x),      __lowhigh2highlow(x)};
    for (int j = 0; j < 14; ++j) out[j * n + i] = results[j];
    masks[i] = __hlt2_mask(x, y);
    masks[n + i] = __hbne2(x, y) << 2 | (x == y) << 1 | (x != y);
}
extern "C" void run_halves(const half2 *a, const half2 *b, half2 *out, unsigned *masks, int n) {
    pairs<half, half2><<<1, n>>>(a, b, out, masks, n);
}
template <class T> __global__ void convert(const float *a, T *down, T *up, T *zero, int *whole, const int *b, T *from) {
    int i = threadIdx.x;
    if constexpr (sizeof(T) == sizeof(half) && std::is_same_v<T, half>) {
        down[i] = __float2half_rd(a[i]), up[i] = __float2half_ru(a[i]), zero[i] = __float2half_rz(a[i]);
        whole[i] = __half2int_ru(down[i]), from[i] = __int2half_rz(b[i]);
    } else {
        down[i] = __float2bfloat16_rd(a[i]), up[i] = __float2bfloat16_ru(a[i]);
        zero[i] = __float2bfloat16_rz(a[i]);
        whole[i] = __bfloat162int_rd(down[i]), from[i] = __int2bfloat16_rz(b[i]);
    }
}
extern "C" void run_convert_half(const float *a, half *down, half *up, half *zero, int *whole, const int *b, half *from, int n) {
    convert<half><<<1, n>>>(a, down, up, zero, whole, b, from);
}
extern "C" void run_convert_bfloat(const float *a, __nv_bfloat16 *down, __nv_bfloat16 *up, __nv_bfloat16 *zero, int *whole, const int *b,
                                   __nv_bfloat16 *from, int n) {
    convert<__nv_bfloat16><<<1, n>>>(a, down, up, zero, whole, b, from);
}
__global__ void directed(const float *a, const float *b, float *out, int n) {
    int i = threadIdx.x;
    float x = a[i], y = b[i];
    float results[] = {__fadd_rd(x, y), __fadd_ru(x, y), __fmul_rz(x, y), __fdiv_rd(x, y),
                       __fsqrt_ru(fabsf(x)), __fmaf_rd(x, y, x), __frcp_ru(y)};
    for (int j = 0; j < 7; ++j) out[j * n + i] = results[j];
    if (i == 0) out[7 * n] = CUDART_INF_F * CUDART_NEG_ZERO_F == 0 ? 0 : rnorm3df(2, 3, 6);
}
extern "C" void run_directed(const float *a, const float *b, float *out, int n) {
    directed<<<1, n>>>(a, b, out, n);
}
__global__ void integers(unsigned *out, long long big) {
    out[0] = __hadd(2147483647, 2147483645), out[1] = __rhadd(-3, -4), out[2] = __uhadd(~0u, ~0u - 2);
    out[3] = __urhadd(3u, 4u), out[4] = __sad(-5, 7, 3u), out[5] = __usad(5u, 7u, 3u);
    out[6] = __mul64hi(big, -4), out[7] = __funnelshift_lc(1, 2, 40), out[8] = __funnelshift_rc(1, 2, 32);
    out[9] = __double2hiint(__hiloint2double(-7, 9)), out[10] = __double2loint(__hiloint2double(-7, 9));
}
extern "C" void run_integers(unsigned *out, long long big) { integers<<<1, 1>>>(out, big); }
__global__ void sums(float2 *two, float4 *four, half2 *halves) {
    atomicAdd(two, make_float2(1.f, threadIdx.x));
    atomicAdd(four, make_float4(1.f, 2.f, 3.f, threadIdx.x));
    atomicAdd(halves, __floats2half2_rn(1.f, 2.f));
}
extern "C" void run_sums(float2 *two, float4 *four, half2 *halves) { sums<<<1, 40>>>(two, four, halves); }

// Where C++ on a processor means another thing than CUDA on a GPU.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void floats(const float *a, float *out) {
    int i = 0;
    out[i++] = abs(a[0]);
    out[i++] = max(a[1], 1.0f);
    out[i++] = min(1.0f, a[1]);
    out[i++] = max(a[1], 2.0);
    out[i++] = __powf(a[0], 2.0f);
    out[i++] = __fdividef(1.0f, a[2]);
    out[i++] = sinpif(a[3]);
    out[i++] = isnan(a[1]) + 2 * isinf(a[4]);
    out[i++] = __fmaf_rn(a[5], a[5], -a[6]);
    out[i++] = __fsub_rn(a[5] * a[5], a[6]);
    out[i++] = __fmul_rn(a[5], a[5]) - a[6];
}
extern "C" void run_floats(const float *a, float *out) { floats<<<1, 1>>>(a, out); }

__global__ void integers(const double *a, long long *out) {
    float nan = a[0], large = a[1], half = a[2];
    int i = 0;
    out[i++] = __float2int_rn(nan);
    out[i++] = __double2int_rz(a[0]);
    out[i++] = __float2ll_rz(nan);
    out[i++] = __float2int_rz(large);
    out[i++] = __float2uint_rn(-large);
    out[i++] = __float2ll_rn(large);
    out[i++] = __float2int_rn(half);
    out[i++] = __float2int_ru(half);
    out[i++] = __int2float_rz(16777219);
    out[i++] = __int2float_rn(16777219);
    out[i++] = __int2float_rd(-16777217);
    out[i++] = __dp4a(0x80ff01ffu, 0x02020202u, 1u);
    out[i++] = __dp4a(int(0x80ff01ff), 0x02020202, 1);
    out[i++] = __dp4a(make_uchar4(255, 1, 255, 128), make_uchar4(2, 2, 2, 2), 1u);
}
extern "C" void run_integers(const double *a, long long *out) { integers<<<1, 1>>>(a, out); }

__global__ void sixteen(const double *a, unsigned short *out) {
    __half one = __double2half(a[0]), nan = __half(NAN);
    out[0] = __half_as_ushort(one);
    out[1] = __bfloat16_as_ushort(__double2bfloat16(a[1]));
    out[2] = __hne(nan, one) + 2 * (nan != one);
}
extern "C" void run_sixteen(const double *a, unsigned short *out) { sixteen<<<1, 1>>>(a, out); }

__global__ void fused(const __half *a, __half *out, const __nv_bfloat16 *b, __nv_bfloat16 *bout) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hfma(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
    bout[i] = __hfma(b[3 * i], b[3 * i + 1], b[3 * i + 2]);
}
extern "C" void run_fused(const __half *a, __half *out, const __nv_bfloat16 *b,
                          __nv_bfloat16 *bout) {
    fused<<<64, 256>>>(a, out, b, bout);
}

__global__ void counted_together(int *out) {
    int lane = threadIdx.x % 32;
    if (lane % 3 != 1) return;
    unsigned together = __activemask();
    int leader = __ffs(together) - 1, first = 0;
    if (lane == leader) first = atomicAdd(out, __popc(together));
    first = __shfl_sync(together, first, leader);
    out[1 + first + __popc(together & ((1u << lane) - 1))] = threadIdx.x;
}
extern "C" void run_counted_together(int *out) { counted_together<<<1, 64>>>(out); }

template <unsigned N, class Parent>
__device__ unsigned rank_of(cg::thread_block_tile<N, Parent> tile) {
    return tile.meta_group_rank() * 100 + tile.meta_group_size();
}
__global__ void tiles(int *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(warp);
    out[threadIdx.x] = rank_of(warp) * 10000 + rank_of(tile);
    if (threadIdx.x % 2) out[64 + threadIdx.x] = cg::coalesced_threads().size();
}
extern "C" void run_tiles(int *out) { tiles<<<1, 64>>>(out); }

__global__ void unwritten(float *out) {
    __shared__ float fixed[4];
    extern __shared__ float dynamic[];
    out[2 * blockIdx.x] = fixed[0] += 1;
    out[2 * blockIdx.x + 1] = dynamic[0] += 1;
}
extern "C" void run_unwritten(float *out) { unwritten<<<4, 1, 64>>>(out); }

__global__ void from_nobody(float *out) {
    float own = threadIdx.x;
    out[threadIdx.x] = max(own, __shfl_xor_sync(~0u, own, 16));
}
extern "C" void run_from_nobody(float *out) { from_nobody<<<1, 48>>>(out); }

// What a GPU refuses, or leaves undefined.
__global__ void different(int *out) {
    int lane = threadIdx.x;
    if (lane < 16) out[lane] = __shfl_sync(~0u, lane, 0);
    else out[lane] = __ballot_sync(~0u, 1);
}
extern "C" void run_different(int *out) { different<<<1, 32>>>(out); }
__global__ void different_for_block(int *out) {
    if (threadIdx.x < 32) __syncthreads();
    else out[threadIdx.x] = __syncthreads_count(1);
}
extern "C" void run_different_for_block(int *out) { different_for_block<<<1, 64>>>(out); }

__global__ void large(int *out) {
    extern __shared__ int numbers[];
    __shared__ int fixed[256];
    fixed[threadIdx.x] = numbers[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = fixed[threadIdx.x] + numbers[threadIdx.x];
}
extern "C" void run_not_asked(int *out) { large<<<1, 32, 49153>>>(out); }
extern "C" void run_fixed_beside_dynamic(int *out) { large<<<1, 32, 49152 - 1023>>>(out); }
extern "C" void run_full(int *out) { large<<<1, 32, 49152 - 1024>>>(out); }
extern "C" void run_asked(int *out) {
    cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    large<<<1, 32, 100000>>>(out);
}
extern "C" void run_not_so_much(int *out) {
    cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    large<<<1, 32, 60001>>>(out);
}
__global__ void too_large(int *out) {
    __shared__ int a[64][100], b[64][100];
    a[0][threadIdx.x] = b[0][threadIdx.x] = out[0] = 1;
}
extern "C" void run_too_large(int *out) { too_large<<<1, 32>>>(out); }

template <int N> __global__ void __launch_bounds__(N * 2, 1) bounded(int *out) {
    out[threadIdx.x] = 1;
}
extern "C" void run_out_of_bounds(int *out) { bounded<16><<<1, 64>>>(out); }
extern "C" void run_within_bounds(int *out) { bounded<16><<<1, 32>>>(out); }

__constant__ int symbol[2];
extern "C" void run_long_copy(int *out) {
    char *own;
    cudaMalloc(&own, 100);
    cudaMemset(own, 0, 100);
    out[0] = cudaMemcpy(own + 50, out, 50, cudaMemcpyDefault);
    out[1] = cudaMemcpy(own + 50, out, 51, cudaMemcpyDefault);
    out[2] = cudaGetLastError();
    cudaFree(own);
    out[3] = cudaFree(own);
}
extern "C" void run_wrong_way(int *out) {
    int *own;
    cudaMalloc(&own, 16);
    cudaMemcpy(own, out, 16, cudaMemcpyHostToDevice);
    cudaMemcpy(out, own, 16, cudaMemcpyHostToDevice);
}
extern "C" void run_long_rows(int *out) {
    char *own;
    cudaMalloc(&own, 20);
    cudaMemcpy2D(own, 8, out, 16, 8, 2, cudaMemcpyDefault);
    cudaMemcpy2D(own, 8, out, 16, 8, 3, cudaMemcpyDefault);
}
extern "C" void run_wide_rows(int *out) {
    cudaMemcpy2D(out, 8, out + 32, 8, 9, 2, cudaMemcpyDefault);
}
extern "C" void run_long_memset(int *out) {
    cudaMalloc(&out, 100);
    cudaMemset(out, 0, 101);
}
extern "C" void run_long_for_symbol(int *out) { cudaMemcpyToSymbol(symbol, out, 12); }

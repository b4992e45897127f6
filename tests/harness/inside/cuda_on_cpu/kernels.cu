// What the tests beside this file call: each function launches a kernel or two.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__constant__ float weights[4];
__device__ int counter;

__global__ void add(const float *a, const float *b, float *out, long n) {
    long i = blockIdx.x * long(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" void run_add(const float *a, const float *b, float *out, long n) {
    add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}

template <int N, typename T> __global__ void reverse(const T *a, T *out) {
    __shared__ T tile[N];
    tile[threadIdx.x] = a[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
}
extern "C" void run_reverse(const int *a, int *out, long blocks) {
    reverse<128><<<dim3(blocks), 128, 0, 0>>>(a, out);
}

__global__ void transpose(const float *a, float *out, int rows, int columns) {
    extern __shared__ float flat[];
    auto *tile = reinterpret_cast<float(*)[17]>(flat);
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = a[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" void run_transpose(const float *a, float *out, long rows, long columns) {
    dim3 grid((columns + 15) / 16, (rows + 15) / 16);
    transpose<<<grid, dim3{16, 16}, 16 * 17 * sizeof(float)>>>(a, out, rows, columns);
}

__global__ void sum(const int *a, int *out, long n) {
    __shared__ int parts[32];
    int own = 0;
    for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n;
         i += long(gridDim.x) * blockDim.x)
        own += a[i];
    for (int d = 16; d; d >>= 1) own += __shfl_down_sync(0xffffffff, own, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1) own += __shfl_xor_sync(0xffffffff, own, d);
        if (threadIdx.x == 0) atomicAdd(out, own);
    }
}
extern "C" void run_sum(const int *a, int *out, long n) {
    cudaMemset(out, 0, sizeof(int));
    sum<<<7, 1024>>>(a, out, n);
}

__global__ void votes(int *out) {
    int i = threadIdx.x;
    out[i] = __ballot_sync(~0u, i % 3 == 0);
    out[64 + i] = __any_sync(~0u, i == 40);
    out[128 + i] = __all_sync(~0u, i < 32);
    out[192 + i] = __syncthreads_count(i % 2);
    out[256 + i] = __syncthreads_and(i < 63) * 2 + __syncthreads_or(i == 63);
    out[320 + i] = __match_any_sync(~0u, i % 4);
    out[384 + i] = __reduce_max_sync(~0u, i);
    out[448 + i] = __shfl_up_sync(~0u, i, 1, 8);
    out[512 + i] = i < 16 ? __shfl_sync(0xffff, i, 3) : -1;
}
extern "C" void run_votes(int *out) { votes<<<1, 64>>>(out); }

__global__ void groups(int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = block.thread_rank();
    out[i] = cg::reduce(tile, i, cg::plus<int>());
    out[64 + i] = tile.shfl(i, 2) * 100 + tile.meta_group_rank();
    block.sync();
    if (i % 2) {
        auto together = cg::coalesced_threads();
        if (together.thread_rank() == 0) atomicAdd(&out[128], together.size());
    }
}
extern "C" void run_groups(int *out) { groups<<<1, 64>>>(out); }

__global__ void atomics(unsigned *out, double *big) {
    atomicAdd(&out[0], 2);
    atomicMax(&out[1], threadIdx.x);
    atomicMin(&out[2], threadIdx.x + 5);
    atomicOr(&out[3], 1u << threadIdx.x % 32);
    atomicInc(&out[4], 9);
    if (atomicCAS(&out[5], 0, threadIdx.x + 1) == 0) atomicExch(&out[6], threadIdx.x);
    atomicAdd(big, 0.5);
    atomicAdd(&counter, 1);
}
extern "C" void run_atomics(unsigned *out, double *big) {
    atomics<<<2, 100>>>(out, big);
    cudaMemcpyFromSymbol(&out[7], counter, sizeof(int));
}

__global__ void weighted(const float4 *a, float *out) {
    float4 v = __ldg(&a[threadIdx.x]);
    out[threadIdx.x] = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w * weights[3];
}
extern "C" void run_weighted(const float4 *a, const float *w, float *out, long n) {
    cudaMemcpyToSymbol(weights, w, sizeof(weights));
    weighted<<<1, n>>>(a, out);
}

__global__ void halves(const __half *a, __half *product, const __nv_bfloat16 *b, float *wide) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    product[i] = __hfma(a[i], a[i], __float2half(0.5f));
    wide[i] = __bfloat162float(__float2bfloat16(__half2float(a[i]))) + __bfloat162float(b[i]);
}
extern "C" void run_halves(const __half *a, __half *product, const __nv_bfloat16 *b, float *wide) {
    halves<<<256, 256>>>(a, product, b, wide);
}

__global__ void bits(const unsigned *a, int *out) {
    unsigned v = a[threadIdx.x];
    out[threadIdx.x * 4] = __popc(v);
    out[threadIdx.x * 4 + 1] = __clz(v);
    out[threadIdx.x * 4 + 2] = __brev(v);
    out[threadIdx.x * 4 + 3] = __umulhi(v, v);
}
extern "C" void run_bits(const unsigned *a, int *out, long n) { bits<<<1, n>>>(a, out); }

__global__ void left_alone(int *out, int waits) {
    if (threadIdx.x < waits) __syncthreads();
    else __syncwarp();
    out[threadIdx.x] = 1;
    __syncthreads();
}
extern "C" void run_left_alone(int *out) { left_alone<<<1, 64>>>(out, 40); }
extern "C" void run_too_many(int *out) { left_alone<<<1, 1025>>>(out, 0); }
extern "C" int last_error() { return cudaGetLastError(); }

__global__ void launches(int *out) { left_alone<<<1, 64>>>(out, 64); }
extern "C" void run_launches(int *out) { launches<<<1, 1>>>(out); }

__global__ void matches(int *out) {
    int i = threadIdx.x, all;
    out[i] = __match_all_sync(~0u, i < 32, &all);
    out[64 + i] = all;
    out[128 + i] = __match_all_sync(~0u, i < 40, &all);
    out[192 + i] = all;
}
extern "C" void run_matches(int *out) { matches<<<1, 64>>>(out); }

constexpr int SIZE = 64;
#define SMEM __shared__
using Sums = int;
__global__ void sized(int *out) {
    __shared__ Sums sums[SIZE >> 5], flags[1 << 6][SIZE > 32 ? 1 : 2];
    __shared__ std::pair<int, std::integral_constant<int, (SIZE >> 1)>> pair;
    SMEM int last;
    if (threadIdx.x < 2) sums[threadIdx.x] = pair.second() + sizeof flags / sizeof(int);
    last = 5;
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x >> 5] + last;
}
extern "C" void run_sized(int *out) { sized<<<1, SIZE>>>(out); }

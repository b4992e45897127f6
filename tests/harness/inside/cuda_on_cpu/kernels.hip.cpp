// HIP: what the tests beside this file call, each function launches a kernel or two.
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
namespace cg = cooperative_groups;

__global__ void add(const float *a, const float *b, float *out, int n, const float *more) {
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n) out[i] = a[i] + b[i] + (more ? more[i] : 0.0f);
}
extern "C" void run_add(const float *a, const float *b, float *out, long n) {
    hipLaunchKernelGGL(add, dim3((n + 255) / 256), dim3(256), 0, nullptr, a, b, out, n, NULL);
}

template <typename T, int N> __global__ void reverse(const T *a, T *out) {
    HIP_DYNAMIC_SHARED(T, tile)
    tile[threadIdx.x] = a[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
}
extern "C" void run_reverse(const int *a, int *out, long blocks) {
    hipStream_t stream;
    (void)hipStreamCreate(&stream);
    hipLaunchKernelGGL((reverse<int, 128>), blocks - 1, 128, 128 * sizeof(int), stream, a, out);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(reverse<int, 128>), 1, 128, 128 * sizeof(int), 0,
                       a + (blocks - 1) * 128, out + (blocks - 1) * 128);
    (void)hipStreamDestroy(stream);
}

__device__ __forceinline__ float wave_sum(float v) {
    for (int d = warpSize / 2; d > 0; d >>= 1) v += __shfl_down(v, d);
    return v;
}
__device__ __forceinline__ float wave_max(float v) {
    for (int d = 32; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor(v, d));
    return v;
}
// The last round of the loop has a part of a wave only, and so has the first wave's sum of all.
__global__ void sum(const float *a, float *out, int n) {
    __shared__ float parts[16];
    int wave = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += a[i];
    own = wave_sum(own);
    if (lane == 0) parts[wave] = own;
    __syncthreads();
    if (threadIdx.x < blockDim.x / warpSize) {
        own = parts[threadIdx.x];
        for (int d = blockDim.x / warpSize / 2; d > 0; d >>= 1) own += __shfl_down(own, d);
        if (threadIdx.x == 0) atomicAdd(out, own);
    }
}
extern "C" void run_sum(const float *a, float *out, long n) { sum<<<3, 512>>>(a, out, n); }

__global__ void softmax(const float *a, float *out, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    float most = -INFINITY, total = 0;
    for (int i = lane; i < columns; i += 64) most = fmaxf(most, a[row * columns + i]);
    most = wave_max(most);
    for (int i = lane; i < columns; i += 64) total += __expf(a[row * columns + i] - most);
    total = __shfl(wave_sum(total), 0);
    for (int i = lane; i < columns; i += 64)
        out[row * columns + i] = __expf(a[row * columns + i] - most) / total;
}
extern "C" void run_softmax(const float *a, float *out, long rows, long columns) {
    softmax<<<rows / 4, dim3(64, 4)>>>(a, out, columns);
}

__global__ void transpose(const float *a, float *out, int rows, int columns) {
    __shared__ float tile[64][65];
    int x = blockIdx.x * 64 + threadIdx.x;
    for (int y = threadIdx.y; y < 64; y += blockDim.y)
        if (x < columns && blockIdx.y * 64 + y < rows)
            tile[y][threadIdx.x] = a[(blockIdx.y * 64 + y) * columns + x];
    __syncthreads();
    x = blockIdx.y * 64 + threadIdx.x;
    for (int y = threadIdx.y; y < 64; y += blockDim.y)
        if (x < rows && blockIdx.x * 64 + y < columns)
            out[(blockIdx.x * 64 + y) * rows + x] = tile[threadIdx.x][y];
}
extern "C" void run_transpose(const float *a, float *out, long rows, long columns) {
    transpose<<<dim3((columns + 63) / 64, (rows + 63) / 64), dim3(64, 4)>>>(a, out, rows, columns);
}

__global__ __launch_bounds__(256, 2) void matmul(const __hip_fp8_e4m3_fnuz *a, const __half *b,
                                                 __hip_bfloat16 *out, int n) {
    __shared__ float left[16][17], right[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float total = 0;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = (float)a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = __half2float(b[(k + threadIdx.y) * n + column]);
        __syncthreads();
        for (int i = 0; i < 16; ++i) total += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    out[row * n + column] = __float2bfloat16(total);
}
extern "C" void run_matmul(const __hip_fp8_e4m3_fnuz *a, const __half *b, __hip_bfloat16 *out,
                           long n) {
    matmul<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, out, n);
}

// Two waves of 64, of which the second ends at lane 40.
__global__ void votes(long long *out) {
    int i = threadIdx.x, n = 128;
    if (i >= 64 + 40) return;
    out[i] = __ballot(i % 3 == 0);
    out[n + i] = __activemask();
    out[2 * n + i] = __any(i == 70) * 10 + __all(i < 64);
    out[3 * n + i] = __match_any(i % 4);
    out[4 * n + i] = __lane_id() + 100 * warpSize;
    out[5 * n + i] = __popcll(__ballot_sync(~0ull, i % 2));
    out[6 * n + i] = __shfl_up(i, 2, 16);
    out[7 * n + i] = __shfl(i, 63);
    out[8 * n + i] = __reduce_max_sync(~0ull, i);
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    out[9 * n + i] = tile.ballot(i % 5 == 0);
}
extern "C" void run_votes(long long *out) { votes<<<1, 128>>>(out); }

// Lanes part, and are together again.
__global__ void branches(int *out) {
    int i = threadIdx.x, value = -1;
    if (i % 3 == 0)
        value = __popcll(__ballot(1));
    else
        value = __popcll(__ballot(1)) * 100;
    out[i] = value;
    int rounds = 0;
    for (int k = 0; k < i % 5; ++k) rounds += __popcll(__ballot(1));
    out[64 + i] = rounds;
    if (i < 32) out[320 + i] = value = __shfl_down(i + 1, 16);
    out[128 + i] = __shfl(value, 1);
    int first = -1;
    while (true) {
        unsigned long long there = __activemask();
        int leader = __ffsll(there) - 1;
        if (__shfl(i % 4, leader) == i % 4) {
            first = leader;
            break;
        }
    }
    out[192 + i] = first;
    out[256 + i] = __popcll(__activemask());
}
extern "C" void run_branches(int *out) { branches<<<1, 64>>>(out); }

__global__ void eights(const unsigned char *bits, float *wide, const float *from,
                       unsigned char *narrow, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __hip_fp8_interpretation_t kinds[] = {__HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ,
                                                __HIP_E5M2_FNUZ};
    if (i < 256) {
        wide[i] = reinterpret_cast<const __hip_fp8_e4m3 *>(bits)[i];
        wide[256 + i] = reinterpret_cast<const __hip_fp8_e5m2 *>(bits)[i];
        wide[512 + i] = reinterpret_cast<const __hip_fp8_e4m3_fnuz *>(bits)[i];
        wide[768 + i] = reinterpret_cast<const __hip_fp8_e5m2_fnuz *>(bits)[i];
    }
    if (i < n)
        for (int k = 0; k < 4; ++k) {
            narrow[k * n + i] = __hip_cvt_float_to_fp8(from[i], __HIP_SATFINITE, kinds[k]);
            narrow[(4 + k) * n + i] = __hip_cvt_float_to_fp8(from[i], __HIP_NOSAT, kinds[k]);
        }
}
extern "C" void run_eights(const unsigned char *bits, float *wide, const float *from,
                           unsigned char *narrow, long n) {
    eights<<<(n + 255) / 256, 256>>>(bits, wide, from, narrow, n);
}

__global__ void scaled(const float4 *a, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * 2.0f + float4(1.0f) - make_float4(0, 1, 2, 3) / a[i];
}
// 0 if each call of the runtime does its work.
extern "C" int run_runtime(const float *a, float *out, long n) {
    float4 *own, *made;
    if (hipMalloc(&own, n * sizeof(float4)) != hipSuccess) return 1;
    if (hipMalloc(reinterpret_cast<void **>(&made), n * sizeof(float4)) != hipSuccess) return 2;
    hipStream_t stream;
    if (hipStreamCreateWithFlags(&stream, hipStreamNonBlocking)) return 3;
    if (hipMemcpyAsync(own, a, n * sizeof(float4), hipMemcpyHostToDevice, stream)) return 4;
    if (hipMemsetAsync(made, 0, n * sizeof(float4), stream)) return 5;
    scaled<<<dim3((n + 63) / 64), dim3(64), 0, stream>>>(own, made, n);
    if (hipGetLastError() != hipSuccess || hipDeviceSynchronize() != hipSuccess) return 6;
    if (hipMemcpy(out, made, n * sizeof(float4), hipMemcpyDeviceToHost)) return 7;
    if (hipStreamSynchronize(stream) || hipStreamDestroy(stream)) return 8;
    hipDeviceProp_t found;
    if (hipGetDeviceProperties(&found, 0) || found.warpSize != 64) return 9;
    if (strcmp(found.gcnArchName, "gfx942") || strcmp(hipGetErrorName(hipSuccess), "hipSuccess"))
        return 10;
    return hipFree(own) || hipFree(made) ? 11 : 0;
}

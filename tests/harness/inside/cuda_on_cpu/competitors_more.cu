// More kernels as competitors write them, for test_competitors.py.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))
#define CHECK(call)                                                                            \
    if (cudaError_t err = (call); err != cudaSuccess) {                                        \
        printf("CUDA error %s: %s\n", cudaGetErrorName(err), cudaGetErrorString(err));         \
        std::exit(1);                                                                          \
    }

// A convolution with constant weights and a tile with its halo.
#define RADIUS 2
__constant__ float taps[(2 * RADIUS + 1) * (2 * RADIUS + 1)];
template <int T> __global__ void convolve(const float *in, float *out, int width, int height) {
    __shared__ float tile[T + 2 * RADIUS][T + 2 * RADIUS];
    const int x0 = blockIdx.x * T - RADIUS, y0 = blockIdx.y * T - RADIUS;
    for (int y = threadIdx.y; y < T + 2 * RADIUS; y += T)
        for (int x = threadIdx.x; x < T + 2 * RADIUS; x += T) {
            int gx = min(max(x0 + x, 0), width - 1), gy = min(max(y0 + y, 0), height - 1);
            tile[y][x] = in[gy * width + gx];
        }
    __syncthreads();
    const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy <= 2 * RADIUS; dy++)
#pragma unroll 5
        for (int dx = 0; dx <= 2 * RADIUS; dx++)
            sum += tile[threadIdx.y + dy][threadIdx.x + dx] * taps[dy * (2 * RADIUS + 1) + dx];
    out[y * width + x] = sum;
}
extern "C" void run_convolve(const float *in, const float *weights, float *out, int width, int height) {
    cudaMemcpyToSymbol(taps, weights, sizeof(taps));
    convolve<16><<<dim3(CEIL_DIV(width, 16), CEIL_DIV(height, 16)), dim3(16, 16)>>>(in, out, width, height);
}

// The last block to be done adds what the others have left.
__device__ unsigned int retired = 0;
template <unsigned THREADS> __global__ void single_pass(const double *in, double *parts, double *out, int n) {
    __shared__ bool is_last;
    __shared__ volatile double own[THREADS];
    double sum = 0;
    for (unsigned i = blockIdx.x * THREADS * 2 + threadIdx.x; i < n; i += THREADS * 2 * gridDim.x) {
        sum += in[i];
        if (i + THREADS < n) sum += in[i + THREADS];
    }
    auto add_up = [&] {
        own[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned s = THREADS / 2; s > 32; s >>= 1) {
            if (threadIdx.x < s) own[threadIdx.x] = own[threadIdx.x] + own[threadIdx.x + s];
            __syncthreads();
        }
        if (threadIdx.x < 32) {
            sum = own[threadIdx.x] + own[threadIdx.x + 32];
            for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
        }
    };
    add_up();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&retired, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) sum += __ldcg(parts + i);
    __syncthreads();
    add_up();
    if (threadIdx.x == 0) *out = sum, retired = 0;
}
extern "C" void run_single_pass(const double *in, double *out, int n) {
    double *parts = nullptr;
    CHECK(cudaMalloc(&parts, 7 * sizeof(double)));
    single_pass<128><<<7, 128>>>(in, parts, out, n);
    CHECK(cudaFree(parts));
}

// Eight bits, four at a time.
__global__ void dot_products(const int8_t *a, const int8_t *b, int *out, int k) {
    const int4 *va = reinterpret_cast<const int4 *>(a + blockIdx.x * k);
    const int4 *vb = reinterpret_cast<const int4 *>(b + blockIdx.x * k);
    int sum = 0;
    for (int i = threadIdx.x; i < k / 16; i += warpSize) {
        int4 x = va[i], y = vb[i];
        sum = __dp4a(x.x, y.x, sum), sum = __dp4a(x.y, y.y, sum);
        sum = __dp4a(x.z, y.z, sum), sum = __dp4a(x.w, y.w, sum);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (!threadIdx.x) out[blockIdx.x] = sum;
}
extern "C" void run_dot_products(const int8_t *a, const int8_t *b, int *out, int rows, int k) {
    dot_products<<<rows, 32>>>(a, b, out, k);
}

// A scan of all in one pass: each block looks back at those before it.
struct alignas(8) Status {
    unsigned flag;
    int value;
};
__global__ void look_back(const int *in, int *out, unsigned long long *status, int n) {
    __shared__ int prefix;
    __shared__ typename cub::BlockScan<int, 64>::TempStorage temp;
    int i = blockIdx.x * 64 + threadIdx.x, own = i < n ? in[i] : 0, upto, all;
    cub::BlockScan<int, 64>(temp).InclusiveSum(own, upto, all);
    if (threadIdx.x == 63) {
        auto publish = [&](unsigned flag, int value) {
            Status made{flag, value};
            atomicExch(status + blockIdx.x, *reinterpret_cast<unsigned long long *>(&made));
        };
        publish(blockIdx.x ? 1u : 2u, all);
        int before = 0;
        for (int at = int(blockIdx.x) - 1; at >= 0; at--) {
            Status found;
            do {
                unsigned long long raw = atomicAdd(status + at, 0ULL);
                found = *reinterpret_cast<Status *>(&raw);
            } while (found.flag == 0);
            before += found.value;
            if (found.flag == 2) break;
        }
        if (blockIdx.x) publish(2u, before + all);
        prefix = before;
    }
    __syncthreads();
    if (i < n) out[i] = prefix + upto;
}
extern "C" void run_look_back(const int *in, int *out, int n) {
    unsigned long long *status;
    int blocks = CEIL_DIV(n, 64);
    cudaMalloc((void **)&status, blocks * sizeof *status);
    cudaMemset(status, 0, blocks * sizeof *status);
    look_back<<<blocks, 64>>>(in, out, status, n);
    cudaFree(status);
}

// Bitonic, in dynamic shared memory of another type than the kernel's before.
template <typename T> __global__ void bitonic(T *data) {
    extern __shared__ unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    const unsigned t = threadIdx.x, n = blockDim.x;
    s[t] = data[blockIdx.x * n + t];
    __syncthreads();
    for (unsigned k = 2; k <= n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                T kept = s[t];
                s[t] = s[other], s[other] = kept;
            }
            __syncthreads();
        }
    data[blockIdx.x * n + t] = s[t];
}
extern "C" void run_bitonic(short *data, int blocks) { bitonic<<<blocks, 128, 128 * sizeof(short)>>>(data); }

// Rotary embedding of halves, two at a time, and random numbers by Philox's product.
__global__ void rotate(__half *x, const float *inverse_frequency, int heads, int d) {
    const int position = blockIdx.x, head = blockIdx.y;
    __half2 *pairs = reinterpret_cast<__half2 *>(x + (position * heads + head) * d);
    for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
        float s, c;
        sincosf(position * inverse_frequency[i], &s, &c);
        float2 v = __half22float2(pairs[i]);
        pairs[i] = __float22half2_rn(make_float2(v.x * c - v.y * s, v.x * s + v.y * c));
    }
}
extern "C" void run_rotate(__half *x, const float *frequency, int length, int heads, int d) {
    rotate<<<dim3(length, heads), min(d / 2, 32)>>>(x, frequency, heads, d);
}
__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll 10
    for (int i = 0; i < 10; i++) {
        unsigned lo0 = 0xD2511F53u * counter.x, hi0 = __umulhi(0xD2511F53u, counter.x);
        unsigned lo1 = 0xCD9E8D57u * counter.z, hi1 = __umulhi(0xCD9E8D57u, counter.z);
        counter = make_uint4(hi1 ^ counter.y ^ key.x, lo1, hi0 ^ counter.w ^ key.y, lo0);
        key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
    }
    return counter;
}
__global__ void draw(uint4 *out) { out[threadIdx.x] = philox({threadIdx.x, 0, 0, 0}, {42u, 7u}); }
extern "C" void run_draw(uint4 *out) { draw<<<1, 64>>>(out); }

// CUB with the operators of CUDA 13, which has none of its own.
__global__ void extremes(const float *in, float *out, int n) {
    using Reduce = cub::BlockReduce<float, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 8>;
    __shared__ typename Reduce::TempStorage temp;
    const int t = threadIdx.y * 16 + threadIdx.x;
    float most = -CUDART_INF_F, least = CUDART_INF_F, sum = 0;
    for (int i = t; i < n; i += 128) {
        most = fmaxf(most, in[i]), least = fminf(least, in[i]), sum += in[i];
    }
    most = Reduce(temp).Reduce(most, cuda::maximum<>{});
    __syncthreads();
    least = Reduce(temp).Reduce(least, cuda::minimum<float>{});
    __syncthreads();
    sum = Reduce(temp).Reduce(sum, cuda::std::plus<>{});
    if (t == 0) out[0] = most, out[1] = least, out[2] = sum;
}
extern "C" void run_extremes(const float *in, float *out, int n) {
    extremes<<<1, dim3(16, 8)>>>(in, out, n);
}
// Bins in shared memory, by CUB.
__global__ void cub_histogram(const unsigned char *in, unsigned *out, int n) {
    using Histogram = cub::BlockHistogram<unsigned char, 64, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ typename Histogram::TempStorage temp;
    __shared__ unsigned bins[256];
    Histogram histogram(temp);
    histogram.InitHistogram(bins);
    __syncthreads();
    for (int start = 0; start < n; start += 256) {
        unsigned char items[4];
        for (int i = 0; i < 4; ++i) items[i] = in[start + threadIdx.x * 4 + i];
        histogram.Composite(items, bins);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) out[i] = bins[i];
}
extern "C" void run_cub_histogram(const unsigned char *in, unsigned *out, int n) {
    cub_histogram<<<1, 64>>>(in, out, n);
}

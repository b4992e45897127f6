// Kernels with one mistake each, and the same without it.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void reverse(const int *a, int *out, int n) {
    __shared__ int tile[64];
    __shared__ bool used;
    used = true;
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x] - !used;
}
__global__ void sum(const int *a, int *out, int n) {
    __shared__ int parts[64];
    int i = threadIdx.x;
    parts[i] = a[i];
    __syncthreads();
    for (int d = 32; d; d /= 2) {
        if (i < d) parts[i] += parts[i + d];
        __syncthreads();
    }
    if (i < 32) {
        parts[i + 32] = parts[0];
        __syncwarp();
        out[i] = parts[32 + 31 - i];
    }
}
__global__ void histogram(const int *a, int *out, int n) {
    __shared__ int counts[8];
    if (threadIdx.x < 8) counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[a[threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
__global__ void no_barrier(const int *a, int *out, int n) {
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void no_warp_barrier(const int *a, int *out, int n) {
    __shared__ int tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x == 0) __syncwarp(1);
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
__global__ void two_values(const int *a, int *out, int n) {
    __shared__ int last;
    last = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = last;
}
__global__ void plain_beside_atomic(const int *a, int *out, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}
__global__ void reads_behind(const int *a, int *out, int n) {
    out[threadIdx.x] = a[threadIdx.x + 1];
}
__global__ void writes_before(const int *a, int *out, int n) {
    out[int(threadIdx.x) - 1] = a[threadIdx.x];
}
__global__ void reads_wide(const int *a, int *out, int n) {
    int4 four = reinterpret_cast<const int4 *>(a)[threadIdx.x];
    if (four.x) out[threadIdx.x] = four.y;
}
__global__ void shared_behind(const int *a, int *out, int n) {
    __shared__ int tile[64];
    tile[threadIdx.x + 1] = a[threadIdx.x];
}
__global__ void dynamic_behind(const int *a, int *out, int n) {
    extern __shared__ int tile[];
    tile[threadIdx.x + 1] = a[threadIdx.x];
}
__global__ void freed(const int *a, int *out, int n) { out[threadIdx.x] = a[threadIdx.x]; }
__global__ void ended_early(const int *a, int *out, int n) {
    if (threadIdx.x == 5) return;
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x];
}
__global__ void warp_in_step(const int *a, int *out, int n) {
    __shared__ volatile int parts[64];
    int i = threadIdx.x;
    parts[i] = a[i];
    __syncthreads();
    for (int d = 32; d && i < 32; d /= 2) {
        int other = parts[i + d];
        __syncwarp();
        if (i < d) parts[i] = parts[i] + other;
        __syncwarp();
    }
    if (i == 0) out[blockIdx.x] = parts[0];
}
__global__ void two_buffers(const int *a, int *out, int n) {
    __shared__ int tiles[2][64];
    int i = threadIdx.x, sum = 0;
    tiles[0][i] = a[i];
    __syncthreads();
    for (int round = 0; round < 5; ++round) {
        tiles[(round + 1) % 2][i] = a[(i + round) % 64];
        sum += tiles[round % 2][63 - i];
        __syncthreads();
    }
    out[i] = sum;
}
__global__ void misaligned(const int *a, int *out, int n) {
    int4 four = *reinterpret_cast<const int4 *>(a + threadIdx.x);
    out[threadIdx.x] = four.x + four.w;
}
__global__ void less_aligned(const int *a, int *out, int n) {
    struct alignas(32) Eight {
        int all[8];
    };
    auto *at = reinterpret_cast<const Eight *>((reinterpret_cast<uintptr_t>(a) + 15) / 16 * 16);
    out[threadIdx.x] = at->all[threadIdx.x % 4];
}
__global__ void shifts(const int *a, int *out, int n) {
    out[threadIdx.x] = 1u << (a[threadIdx.x] - 8);
}
__global__ void converts(const int *a, int *out, int n) {
    out[threadIdx.x] = int(a[threadIdx.x] * 1e8f);
}
__global__ void divides(const int *a, int *out, int n) {
    out[threadIdx.x] = 7 / (a[threadIdx.x] - 3);
}
__global__ void copies_right(const int *a, int *out, int n) {
    __shared__ int rows[64][8], same[8], all[64];
    int own[8];
    memset(own, 0, n / 8 * sizeof(int));
    if (threadIdx.x == 0) memcpy(all, a, n * sizeof(int));
    memset(same, 7, n / 8 * sizeof(int)); // the same by all
    memcpy(rows[threadIdx.x], own, n / 8 * sizeof(int));
    __syncthreads();
    memmove(out + threadIdx.x, all + 63 - threadIdx.x, sizeof(int));
    out[threadIdx.x] += same[0] + rows[63 - threadIdx.x][7];
}
__global__ void copies_behind(const int *a, int *out, int n) {
    memcpy(out + threadIdx.x, a + threadIdx.x, n / 32 * sizeof(int));
}
__global__ void fills_behind(const int *a, int *out, int n) {
    memset(out + 32, 0, n * sizeof(int));
}
__global__ void copies_unordered(const int *a, int *out, int n) {
    __shared__ int rows[64][4];
    memcpy(rows[threadIdx.x], a + threadIdx.x / 4 * 4, n / 16 * sizeof(int));
    memcpy(out + threadIdx.x / 4 * 4, rows[threadIdx.x ^ 1], 4 * sizeof(int));
}
__global__ void two_places(const int *a, int *out, int n) {
    if (threadIdx.x % 2) {
        out[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
    } else {
        __syncthreads(); // of the even ones
        out[threadIdx.x] = -a[threadIdx.x];
    }
}
__global__ void parts_of_work(const int *a, int *out, int n) {
    __shared__ int tile[64];
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x + 32];
    } else {
        tile[threadIdx.x] = -a[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x - 32];
    }
}

#define RUN(KERNEL)                                                                            \
    extern "C" void run_##KERNEL(const int *a, int *out) {                                     \
        KERNEL<<<2, 64, 64 * sizeof(int)>>>(a, out, 64);                                       \
    }
RUN(reverse) RUN(sum) RUN(histogram) RUN(no_barrier) RUN(no_warp_barrier) RUN(two_values)
RUN(plain_beside_atomic) RUN(reads_behind) RUN(writes_before) RUN(reads_wide) RUN(shared_behind)
RUN(dynamic_behind) RUN(ended_early) RUN(warp_in_step) RUN(two_buffers) RUN(misaligned)
RUN(less_aligned) RUN(shifts) RUN(converts) RUN(divides) RUN(copies_right) RUN(copies_behind)
RUN(fills_behind) RUN(copies_unordered) RUN(two_places) RUN(parts_of_work)
extern "C" void run_many(const int *a, int *out) {
    for (int i = 0; i < 300; ++i) freed<<<1, 64, 49152>>>(a, out, 64);
}
extern "C" void run_more_arrays(const int *a, int *out) {
    int *own[600];
    for (auto &one : own) cudaMalloc(&one, 64 * sizeof(int));
    cudaMemcpy(own[599], a, 64 * sizeof(int), cudaMemcpyDefault);
    freed<<<1, 64>>>(own[599], out, 64);
    for (auto *one : own) cudaFree(one);
}
extern "C" void run_read_by_host(const int *a, int *out) {
    int first;
    cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost);
    freed<<<1, 64>>>(a, out, 64);
    first += a[1];
    cudaMemcpy(out, &first, sizeof first, cudaMemcpyHostToDevice);
}
extern "C" void run_managed(const int *a, int *out) {
    int *own;
    cudaMallocManaged(&own, 64 * sizeof(int));
    for (int i = 0; i < 64; ++i) own[i] = i;
    freed<<<1, 64>>>(own, out, 64);
    cudaFree(own);
}
extern "C" void run_freed(const int *a, int *out) {
    int *own;
    cudaMalloc(&own, 64 * sizeof(int));
    freed<<<1, 64>>>(own, out, 64);
    cudaFree(own);
    freed<<<1, 64>>>(own, out, 64);
}

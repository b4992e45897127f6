// HIP's kernels with one mistake each, and one without.
#include <hip/hip_runtime.h>

__global__ void right(const int *a, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    int other = tile[127 - threadIdx.x];
    for (int d = 32; d; d /= 2) other += __shfl_xor(other, d);
    if (__lane_id() == 0) out[threadIdx.x / warpSize] = other;
}
__global__ void no_barrier(const int *a, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = __shfl(a[threadIdx.x], threadIdx.x);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void behind(const int *a, int *out) { out[threadIdx.x] = a[threadIdx.x + 1]; }
__global__ void freed(const int *a, int *own) {
    own[threadIdx.x] = a[threadIdx.x];
}
__global__ void left_alone(const int *a, int *out) {
    int value = a[threadIdx.x];
    if (threadIdx.x < 32)
        value = __shfl_sync(~0ull, value, 0);
    __syncthreads();
    out[threadIdx.x] = value;
}
#define RUN(KERNEL)                                                                            \
    extern "C" void run_##KERNEL(const int *a, int *out) {                                     \
        hipLaunchKernelGGL(KERNEL, 1, 128, 0, 0, a, out);                                      \
    }
RUN(right) RUN(no_barrier) RUN(behind) RUN(left_alone)
extern "C" void run_freed(const int *a, int *out) {
    int *own;
    (void)hipMalloc(&own, 128 * sizeof(int));
    (void)hipFree(own);
    hipLaunchKernelGGL(freed, 1, 128, 0, 0, a, own);
}

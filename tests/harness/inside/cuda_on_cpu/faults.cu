#include <cassert>

__global__ void reads_null(const int *a, int *out) { out[threadIdx.x] = a[threadIdx.x]; }
__global__ void writes_null(int *out) {
    __syncthreads();
    if (threadIdx.x == 40) out[threadIdx.x] = 1;
    __syncthreads();
}
__global__ void reads_nowhere(int **rows, int *out) { out[threadIdx.x] = rows[0][threadIdx.x]; }
__global__ void writes_far(int *out, long long far) { out[far] = 1; }
__global__ void divides(const int *a, int *out) { out[threadIdx.x] = 100 / a[threadIdx.x]; }
__global__ void has_large_arrays(int *out) {
    volatile char large[2000000];
    large[threadIdx.x] = 1;
    out[threadIdx.x] = large[3];
}
__device__ int down(int n) {
    volatile int own[64];
    own[n & 63] = n;
    return n < 0 ? 0 : down(n + 1) + own[(n + 1) & 63];
}
__global__ void recurses(int *out) { out[threadIdx.x] = down(0); }
__global__ void asserts(const int *a) {
    assert(a[threadIdx.x] < 5);
}
__global__ void doubles(const int *a, int *out) { out[threadIdx.x] = 2 * a[threadIdx.x]; }

extern "C" void run_reads_null(int *a, int *out) { reads_null<<<1, 64>>>(nullptr, out); }
extern "C" void run_writes_null(int *a, int *out) { writes_null<<<2, 64>>>(nullptr); }
extern "C" void run_reads_nowhere(int *a, int *out) {
    int **rows;
    cudaMalloc(&rows, sizeof *rows);
    reads_nowhere<<<1, 64>>>(rows, out);
}
extern "C" void run_writes_far(int *a, int *out) { writes_far<<<1, 64>>>(out, 1ll << 40); }
extern "C" void run_divides(int *a, int *out) { divides<<<1, 64>>>(a, out); }
extern "C" void run_has_large_arrays(int *a, int *out) { has_large_arrays<<<1, 64>>>(out); }
extern "C" void run_recurses(int *a, int *out) { recurses<<<1, 64>>>(out); }
extern "C" void run_copies_null(int *a, int *out) {
    int *nothing = nullptr;
    cudaMemcpy(out, nothing, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemset(nothing, 0, 64 * sizeof(int));
    cudaMemcpy(out, nothing, 0, cudaMemcpyDeviceToDevice);
}
extern "C" void run_asserts(int *a, int *out) { asserts<<<1, 64>>>(a); }
extern "C" void run_host_faults(int *a, int *out) {
    doubles<<<1, 64>>>(a, out);
    *reinterpret_cast<volatile int *>(out[0]) = 1;
}
extern "C" void run_host_asserts(int *a, int *out) { assert(a == nullptr); }

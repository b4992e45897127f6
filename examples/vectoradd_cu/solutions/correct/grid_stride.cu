// A fixed number of blocks, each thread taking every so-manyth element.
#include "task.h"

__global__ void add_kernel(const float* a, const float* b, int64_t size, float* out) {
    const int64_t step = gridDim.x * int64_t{blockDim.x};
    for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < size; i += step) {
        out[i] = a[i] + b[i];
    }
}

extern "C" void custom_kernel(const float* a, const float* b, int64_t size, float* out) {
    add_kernel<<<1024, 256>>>(a, b, size, out);
}

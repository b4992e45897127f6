#include "task.h"

__global__ void add_kernel(const float* a, const float* b, int64_t size, float* out) {
    out[i] = a[i] + b[i];
}

extern "C" void custom_kernel(const float* a, const float* b, int64_t size, float* out) {
    add_kernel<<<1, 256>>>(a, b, size, out);
}

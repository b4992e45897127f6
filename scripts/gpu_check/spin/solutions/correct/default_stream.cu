#include "task.h"

__device__ int64_t now() {
    int64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void spin(int64_t ns, int64_t* took) {
    const int64_t start = now();
    while (now() - start < ns) {
    }
    *took = now() - start;
}

extern "C" void custom_kernel(int64_t ns, int64_t* took) {
    spin<<<1, 1>>>(ns, took);
}

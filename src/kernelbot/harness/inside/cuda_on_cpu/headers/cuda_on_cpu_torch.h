// For extensions of torch: its tensors are on the host, and a launch that fails raises an exception.
#pragma once
#include <torch/extension.h>

#define CUDA_ON_CPU_THROWS
#include "cuda_on_cpu.h"

#define is_cuda is_cpu
#define kCUDA kCPU
#define C10_CUDA_CHECK(call) static_cast<void>(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define AT_CUDA_CHECK(call) static_cast<void>(call)

namespace c10::cuda {
struct CUDAStream {
    operator cudaStream_t() const { return nullptr; }
    cudaStream_t stream() const { return nullptr; }
    void synchronize() const {}
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = 0) { return {}; }
struct CUDAGuard {
    template <class Where> explicit CUDAGuard(Where) {}
};
struct OptionalCUDAGuard {
    OptionalCUDAGuard() {}
    template <class Where> explicit OptionalCUDAGuard(Where) {}
};
inline int current_device() { return 0; }
} // namespace c10::cuda
namespace at::cuda {
using namespace c10::cuda;
inline cudaDeviceProp *getCurrentDeviceProperties() {
    static cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    return &properties;
}
} // namespace at::cuda

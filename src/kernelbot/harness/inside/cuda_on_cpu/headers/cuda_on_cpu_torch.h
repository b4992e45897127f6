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

#ifdef CUDA_ON_CPU_HIP // the same by the names that torch gives to AMD's, by itself and when it translates
#define C10_HIP_CHECK(call) static_cast<void>(call)
#define C10_HIP_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define AT_HIP_CHECK(call) static_cast<void>(call)
namespace c10::hip {
using HIPStream = c10::cuda::CUDAStream;
using HIPStreamMasqueradingAsCUDA = HIPStream;
using HIPGuard = c10::cuda::CUDAGuard;
using HIPGuardMasqueradingAsCUDA = HIPGuard;
using OptionalHIPGuard = c10::cuda::OptionalCUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalHIPGuard;
inline HIPStream getCurrentHIPStream(int = 0) { return {}; }
inline HIPStream getDefaultHIPStream(int = 0) { return {}; }
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(int = 0) { return {}; }
inline HIPStream getDefaultHIPStreamMasqueradingAsCUDA(int = 0) { return {}; }
inline int current_device() { return 0; }
} // namespace c10::hip
namespace at::hip {
using namespace c10::hip;
inline hipDeviceProp_t *getCurrentDeviceProperties() {
    static hipDeviceProp_t properties;
    hipGetDeviceProperties(&properties, 0);
    return &properties;
}
} // namespace at::hip
#endif

#ifdef CUDA_ON_CPU_CHECK
namespace cuda_on_cpu {
// Where tensors are that are made while the extension is there: torch's own allocator, and a note.
struct NotingAllocator final : c10::Allocator {
    explicit NotingAllocator(c10::Allocator *real) : real(real) {}
    c10::DataPtr allocate(size_t bytes) override {
        auto *own = new c10::DataPtr(real->allocate(bytes));
        if (own->get()) add_array(own->get(), bytes, "a tensor", Owner::BOTH);
        return {own->get(), own, &release, own->device()};
    }
    static void release(void *own) {
        auto *held = static_cast<c10::DataPtr *>(own);
        remove_array(held->get());
        delete held;
    }
    void copy_data(void *to, const void *from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
    c10::Allocator *real;
};
// Loaded last counts: it knows what was made before as well as others did, from then on.
inline bool note_tensors() {
    constexpr auto highest = std::numeric_limits<uint8_t>::max();
    static NotingAllocator noting(c10::GetAllocator(c10::kCPU));
    c10::SetAllocator(c10::kCPU, &noting, highest);
    return true;
}
__attribute__((visibility("hidden"))) inline const bool notes_tensors = note_tensors();
} // namespace cuda_on_cpu
#endif

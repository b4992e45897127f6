// Stands in for what torch has of its own for AMD's GPUs, in a torch that was built without them:
// declarations, by the names in authors' files and by those that torch translates CUDA's to.
#pragma once
#include <c10/core/Device.h>
#include <hip/hip_runtime.h>

#define C10_HIP_CHECK(call) static_cast<void>(call)
#define C10_HIP_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define AT_HIP_CHECK(call) static_cast<void>(call)
#define C10_CUDA_CHECK(call) static_cast<void>(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define AT_CUDA_CHECK(call) static_cast<void>(call)

namespace c10::hip {
struct HIPStream {
    operator hipStream_t() const;
    hipStream_t stream() const;
    int device_index() const;
    void synchronize() const;
};
struct HIPGuard {
    explicit HIPGuard(c10::Device);
    explicit HIPGuard(int);
    ~HIPGuard();
};
struct OptionalHIPGuard {
    OptionalHIPGuard();
    template <class Where> explicit OptionalHIPGuard(Where);
    ~OptionalHIPGuard();
};
using HIPStreamMasqueradingAsCUDA = HIPStream;
using HIPGuardMasqueradingAsCUDA = HIPGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalHIPGuard;
HIPStream getCurrentHIPStream(int = -1);
HIPStream getDefaultHIPStream(int = -1);
HIPStream getStreamFromPool(bool = false, int = -1);
HIPStream getCurrentHIPStreamMasqueradingAsCUDA(int = -1);
HIPStream getDefaultHIPStreamMasqueradingAsCUDA(int = -1);
int current_device();
int device_count();
} // namespace c10::hip
namespace at::hip {
using namespace c10::hip;
hipDeviceProp_t *getCurrentDeviceProperties();
hipDeviceProp_t *getDeviceProperties(int);
} // namespace at::hip
namespace c10::cuda {
using namespace c10::hip;
using CUDAStream = HIPStream;
using CUDAGuard = HIPGuard;
using OptionalCUDAGuard = OptionalHIPGuard;
HIPStream getCurrentCUDAStream(int = -1);
HIPStream getDefaultCUDAStream(int = -1);
} // namespace c10::cuda
namespace at::cuda {
using namespace c10::cuda;
using at::hip::getCurrentDeviceProperties;
using at::hip::getDeviceProperties;
} // namespace at::cuda

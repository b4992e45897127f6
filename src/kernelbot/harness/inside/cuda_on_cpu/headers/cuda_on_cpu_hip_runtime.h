// HIP's names of the runtime's calls, and its ways to launch.
#pragma once

#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipError_t cudaError_t
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDefault cudaEventDefault
#define hipEventDestroy cudaEventDestroy
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipFreeAsync cudaFreeAsync
#define hipFuncAttribute cudaFuncAttribute
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncCachePreferEqual cudaFuncCachePreferEqual
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferNone cudaFuncCachePreferNone
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncCache_t cudaFuncCache
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncSetCacheConfig cudaFuncSetCacheConfig
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGetSymbolAddress cudaGetSymbolAddress
#define hipHostFree cudaFreeHost
#define hipMalloc cudaMalloc
#define hipMallocAsync cudaMallocAsync
#define hipMallocManaged cudaMallocManaged
#define hipMemcpy cudaMemcpy
#define hipMemcpy2D cudaMemcpy2D
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDefault cudaMemcpyDefault
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyKind cudaMemcpyKind
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define hipMemcpyToSymbolAsync cudaMemcpyToSymbolAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize
#define hipPeekAtLastError cudaPeekAtLastError
#define hipSetDevice cudaSetDevice
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDefault cudaStreamDefault
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamPerThread cudaStreamPerThread
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define HIP_SYMBOL(SYMBOL) SYMBOL
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(T, NAME) T *const NAME = reinterpret_cast<T *>(::cuda_on_cpu::dynamic_shared);
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// The first is for a kernel whose parameters are known, see `launch`.
#define CUDA_ON_CPU_LAUNCH_PLAIN(KERNEL, GRID, THREADS, SHARED, STREAM, ...)                   \
    ::cuda_on_cpu::launch(KERNEL, GRID, THREADS, SHARED, STREAM)(__VA_ARGS__)
#define hipLaunchKernelGGL(KERNEL, GRID, THREADS, SHARED, STREAM, ...)                         \
    ::cuda_on_cpu::launch_any([=](auto... cuda_on_cpu_given) { KERNEL(cuda_on_cpu_given...); },\
                              GRID, THREADS, SHARED, STREAM)(__VA_ARGS__)

struct hipDeviceProp_t : cudaDeviceProp {
    char gcnArchName[256];
};
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *found, int device) {
    cudaGetDeviceProperties(found, device);
    found->sharedMemPerBlock = 65536;
    found->major = 9;
    found->minor = 4;
    found->maxThreadsDim[2] = 1024;
    snprintf(found->gcnArchName, sizeof found->gcnArchName, "gfx942");
    return hipSuccess;
}
template <class T> hipError_t hipHostMalloc(T **at, size_t bytes, unsigned = 0) {
    return hipMalloc(at, bytes);
}
inline hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                                      hipStream_t) {
    return hipMemcpy(to, from, bytes, kind);
}
inline const char *hipGetErrorName(hipError_t code) {
    return code == hipSuccess ? "hipSuccess" : "hipErrorLaunchFailure";
}

template <class T> T __builtin_nontemporal_load(const T *at) { return *at; }
template <class T> void __builtin_nontemporal_store(std::type_identity_t<T> value, T *at) {
    *at = value;
}
template <class T> CUDA_ON_CPU_ATOMIC T unsafeAtomicAdd(T *at, std::type_identity_t<T> value) {
    return cuda_on_cpu::change(
        at, [value](T old) __attribute__((no_sanitize("thread"))) { return T(old + value); },
        CUDA_ON_CPU_HERE);
}
template <class T> T safeAtomicAdd(T *at, std::type_identity_t<T> value) {
    return unsafeAtomicAdd(at, value);
}

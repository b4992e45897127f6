// The runtime's calls on the host's memory. All work is done when a call returns.
#pragma once

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte,
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, multiProcessorCount;
    int major, minor, regsPerBlock, maxThreadsDim[3], maxGridSize[3];
};
using cudaStream_t = struct CUstream_st *;
using cudaEvent_t = struct CUevent_st *;
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2, cudaMemAttachGlobal = 1, cudaHostAllocDefault = 0;
#define cudaStreamLegacy (cudaStream_t(1))
#define cudaStreamPerThread (cudaStream_t(2))

inline cudaError_t cudaPeekAtLastError() {
    return cuda_on_cpu::has_error() ? cudaError_t(cuda_on_cpu::error.code) : cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaPeekAtLastError(); }
inline cudaError_t cudaDeviceSynchronize() { return cudaPeekAtLastError(); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaPeekAtLastError(); }
inline const char *cudaGetErrorString(cudaError_t code) {
    if (code == cudaSuccess) return "no error";
    return cuda_on_cpu::has_error() ? cuda_on_cpu::error.text : "an error of the runtime";
}
inline const char *cudaGetErrorName(cudaError_t code) {
    switch (code) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    default: return "cudaErrorLaunchFailure";
    }
}

#ifdef CUDA_ON_CPU_HIP
#define CUDA_ON_CPU_ALLOCATED "memory of hipMalloc"
#else
#define CUDA_ON_CPU_ALLOCATED "memory of cudaMalloc"
#endif
namespace cuda_on_cpu {
// What the host has allocated and not freed, by address.
struct Allocation {
    size_t bytes;
    Owner owner;
};
struct Allocations {
    std::mutex lock;
    std::map<const char *, Allocation> all;
};
CUDA_ON_CPU_HIDDEN inline Allocations allocations;

inline cudaError_t allocate(void **at, size_t bytes, Owner owner) {
    if (bytes == 0) return *at = nullptr, cudaSuccess;
    if (posix_memalign(at, 256, bytes)) return cudaErrorMemoryAllocation;
    fill_bytes(*at, 0x7f, bytes); // it is as undefined as on a GPU, and shows in results
    std::unique_lock<std::mutex> alone(allocations.lock);
    allocations.all[static_cast<char *>(*at)] = {bytes, owner};
    add_array(*at, bytes, CUDA_ON_CPU_ALLOCATED, owner);
    return cudaSuccess;
}
inline cudaError_t release(void *at) {
    if (at == nullptr) return cudaSuccess;
    std::unique_lock<std::mutex> alone(allocations.lock);
    if (!allocations.all.erase(static_cast<char *>(at))) return cudaErrorInvalidValue;
    remove_array(at);
    std::free(at);
    return cudaSuccess;
}

// How many bytes there are from an address on in what was allocated there, and whose they are.
inline std::optional<Allocation> allocated_at(const void *given) {
    auto *at = static_cast<const char *>(given);
    std::unique_lock<std::mutex> alone(allocations.lock);
    auto after = allocations.all.upper_bound(at);
    if (after == allocations.all.begin()) return {};
    auto [first, found] = *--after;
    if (at >= first + found.bytes) return {};
    return Allocation{found.bytes - (at - first), found.owner};
}

// Whether bytes from an address on are in what was allocated there; true of all other memory.
inline bool has_room(const void *at, size_t bytes, const char *what) {
    auto found = allocated_at(at);
    if (!found || bytes <= found->bytes) return true;
    char text[200];
    snprintf(text, sizeof text,
             "invalid argument: a %s of %zu bytes begins %zu bytes before the end of %s.", what,
             bytes, found->bytes, CUDA_ON_CPU_ALLOCATED);
    set_error(text, nullptr, cudaErrorInvalidValue);
    return false;
}
// Whether a side of a copy that is said to be the host's is so, as far as it is known. CUDA leaves
// other copies undefined.
inline bool may_be_hosts(const void *at) {
#ifdef CUDA_ON_CPU_HIP // which goes by the addresses
    return true;
#endif
    auto found = allocated_at(at);
    if (!found || found->owner == Owner::BOTH) return true;
    set_error("invalid argument: a copy is said to be from or to the host, and that side of it is "
              CUDA_ON_CPU_ALLOCATED ". Say the direction as it is.",
              nullptr, cudaErrorInvalidValue);
    return false;
}
inline bool may_be_used(const void *at, const char *error) {
    if (!is_null(at)) return true;
    set_error(error, nullptr, cudaErrorInvalidValue);
    return false;
}
inline bool may_be_copied(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    constexpr const char *no_null =
        "invalid argument: a copy from or to a null pointer. Check where it was set.";
    if (!may_be_used(to, no_null) || !may_be_used(from, no_null)) return false;
    bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    return has_room(to, bytes, "copy") && has_room(from, bytes, "copy") &&
           (!from_host || may_be_hosts(from)) && (!to_host || may_be_hosts(to));
}
} // namespace cuda_on_cpu
template <class T> cudaError_t cudaMalloc(T **at, size_t bytes) {
    return cuda_on_cpu::allocate(reinterpret_cast<void **>(at), bytes, cuda_on_cpu::Owner::GPU);
}
template <class T> cudaError_t cudaMallocAsync(T **at, size_t bytes, cudaStream_t) {
    return cudaMalloc(at, bytes);
}
// Rows as far from each other as GPUs have them.
template <class T>
cudaError_t cudaMallocPitch(T **at, size_t *pitch, size_t width, size_t height) {
    return *pitch = (width + 511) / 512 * 512, cudaMalloc(at, *pitch * height);
}
template <class T> cudaError_t cudaMallocManaged(T **at, size_t bytes, unsigned = 1) {
    return cuda_on_cpu::allocate(reinterpret_cast<void **>(at), bytes, cuda_on_cpu::Owner::BOTH);
}
template <class T> cudaError_t cudaMallocHost(T **at, size_t bytes, unsigned = 0) {
    return cudaMallocManaged(at, bytes);
}
template <class T> cudaError_t cudaHostAlloc(T **at, size_t bytes, unsigned) {
    return cudaMallocManaged(at, bytes);
}
inline cudaError_t cudaFree(void *at) { return cuda_on_cpu::release(at); }
inline cudaError_t cudaFreeAsync(void *at, cudaStream_t) { return cuda_on_cpu::release(at); }
inline cudaError_t cudaFreeHost(void *at) { return cuda_on_cpu::release(at); }

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    using namespace cuda_on_cpu;
    if (bytes && !may_be_copied(to, from, bytes, kind))
        return report_error(), cudaErrorInvalidValue;
    copy_bytes(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
    if (height && (width > to_pitch || width > from_pitch)) {
        cuda_on_cpu::set_error("invalid argument: rows of a copy are longer than their distance.",
                               nullptr, cudaErrorInvalidValue);
        return cuda_on_cpu::report_error(), cudaErrorInvalidValue;
    }
    for (size_t row = 0; row < height; ++row) {
        auto *at = static_cast<char *>(to) + row * to_pitch;
        auto *source = static_cast<const char *>(from) + row * from_pitch;
        if (cudaError_t wrong = cudaMemcpy(at, source, width, kind)) return wrong;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaMemset(void *at, int value, size_t bytes) {
    constexpr const char *no_null =
        "invalid argument: a memset of a null pointer. Check where it was set.";
    if (bytes && (!cuda_on_cpu::may_be_used(at, no_null) ||
                  !cuda_on_cpu::has_room(at, bytes, "memset")))
        return cuda_on_cpu::report_error(), cudaErrorInvalidValue;
    cuda_on_cpu::fill_bytes(at, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(at, value, bytes);
}
namespace cuda_on_cpu {
inline bool fits_symbol(size_t symbol_bytes, size_t bytes, size_t offset) {
    if (offset <= symbol_bytes && bytes <= symbol_bytes - offset) return true;
    char text[200];
    snprintf(text, sizeof text,
             "invalid argument: %zu bytes at the offset %zu don't fit into a symbol of %zu bytes.",
             bytes, offset, symbol_bytes);
    set_error(text, nullptr, cudaErrorInvalidValue);
    report_error();
    return false;
}
} // namespace cuda_on_cpu
template <class T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    if (!cuda_on_cpu::fits_symbol(sizeof symbol, bytes, offset)) return cudaErrorInvalidValue;
    auto *to = const_cast<char *>(reinterpret_cast<const volatile char *>(&symbol)) + offset;
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    if (!cuda_on_cpu::fits_symbol(sizeof symbol, bytes, offset)) return cudaErrorInvalidValue;
    auto *from = reinterpret_cast<const char *>(&symbol) + offset;
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
template <class T, class P> cudaError_t cudaGetSymbolAddress(P **at, T &symbol) {
    *at = reinterpret_cast<P *>(&symbol);
    return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = cuda_on_cpu::DYNAMIC_SHARED_BYTES; break;
    case cudaDevAttrWarpSize: *value = warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = 8; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 8; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int) {
    *found = {"CPU (in place of a GPU)", size_t(1) << 32, 49152, cuda_on_cpu::DYNAMIC_SHARED_BYTES,
              cuda_on_cpu::DYNAMIC_SHARED_BYTES + 1024, warpSize, 1024, 2048, 8, 8, 0, 65536,
              {1024, 1024, 64}, {INT_MAX, 65535, 65535}};
    return cudaSuccess;
}
// For which kernel counts nowhere: what one has asked for, all have.
template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || unsigned(value) > cuda_on_cpu::DYNAMIC_SHARED_BYTES)
        return cudaErrorInvalidValue;
    cuda_on_cpu::block.asked_bytes = std::max<size_t>(cuda_on_cpu::block.asked_bytes, value);
    return cudaSuccess;
}
template <class F> cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int, size_t) {
    return *blocks = 1, cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *threads, F, size_t = 0, int = 0) {
    return *grid = 8, *threads = 256, cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t *made) { return *made = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *made, unsigned) {
    return cudaStreamCreate(made);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *made, unsigned, int) {
    return cudaStreamCreate(made);
}
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaPeekAtLastError(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaPeekAtLastError(); }
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = nullptr) {
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *made) { return *made = nullptr, cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *made, unsigned) {
    return cudaEventCreate(made);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) {
    return *ms = 0, cudaSuccess; // a time on this device means nothing
}

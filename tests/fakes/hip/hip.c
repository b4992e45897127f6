/* AMD's runtime over the stand-in for NVIDIA's driver: HIP's functions with HIP's own meaning, as of a version.

   It starts only where libdrm can tell that a file is a GPU's, by /sys/dev/char, and where it can open each GPU
   that the kernel lists: the paths in a file `listed` beside this library, one in a line.

   There are no contexts but one for each device; before 7.1 a descriptor to import is read where an address
   points; in 7.14 it is read when the memory is mapped, and what was exported once is handed on again; before 5.5 there is no hipDrvGetErrorName. Kernels are HIP's own: there is no PTX to load. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 70100000
#endif

int open_beside(const char *name, int flags);
int cuDeviceGetAttribute(int *, int, int);
int cuInit(unsigned), cuDeviceGetCount(int *), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuCtxSynchronize(void), cuStreamCreate(void **, unsigned), cuStreamSynchronize(void *), cuStreamQuery(void *);
int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventSynchronize(void *);
int cuEventElapsedTime(float *, void *, void *), cuDeviceGetUuid(unsigned char *, int);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemGetInfo_v2(size_t *, size_t *);
int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *), cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *), cuGetErrorName(int, const char **), cuGetErrorString(int, const char **);
int cuMemGetAllocationGranularity(size_t *, const void *, int), cuMemCreate(uint64_t *, size_t, const int *, uint64_t);
int cuMemExportToShareableHandle(int *, uint64_t, int, uint64_t), cuMemImportFromShareableHandle(uint64_t *, void *, int);
int cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, uint64_t), cuMemMap(uint64_t, size_t, size_t, uint64_t, uint64_t);
int cuMemSetAccess(uint64_t, size_t, const int *, size_t), cuMemUnmap(uint64_t, size_t), cuMemAddressFree(uint64_t, size_t);
int cuMemRelease(uint64_t);

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, INTEGRATED = 16, CUDAS_INTEGRATED = 18 };

static int can_start(void) {
    char text[4096] = "", *rest = text, *path;
    int fd = open_beside("listed", O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0) return 0;
    if (fd >= 0) close(fd);
    while ((path = strtok_r(rest, "\n", &rest))) {
        int opened = open(path, O_RDWR);
        if (opened < 0) return 0;
        close(opened);
    }
    return access("/sys/dev/char", F_OK) == 0;
}

int hipInit(unsigned flags) { return can_start() ? cuInit(flags) : INVALID_DEVICE; }
int hipDeviceGetAttribute(int *value, int attribute, int device) {
    return attribute == INTEGRATED ? cuDeviceGetAttribute(value, CUDAS_INTEGRATED, device) : INVALID_VALUE;
}
int hipRuntimeGetVersion(int *version) { *version = VERSION; return 0; }
int hipGetDeviceCount(int *count) { return cuDeviceGetCount(count); }
int hipSetDevice(int device) {
    int count;
    void *context;
    cuDeviceGetCount(&count);
    if (device < 0 || device >= count) return INVALID_DEVICE;
    return cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context);
}
int hipDeviceSynchronize(void) { return cuCtxSynchronize(); }
int hipDeviceReset(void) { return 0; }
int hipDeviceGetUuid(unsigned char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }
int hipStreamCreateWithFlags(void **stream, unsigned flags) { return cuStreamCreate(stream, flags); }
int hipStreamSynchronize(void *stream) { return cuStreamSynchronize(stream); }
int hipStreamQuery(void *stream) { return cuStreamQuery(stream); }
int hipEventCreateWithFlags(void **event, unsigned flags) { return cuEventCreate(event, flags); }
int hipEventRecord(void *event, void *stream) { return cuEventRecord(event, stream); }
int hipEventSynchronize(void *event) { return cuEventSynchronize(event); }
int hipEventElapsedTime(float *ms, void *start, void *end) { return cuEventElapsedTime(ms, start, end); }
int hipMalloc(void **address, size_t size) { return cuMemAlloc_v2((uint64_t *)address, size); }
int hipFree(void *address) { return address ? cuMemFree_v2((uint64_t)address) : 0; }
int hipMemGetInfo(size_t *free_bytes, size_t *all_bytes) { return cuMemGetInfo_v2(free_bytes, all_bytes); }
int hipMemcpyDtoDAsync(uint64_t to, uint64_t of, size_t size, void *stream) { return cuMemcpyDtoDAsync_v2(to, of, size, stream); }
int hipMemcpyHtoDAsync(uint64_t to, const void *of, size_t size, void *stream) { return cuMemcpyHtoDAsync_v2(to, of, size, stream); }
int hipMemcpyDtoHAsync(void *to, uint64_t of, size_t size, void *stream) { return cuMemcpyDtoHAsync_v2(to, of, size, stream); }
int hipMemsetD8Async(uint64_t to, unsigned char value, size_t size, void *stream) { return cuMemsetD8Async(to, value, size, stream); }
int hipMemsetD32Async(uint64_t to, int value, size_t words, void *stream) { return cuMemsetD32Async(to, value, words, stream); }
/* It calls 4 KiB enough; what isn't in pages of 2 MiB is refused here, where on RDNA 4 kernels fault. */
int hipMemGetAllocationGranularity(size_t *size, const void *wanted, int option) {
    int code = cuMemGetAllocationGranularity(size, wanted, option);
    *size = 4096;
    return code;
}
int hipMemCreate(uint64_t *handle, size_t size, const int *wanted, uint64_t flags) { return cuMemCreate(handle, size, wanted, flags); }
enum { IS_LATE = VERSION == 71400000, IMPORTS = 4096, FIRST_IMPORT = 1 << 20 };
static int exported[1 << 16];
static struct { int descriptor; uint64_t handle; } imported[IMPORTS];
static int imports;

int hipMemExportToShareableHandle(int *fd, uint64_t handle, int kind, uint64_t flags) {
    int *first = &exported[handle % (1 << 16)];
    if (IS_LATE && *first) return (*fd = fcntl(*first, F_DUPFD_CLOEXEC, 0)) < 0 ? INVALID_VALUE : 0;
    int code = cuMemExportToShareableHandle(fd, handle, kind, flags);
    *first = code ? 0 : *fd;
    return code;
}
int hipMemImportFromShareableHandle(uint64_t *handle, void *descriptor, int kind) {
    void *number = VERSION < 70100000 ? (void *)(intptr_t)*(int *)descriptor : descriptor;
    if (!IS_LATE) return cuMemImportFromShareableHandle(handle, number, kind);
    if (imports == IMPORTS) return 2;
    imported[imports].descriptor = (intptr_t)number;
    *handle = FIRST_IMPORT + imports++;
    return 0;
}
/* The memory of a handle, which is only now read from its descriptor; 0 if that isn't open any more. */
static uint64_t memory_of_handle(uint64_t handle) {
    uint64_t *found = &imported[handle % FIRST_IMPORT % IMPORTS].handle;
    if (!IS_LATE || handle < FIRST_IMPORT) return handle;
    if (!*found) cuMemImportFromShareableHandle(found, (void *)(intptr_t)imported[handle - FIRST_IMPORT].descriptor, 1);
    return *found;
}
int hipMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wish, uint64_t flags) { return cuMemAddressReserve(address, size, alignment, wish, flags); }
int hipMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags) { return cuMemMap(address, size, offset, memory_of_handle(handle), flags); }
int hipMemSetAccess(uint64_t address, size_t size, const int *access, size_t count) {
    return size % (2 << 20) ? INVALID_VALUE : cuMemSetAccess(address, size, access, count);
}
int hipMemUnmap(uint64_t address, size_t size) { return cuMemUnmap(address, size); }
int hipMemAddressFree(uint64_t address, size_t size) { return cuMemAddressFree(address, size); }
int hipMemRelease(uint64_t handle) {
    if (handle < FIRST_IMPORT) exported[handle % (1 << 16)] = 0;
    return cuMemRelease(memory_of_handle(handle));
}

/* Its errors have CUDA's numbers, and names of their own. */
const char *hipGetErrorName(int code) {
    return code == 2 ? "hipErrorOutOfMemory" : code == INVALID_DEVICE ? "hipErrorInvalidDevice" : "hipErrorUnknown";
}
const char *hipGetErrorString(int code) {
    const char *text;
    cuGetErrorString(code, &text);
    return text;
}
#if VERSION >= 50500000
int hipDrvGetErrorName(int code, const char **text) { *text = hipGetErrorName(code); return 0; }
int hipDrvGetErrorString(int code, const char **text) { *text = hipGetErrorString(code); return 0; }
#endif

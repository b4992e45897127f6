/* What the harness uses of NVIDIA's driver, without a GPU: memory is the host's, work is time that
   passes. `fake_*` is for tests. Kernels that fail leave their context broken, as real ones do. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BROKEN 700
#define UNSUPPORTED_LIMIT 215
#define CACHE_BYTES (4 << 20)

static int primary, current_is_primary, failure, has_persistence = 1, copies;
static int64_t busy_until_ns, event_stretch_ns;
static size_t persisting_bytes, flushed_bytes;
static int persisting_lines;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void fake_submit(int64_t duration_ns) { busy_until_ns = now_ns() + duration_ns; }
void fake_fail(void) { failure = BROKEN; }
void fake_leave_context(void) { current_is_primary = 0; }
void fake_stretch_events(int64_t more_ns) { event_stretch_ns = more_ns; }
void fake_persist(void) { persisting_bytes = 1 << 20; persisting_lines = 1; }
void fake_without_persistence(void) { has_persistence = 0; }
int fake_persists(void) { return persisting_bytes != 0 || persisting_lines; }
size_t fake_flushed_bytes(void) { return flushed_bytes; }
int fake_copies(void) { return copies; }

int cuInit(unsigned flags) { return flags != 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &primary; return 0; }
int cuCtxSetCurrent(void *context) { current_is_primary = context == &primary; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == 38 ? CACHE_BYTES : 0;
    return 0;
}
int cuStreamCreate(void **stream, unsigned flags) { *stream = malloc(1); return flags != 1; }
int cuStreamSynchronize(void *stream) { (void)stream; return failure; }
int cuEventCreate(void **event, unsigned flags) { *event = calloc(1, sizeof(int64_t)); return flags != 0; }
int cuEventRecord(void *event, void *stream) { (void)stream; *(int64_t *)event = now_ns(); return failure; }
int cuEventSynchronize(void *event) { (void)event; return failure; }
int cuEventElapsedTime(float *ms, void *start, void *end) {
    *ms = (*(int64_t *)end - *(int64_t *)start + event_stretch_ns) / 1e6f;
    return failure;
}
int cuCtxSynchronize(void) {
    while (current_is_primary && now_ns() < busy_until_ns) {}
    return failure;
}
int cuMemAlloc_v2(uint64_t *address, size_t size) { *address = (uint64_t)malloc(size); return 0; }
int cuMemsetD32Async(uint64_t address, unsigned value, size_t words, void *stream) {
    (void)stream;
    memset((void *)address, (int)value, 4 * words);
    flushed_bytes += 4 * words;
    return failure;
}
int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t size, void *stream) {
    (void)stream;
    memcpy(target, (void *)source, size);
    ++copies;
    return failure;
}
int cuCtxSetLimit(int limit, size_t value) {
    if (!has_persistence || limit != 6) return UNSUPPORTED_LIMIT;
    persisting_bytes = value;
    return 0;
}
int cuCtxResetPersistingL2Cache(void) { persisting_lines = 0; return has_persistence ? 0 : 801; }
int cuGetErrorName(int code, const char **text) { *text = code == BROKEN ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR"; return 0; }
int cuGetErrorString(int code, const char **text) { (void)code; *text = "an illegal memory access was encountered"; return 0; }

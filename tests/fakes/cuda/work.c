/* Contexts, streams, events and kernels: time that passes. Kernels that fail leave their context
   broken, as real ones do. */
#include "device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 64, LONGEST_NAME = 48, STREAMS = 256 };

struct stream { int is_blocking; int64_t busy_until_ns; int device; };
struct count { char name[LONGEST_NAME]; int64_t calls; };

static int primary[DEVICES], current, current_is_primary, failure, has_persistence = 1, persisting_lines;
static size_t persisting_bytes, flushed_bytes;
static int64_t event_stretch_ns, launch_ns, call_ns, virtual_ns;
static struct stream streams[STREAMS] = {{1, 0, 0}, {0, 0, 0}}; /* the default one, of all devices; that of fake_submit */
static int stream_count = 2;
static char failing_name[LONGEST_NAME];
static int failing_code;
static struct count own_counts[NAMES], *counts;

int open_beside(const char *name, int flags) {
    Dl_info library;
    char path[4096], file[4200];
    if (!dladdr((void *)open_beside, &library)) return -1;
    snprintf(path, sizeof path, "%s", library.dli_fname);
    snprintf(file, sizeof file, "%s/%s", dirname(path), name);
    return open(file, flags | O_CLOEXEC);
}

static int is_beside(const char *name) {
    int fd = open_beside(name, O_RDONLY);
    return fd >= 0 && !close(fd);
}

/* In a file `counts` beside this library, if there is one that may be written; else our own. */
static struct count *find_counts(void) {
    int fd = open_beside("counts", O_RDWR);
    if (fd >= 0 && !ftruncate(fd, sizeof own_counts)) {
        void *shared = mmap(0, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (shared != MAP_FAILED) return shared;
    }
    return own_counts;
}

/* A file `failing` beside this library names a function, and the code that it returns in every process. */
static void find_failure(void) {
    char text[128] = "";
    int fd = open_beside("failing", O_RDONLY);
    if (fd < 0) return;
    if (read(fd, text, sizeof text - 1) > 0) sscanf(text, "%47s %d", failing_name, &failing_code);
    close(fd);
}

/* Work of ours has failed, or the device has: then everybody's. */
int failed(void) { return failure ? failure : broken(); }

int entered(const char *name) {
    if (!counts) {
        counts = find_counts();
        find_failure();
    }
    int place = 0;
    while (place < NAMES - 1 && counts[place].name[0] && strcmp(counts[place].name, name)) ++place;
    strncpy(counts[place].name, name, LONGEST_NAME - 1);
    __atomic_add_fetch(&counts[place].calls, 1, __ATOMIC_RELAXED);
    virtual_ns += call_ns;
    return strcmp(failing_name, name) ? 0 : failing_code;
}

int64_t now_ns(void) {
    if (call_ns) return virtual_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void wait_until(int64_t time_ns) {
    if (call_ns && virtual_ns < time_ns) virtual_ns = time_ns;
    while (now_ns() < time_ns) {}
}

/* From now on time passes only by calls, each of which takes so long, and by waiting. */
void fake_virtual_clock(int64_t each_call_ns) { virtual_ns = now_ns(); call_ns = each_call_ns; }
int64_t fake_now(void) { return now_ns(); }
/* How long the host is kept by a launch. */
void fake_launching_takes(int64_t duration_ns) { launch_ns = duration_ns; }
/* A driver's function fails from now on with this code; 0: no longer. */
void fake_fail_in(const char *name, int code) { strncpy(failing_name, name, LONGEST_NAME - 1); failing_code = code; }
int64_t fake_count(const char *name) {
    for (int place = 0; counts && place < NAMES; ++place)
        if (!strcmp(counts[place].name, name)) return counts[place].calls;
    return 0;
}
void fake_fail(void) { failure = BROKEN; }
void fake_leave_context(void) { current_is_primary = 0; }
void fake_stretch_events(int64_t more_ns) { event_stretch_ns = more_ns; }
void fake_persist(void) { persisting_bytes = 1 << 20; persisting_lines = 1; }
void fake_without_persistence(void) { has_persistence = 0; }
int fake_persists(void) { return persisting_bytes != 0 || persisting_lines; }
size_t fake_flushed_bytes(void) { return flushed_bytes; }

int current_device(void) { return current; }

int is_elsewhere(void *stream) {
    uintptr_t number = (uintptr_t)stream;
    return number > 1 && number < (uintptr_t)stream_count && streams[number].device != current;
}

static struct stream *named(void *stream) {
    uintptr_t number = (uintptr_t)stream;
    return number < (uintptr_t)stream_count ? &streams[number] : &streams[0];
}

/* The default stream waits for all blocking ones, and these for it. */
static int64_t free_from_ns(struct stream *stream, int64_t time_ns) {
    for (int i = 0; i < stream_count; ++i) {
        struct stream *other = &streams[i];
        int concerns = other == stream || (stream->is_blocking && other->is_blocking &&
                                           (stream == streams || other == streams));
        if (concerns && other->busy_until_ns > time_ns) time_ns = other->busy_until_ns;
    }
    return time_ns;
}

/* Work on it begins, and takes so long; returns when it is done. */
static int64_t occupy(struct stream *stream, int64_t duration_ns) {
    return stream->busy_until_ns = free_from_ns(stream, begins_ns()) + duration_ns;
}
void occupied(void *stream) { occupy(named(stream), 0); }

/* A kernel of known duration. `stream`: NULL for the default one. */
void fake_launch(void *stream, int64_t duration_ns) {
    wait_until(now_ns() + launch_ns);
    occupy(named(stream), duration_ns);
}

/* One on a stream that no other waits for. */
void fake_submit(int64_t duration_ns) { streams[1].busy_until_ns = begins_ns() + duration_ns; }

int cuInit(unsigned flags) { ENTER(); return flags != 0; }
int cuDeviceGetCount(int *count) { ENTER(); *count = DEVICES; return 0; }
int cuDeviceGet(int *device, int ordinal) {
    ENTER();
    *device = ordinal;
    return ordinal < 0 || ordinal >= DEVICES ? INVALID_DEVICE : 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { ENTER(); *context = &primary[device]; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { ENTER(); if (device == current) current_is_primary = 0; return device >= DEVICES; }
int cuCtxSetCurrent(void *context) {
    ENTER();
    current_is_primary = (int *)context >= primary && (int *)context < primary + DEVICES;
    if (current_is_primary) current = (int *)context - primary;
    return 0;
}
/* With a file `integrated` beside this library its memory is the machine's. */
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER();
    (void)device;
    *value = attribute == 38 ? CACHE_BYTES : attribute == 18 ? is_beside("integrated") : 0;
    return 0;
}
/* With a file `many` beside this library, whoever doesn't say how to number GPUs finds another one;
   with a file `mixed`, each user does. */
int cuDeviceGetUuid(unsigned char *uuid, int device) {
    ENTER();
    const char *order = getenv("CUDA_DEVICE_ORDER");
    int is_by_bus = !is_beside("many") || (order && !strcmp(order, "PCI_BUS_ID"));
    memset(uuid, is_beside("mixed") ? (int)geteuid() : 0x5A, 16);
    uuid[15] = device + !is_by_bus;
    return 0;
}
int cuStreamCreate(void **stream, unsigned flags) {
    ENTER();
    if (stream_count == STREAMS) return OUT_OF_MEMORY;
    streams[stream_count].is_blocking = flags != 1;
    streams[stream_count].device = current;
    *stream = (void *)(uintptr_t)stream_count++;
    return flags > 1;
}
int cuStreamQuery(void *stream) { ENTER(); return free_from_ns(named(stream), now_ns()) > now_ns() ? NOT_READY : failed(); }
int cuStreamSynchronize(void *stream) { ENTER(); wait_until(free_from_ns(named(stream), now_ns())); return failed(); }
int cuEventCreate(void **event, unsigned flags) { ENTER(); *event = calloc(1, sizeof(int64_t)); return flags != 0; }
int cuEventRecord(void *event, void *stream) { ENTER(); *(int64_t *)event = occupy(named(stream), 0); return failed(); }
int cuEventSynchronize(void *event) { ENTER(); wait_until(*(int64_t *)event); return failed(); }
int cuEventElapsedTime(float *ms, void *start, void *end) {
    ENTER();
    *ms = (*(int64_t *)end - *(int64_t *)start + event_stretch_ns) / 1e6f;
    return failed();
}
int cuCtxSynchronize(void) {
    ENTER();
    for (int i = 0; current_is_primary && i < stream_count; ++i) wait_until(streams[i].busy_until_ns);
    return failed();
}
int cuModuleLoadData(void **module, const void *image) { ENTER(); *module = (void *)image; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { ENTER(); (void)module; *function = (void *)name; return 0; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    ENTER();
    (void)function; (void)parameters; (void)extra; (void)shared;
    if (!gx || !gy || !gz || !bx || !by || !bz) return INVALID_VALUE;
    fake_launch(stream, 0);
    return failed();
}
int cuMemsetD32Async(uint64_t address, unsigned value, size_t words, void *stream) {
    ENTER();
    if (is_elsewhere(stream)) return INVALID_HANDLE;
    occupied(stream);
    written(address, 4 * words);
    memset((void *)address, (int)value, 4 * words);
    flushed_bytes += 4 * words;
    return failed();
}
int cuCtxSetLimit(int limit, size_t value) {
    ENTER();
    if (!has_persistence || limit != 6) return UNSUPPORTED_LIMIT;
    persisting_bytes = value;
    return 0;
}
int cuCtxResetPersistingL2Cache(void) { ENTER(); persisting_lines = 0; return has_persistence ? 0 : NOT_SUPPORTED; }
static const struct { int code; const char *name, *text; } errors[] = {
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {BROKEN, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "MPS client failed to connect to the MPS control daemon or the MPS server"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "the remote procedural call between the MPS server and the MPS client failed"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS server is not ready to accept new MPS client requests"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the hardware resources required to create MPS client have been exhausted"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "the hardware resources required to support device connections have been exhausted"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS client has been terminated by the server"},
    {0, "CUDA_ERROR", ""},
};

static int described(int code) {
    int place = 0;
    while (errors[place].code && errors[place].code != code) ++place;
    return place;
}

int cuGetErrorName(int code, const char **text) { *text = errors[described(code)].name; return 0; }
int cuGetErrorString(int code, const char **text) { *text = errors[described(code)].text; return 0; }

/* Memory of the device: the host's. A handle is a memfd, so that it can be sent to a process.

   If there is a file `memory` beside this library, that is the device's memory but for handles: what
   a process leaves in it, the next one finds. (Processes at the same time are given the same.) */
#include "device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TOTAL_BYTES
#define TOTAL_BYTES (1ull << 36)
#endif
enum { GRANULARITY = 1 << 16, BLOCKS = 4096, HANDLES = 1 << 16 };

static size_t used_bytes[DEVICES], copied_bytes;
static struct { uint64_t address; size_t size; int device; } blocks[BLOCKS];

static char *kept;
static size_t kept_bytes;

static void find_kept(void) {
    static int searched;
    struct stat status;
    if (searched++) return;
    int fd = open_beside("memory", O_RDWR), sharing = MAP_SHARED;
    if (fd < 0) {
        fd = open_beside("memory", O_RDONLY);
        sharing = MAP_PRIVATE;
    }
    if (fd < 0 || fstat(fd, &status)) return;
    kept = mmap(0, status.st_size, PROT_READ | PROT_WRITE, sharing, fd, 0);
    kept_bytes = status.st_size;
    close(fd);
}

static size_t total_bytes(void) {
    find_kept();
    return kept ? kept_bytes : TOTAL_BYTES;
}

/* The first gap between blocks. */
static uint64_t find_gap(size_t size) {
    uint64_t address = (uint64_t)kept;
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (blocks[slot].address && blocks[slot].address < address + size &&
            address < blocks[slot].address + blocks[slot].size) {
            address = (blocks[slot].address + blocks[slot].size + 511) / 512 * 512;
            slot = -1;
        }
    return address + size <= (uint64_t)kept + kept_bytes ? address : 0;
}

/* If there is a file `occupancy` beside this library, all processes share the devices: whoever has memory
   holds locks on as many of its bytes, which end with the process and need no right to write. The
   devices' bytes lie there one after another. */
static int locks = -1, queries = -1;

static void open_shared(void) {
    if (locks >= 0) return;
    locks = open_beside("occupancy", O_RDONLY);
    queries = open_beside("occupancy", O_RDONLY);
}

static int64_t first_byte(int device) { return (int64_t)TOTAL_BYTES * device; }

static int64_t end_of_lock(int64_t start, int64_t size) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = size};
    if (fcntl(queries, F_OFD_GETLK, &asked) || asked.l_type == F_UNLCK) return 0;
    return asked.l_len ? asked.l_start + asked.l_len : first_byte(DEVICES);
}

static int64_t lock_bytes(size_t size, int device, int64_t *start) {
    int64_t end;
    for (*start = first_byte(device); (end = end_of_lock(*start, size)); *start = end) {}
    if (*start + (int64_t)size > first_byte(device + 1)) return OUT_OF_MEMORY;
    struct flock held = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = *start, .l_len = size};
    return fcntl(locks, F_OFD_SETLK, &held) ? OUT_OF_MEMORY : 0;
}

static struct { int64_t start; size_t size; int device; } held[BLOCKS];

static int64_t take(size_t size, int device) {
    open_shared();
    if (locks < 0 && used_bytes[device] + size > total_bytes()) return OUT_OF_MEMORY;
    int slot = 0;
    while (slot < BLOCKS - 1 && held[slot].size) ++slot;
    if (locks >= 0 && size && lock_bytes(size, device, &held[slot].start)) return OUT_OF_MEMORY;
    held[slot].size = size;
    held[slot].device = device;
    used_bytes[device] += size;
    return 0;
}

static void give_back(size_t size, int device) {
    int slot = 0;
    while (slot < BLOCKS && (held[slot].size != size || held[slot].device != device)) ++slot;
    if (slot == BLOCKS || !size) return;
    struct flock freed = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = held[slot].start, .l_len = size};
    if (locks >= 0) fcntl(locks, F_OFD_SETLK, &freed);
    held[slot].size = 0;
    used_bytes[device] -= size;
}

size_t fake_used_bytes(void) { return used_bytes[current_device()]; }
size_t fake_copied_bytes(void) { return copied_bytes; }

int cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes) {
    ENTER();
    open_shared();
    *all_bytes = total_bytes();
    *free_bytes = *all_bytes - used_bytes[current_device()];
    if (locks >= 0) {
        int64_t end = first_byte(current_device() + 1);
        *free_bytes = TOTAL_BYTES;
        for (int64_t at = first_byte(current_device()); at < end;) {
            struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = end - at};
            if (fcntl(queries, F_OFD_GETLK, &asked) || asked.l_type == F_UNLCK) break;
            *free_bytes -= asked.l_len;
            at = asked.l_start + asked.l_len;
        }
    }
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
    ENTER();
    int slot = 0;
    while (slot < BLOCKS && blocks[slot].address) ++slot;
    if (slot == BLOCKS || take(size, current_device())) return OUT_OF_MEMORY;
    *address = kept ? find_gap(size) : (uint64_t)aligned_alloc(512, (size + 511) / 512 * 512);
    if (!*address) {
        used_bytes[current_device()] -= size;
        return OUT_OF_MEMORY;
    }
    blocks[slot].address = *address;
    blocks[slot].size = size;
    blocks[slot].device = current_device();
    return 0;
}

int cuMemFree_v2(uint64_t address) {
    ENTER();
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (address && blocks[slot].address == address) {
            give_back(blocks[slot].size, blocks[slot].device);
            blocks[slot].address = 0;
            if (!kept) free((void *)address);
            return 0;
        }
    return INVALID_VALUE;
}

#ifndef WITHOUT_VIRTUAL_MEMORY
static char is_own[HANDLES]; /* by handle: whether the memory was created here, not imported */
static struct { uint64_t address, size, file; int device; } mapped[BLOCKS];

uint64_t memory_of(uint64_t address, uint64_t *offset) {
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (mapped[slot].address && mapped[slot].address <= address && address < mapped[slot].address + mapped[slot].size) {
            *offset = address - mapped[slot].address;
            return mapped[slot].file;
        }
    *offset = address;
    return ~(uint64_t)getpid();
}

/* A memfd is named after its device. */
static int device_of(int fd) {
    char path[64], name[64] = "";
    int device = -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof name - 1) < 0 || sscanf(name, "/memfd:device memory %d", &device) != 1) return -1;
    return device;
}

int cuMemGetAllocationGranularity(size_t *size, const void *properties, int option) {
    ENTER();
    (void)properties; (void)option;
    *size = GRANULARITY;
    return 0;
}

int cuMemCreate(uint64_t *handle, size_t size, const int *properties, uint64_t flags) {
    ENTER();
    int pinned_on_a_device_for_descriptors = properties[0] == 1 && properties[1] == 1 && properties[2] == 1;
    int device = properties[3];
    if (flags || size % GRANULARITY || !pinned_on_a_device_for_descriptors) return INVALID_VALUE;
    if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
    if (take(size, device)) return OUT_OF_MEMORY;
    char name[32];
    snprintf(name, sizeof name, "device memory %d", device);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || fd >= HANDLES || ftruncate(fd, size)) return OUT_OF_MEMORY;
    is_own[fd] = 1;
    *handle = fd;
    return 0;
}

int cuMemExportToShareableHandle(int *descriptor, uint64_t handle, int kind, uint64_t flags) {
    ENTER();
    if (kind != 1 || flags) return INVALID_VALUE;
    *descriptor = fcntl(handle, F_DUPFD_CLOEXEC, 0);
    return *descriptor < 0 ? INVALID_VALUE : 0;
}

int cuMemImportFromShareableHandle(uint64_t *handle, void *descriptor, int kind) {
    ENTER();
    int fd = fcntl((int)(intptr_t)descriptor, F_DUPFD_CLOEXEC, 0);
    if (kind != 1 || fd < 0) return INVALID_VALUE;
    *handle = fd;
    return 0;
}

int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wish, uint64_t flags) {
    ENTER();
    (void)alignment; (void)wish;
    void *place = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = (uint64_t)place;
    return place == MAP_FAILED || flags ? OUT_OF_MEMORY : 0;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    ENTER();
    struct stat status;
    int slot = 0;
    while (slot < BLOCKS && mapped[slot].address) ++slot;
    if (flags || fstat(handle, &status) || (size_t)status.st_size < offset + size || slot == BLOCKS) return INVALID_VALUE;
    mapped[slot].address = address;
    mapped[slot].size = size;
    mapped[slot].file = status.st_ino;
    mapped[slot].device = device_of(handle);
    return mmap((void *)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle, offset) == MAP_FAILED;
}

/* For the device that has the memory, and for no other: none of ours reads another's. */
int cuMemSetAccess(uint64_t address, size_t size, const int *access, size_t count) {
    ENTER();
    int slot = 0;
    while (slot < BLOCKS && mapped[slot].address != address) ++slot;
    if (slot == BLOCKS || count != 1 || access[0] != 1 || access[2] != 3) return INVALID_VALUE;
    if (access[1] != mapped[slot].device) return INVALID_DEVICE;
    return mprotect((void *)address, size, PROT_READ | PROT_WRITE) != 0;
}

int cuMemUnmap(uint64_t address, size_t size) {
    ENTER();
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (mapped[slot].address == address) mapped[slot].address = 0;
    return mmap((void *)address, size, PROT_NONE, flags, -1, 0) == MAP_FAILED;
}

int cuMemAddressFree(uint64_t address, size_t size) {
    ENTER();
    return munmap((void *)address, size) != 0;
}

int cuMemRelease(uint64_t handle) {
    ENTER();
    struct stat status;
    if (handle < HANDLES && is_own[handle] && !fstat(handle, &status)) give_back(status.st_size, device_of(handle));
    if (handle < HANDLES) is_own[handle] = 0;
    return close(handle) != 0;
}
#else
uint64_t memory_of(uint64_t address, uint64_t *offset) { *offset = address; return ~(uint64_t)getpid(); }
#endif

/* Of memory that was allocated, never of what was mapped. */
int cuIpcGetMemHandle(char *handle, uint64_t address) {
    ENTER();
    memset(handle, 0, 64);
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (blocks[slot].address && blocks[slot].address <= address && address < blocks[slot].address + blocks[slot].size)
            return 0;
    return INVALID_VALUE;
}

static int copy(void *target, const void *source, size_t size, void *stream) {
    if (is_elsewhere(stream)) return INVALID_HANDLE;
    occupied(stream);
    written((uint64_t)target, size);
    memmove(target, source, size);
    copied_bytes += size;
    return failed();
}

int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t size, void *stream) {
    ENTER();
    return copy((void *)target, (void *)source, size, stream);
}

int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t size, void *stream) {
    ENTER();
    return copy((void *)target, source, size, stream);
}

int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t size, void *stream) {
    ENTER();
    return copy(target, (void *)source, size, stream);
}

/* Large blocks are more than the host has: their pages are dropped, and are zeros when read again. */
static int drop(uint64_t address, size_t size) {
    for (int slot = 0; !kept && size >= 1 << 20 && slot < BLOCKS; ++slot)
        if (blocks[slot].address == address && blocks[slot].size == size) {
            uint64_t first = (address + 4095) / 4096 * 4096, end = (address + size) / 4096 * 4096;
            memset((void *)address, 0, first - address);
            memset((void *)end, 0, address + size - end);
            return madvise((void *)first, end - first, MADV_DONTNEED) == 0;
        }
    return 0;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t size, void *stream) {
    ENTER();
    if (is_elsewhere(stream)) return INVALID_HANDLE;
    occupied(stream);
    written(address, size);
    if (value == 0 && drop(address, size)) return 0;
    memset((void *)address, value, size);
    return 0;
}

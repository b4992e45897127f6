/* Memory of the device: the host's. A handle is a memfd, so that it can be sent to a process.

   If there is a file `memory` beside this library, that is the device's memory but for handles: what
   a process leaves in it, the next one finds. (Processes at the same time are given the same.) */
#include "device.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TOTAL_BYTES
#define TOTAL_BYTES (1ull << 36)
#endif
enum { GRANULARITY = 1 << 16, BLOCKS = 4096, HANDLES = 1 << 16 };

static size_t used_bytes, copied_bytes;
static struct { uint64_t address; size_t size; } blocks[BLOCKS];

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

/* If there is a file `occupancy` beside this library, all processes share one device: whoever has memory
   holds locks on as many of its bytes, which end with the process and need no right to write. */
static int locks = -1, queries = -1;

static void open_shared(void) {
    if (locks >= 0) return;
    locks = open_beside("occupancy", O_RDONLY);
    queries = open_beside("occupancy", O_RDONLY);
}

static int64_t end_of_lock(int64_t start, int64_t size) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = size};
    if (fcntl(queries, F_OFD_GETLK, &asked) || asked.l_type == F_UNLCK) return 0;
    return asked.l_len ? asked.l_start + asked.l_len : (int64_t)TOTAL_BYTES;
}

static int64_t lock_bytes(size_t size, int64_t *start) {
    int64_t end;
    for (*start = 0; (end = end_of_lock(*start, size)); *start = end) {}
    if (*start + size > TOTAL_BYTES) return OUT_OF_MEMORY;
    struct flock held = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = *start, .l_len = size};
    return fcntl(locks, F_OFD_SETLK, &held) ? OUT_OF_MEMORY : 0;
}

static struct { int64_t start; size_t size; } held[BLOCKS];

static int64_t take(size_t size) {
    open_shared();
    if (locks < 0 && used_bytes + size > total_bytes()) return OUT_OF_MEMORY;
    int slot = 0;
    while (slot < BLOCKS - 1 && held[slot].size) ++slot;
    if (locks >= 0 && size && lock_bytes(size, &held[slot].start)) return OUT_OF_MEMORY;
    held[slot].size = size;
    used_bytes += size;
    return 0;
}

static void give_back(size_t size) {
    int slot = 0;
    while (slot < BLOCKS && held[slot].size != size) ++slot;
    if (slot == BLOCKS || !size) return;
    struct flock freed = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = held[slot].start, .l_len = size};
    if (locks >= 0) fcntl(locks, F_OFD_SETLK, &freed);
    held[slot].size = 0;
    used_bytes -= size;
}

size_t fake_used_bytes(void) { return used_bytes; }
size_t fake_copied_bytes(void) { return copied_bytes; }

int cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes) {
    ENTER();
    open_shared();
    *all_bytes = total_bytes();
    *free_bytes = *all_bytes - used_bytes;
    if (locks >= 0) {
        *free_bytes = TOTAL_BYTES;
        for (int64_t at = 0; at < (int64_t)TOTAL_BYTES;) {
            struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = TOTAL_BYTES - at};
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
    if (slot == BLOCKS || take(size)) return OUT_OF_MEMORY;
    *address = kept ? find_gap(size) : (uint64_t)aligned_alloc(512, (size + 511) / 512 * 512);
    if (!*address) {
        used_bytes -= size;
        return OUT_OF_MEMORY;
    }
    blocks[slot].address = *address;
    blocks[slot].size = size;
    return 0;
}

int cuMemFree_v2(uint64_t address) {
    ENTER();
    for (int slot = 0; slot < BLOCKS; ++slot)
        if (address && blocks[slot].address == address) {
            give_back(blocks[slot].size);
            blocks[slot].address = 0;
            if (!kept) free((void *)address);
            return 0;
        }
    return INVALID_VALUE;
}

#ifndef WITHOUT_VIRTUAL_MEMORY
static char is_own[HANDLES]; /* by handle: whether the memory was created here, not imported */

int cuMemGetAllocationGranularity(size_t *size, const void *properties, int option) {
    ENTER();
    (void)properties; (void)option;
    *size = GRANULARITY;
    return 0;
}

int cuMemCreate(uint64_t *handle, size_t size, const int *properties, uint64_t flags) {
    ENTER();
    int pinned_on_device_0_for_descriptors = properties[0] == 1 && properties[1] == 1 && properties[2] == 1;
    if (flags || size % GRANULARITY || !pinned_on_device_0_for_descriptors) return INVALID_VALUE;
    if (take(size)) return OUT_OF_MEMORY;
    int fd = memfd_create("device memory", MFD_CLOEXEC);
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
    if (flags || fstat(handle, &status) || (size_t)status.st_size < offset + size) return INVALID_VALUE;
    return mmap((void *)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle, offset) == MAP_FAILED;
}

int cuMemSetAccess(uint64_t address, size_t size, const int *access, size_t count) {
    ENTER();
    if (count != 1 || access[0] != 1 || access[2] != 3) return INVALID_VALUE;
    return mprotect((void *)address, size, PROT_READ | PROT_WRITE) != 0;
}

int cuMemUnmap(uint64_t address, size_t size) {
    ENTER();
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return mmap((void *)address, size, PROT_NONE, flags, -1, 0) == MAP_FAILED;
}

int cuMemAddressFree(uint64_t address, size_t size) {
    ENTER();
    return munmap((void *)address, size) != 0;
}

int cuMemRelease(uint64_t handle) {
    ENTER();
    struct stat status;
    if (handle < HANDLES && is_own[handle] && !fstat(handle, &status)) give_back(status.st_size);
    if (handle < HANDLES) is_own[handle] = 0;
    return close(handle) != 0;
}
#endif

static int copy(void *target, const void *source, size_t size) {
    memmove(target, source, size);
    copied_bytes += size;
    return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t size, void *stream) {
    ENTER();
    (void)stream;
    return copy((void *)target, (void *)source, size);
}

int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t size, void *stream) {
    ENTER();
    (void)stream;
    return copy((void *)target, source, size);
}

int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t size, void *stream) {
    ENTER();
    (void)stream;
    return copy(target, (void *)source, size);
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
    (void)stream;
    if (value == 0 && drop(address, size)) return 0;
    memset((void *)address, value, size);
    return 0;
}

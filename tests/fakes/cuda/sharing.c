/* What processes on one GPU notice of each other: a switch between their contexts takes time, and what one
   writes last lies in the cache for the next one to read.

   It is told by a file `gpu` beside this library, which begins with the code of the device's own failure, if a
   test writes one. Whoever may only read it, as runners may, notices the work of
   others, and they don't notice theirs. */
#include "device.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECENT = 256, SHORTEST_SWITCH_NS = 20000, LONGEST_SWITCH_NS = 60000 };

struct shared {
    int64_t broken; /* a code: the device has failed, for everybody */
    int64_t works; /* of everybody, so far */
    int64_t writes;
    struct { uint64_t memory, start, end; } recent[RECENT];
};

static struct shared own, *shared;
static int is_ours; /* whether we may write it */
static int64_t seen_works, works_elsewhere, switched_at_ns;
static unsigned random_state = 1;

static void find_shared(void) {
    if (shared) return;
    int fd = open_beside("gpu", O_RDWR), rights = PROT_READ | PROT_WRITE;
    if (fd < 0) {
        fd = open_beside("gpu", O_RDONLY);
        rights = PROT_READ;
    }
    is_ours = rights & PROT_WRITE;
    if (fd >= 0 && is_ours && ftruncate(fd, sizeof *shared)) fd = -1;
    void *found = fd < 0 ? MAP_FAILED : mmap(0, sizeof *shared, rights, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    shared = found == MAP_FAILED ? &own : found;
    is_ours |= shared == &own;
}

int broken(void) {
    find_shared();
    return __atomic_load_n(&shared->broken, __ATOMIC_RELAXED);
}
int fake_is_broken(void) { return broken() != 0; }

/* Another process has computed, or copied. */
void fake_work_elsewhere(void) { ++works_elsewhere; }

/* When our next work can begin: another process's context may have to give way to ours. */
int64_t begins_ns(void) {
    find_shared();
    int64_t works = __atomic_load_n(&shared->works, __ATOMIC_RELAXED) + works_elsewhere, time_ns = now_ns();
    if (works != seen_works) {
        random_state = random_state * 1103515245 + 12345;
        switched_at_ns = time_ns + SHORTEST_SWITCH_NS + (random_state >> 8) % (LONGEST_SWITCH_NS - SHORTEST_SWITCH_NS);
    }
    if (is_ours) works = __atomic_add_fetch(&shared->works, 1, __ATOMIC_RELAXED) + works_elsewhere;
    seen_works = works;
    return time_ns > switched_at_ns ? time_ns : switched_at_ns;
}

/* Some memory was written: it lies in the cache until as much as that holds was written after it. */
void written(uint64_t address, size_t size) {
    find_shared();
    if (!is_ours || !size) return;
    uint64_t offset = address, memory = memory_of(address, &offset);
    int place = __atomic_fetch_add(&shared->writes, 1, __ATOMIC_RELAXED) % RECENT;
    shared->recent[place].memory = memory;
    shared->recent[place].start = offset;
    shared->recent[place].end = offset + size;
}

/* How much of some memory lies in the cache. */
size_t fake_cached_bytes(uint64_t address, size_t size) {
    find_shared();
    uint64_t offset = address, memory = memory_of(address, &offset), found = 0, room = CACHE_BYTES;
    for (int64_t count = shared->writes, age = 0; room && age < RECENT && age < count; ++age) {
        int place = (count - 1 - age) % RECENT;
        uint64_t start = shared->recent[place].start, end = shared->recent[place].end;
        if (end - start > room) start = end - room;
        room -= end - start;
        if (shared->recent[place].memory != memory) continue;
        if (start < offset) start = offset;
        if (end > offset + size) end = offset + size;
        if (start < end) found += end - start;
    }
    return found < size ? found : size;
}

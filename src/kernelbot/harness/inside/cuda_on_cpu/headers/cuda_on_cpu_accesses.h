// With CUDA_ON_CPU_CHECK: the compiler calls a function at each access of memory (-fsanitize=thread,
// without its library), which tells what lies outside of all arrays, and races in shared memory.
#pragma once
#include <link.h>
#include <pthread.h>

namespace cuda_on_cpu {
struct Range {
    const char *first, *last;
    const char *name;
    bool is_shared;
    Owner owner;
    size_t shadow; // of shared memory: the place of its first byte's record
};

// One access of a byte of shared memory. `when` counts the barriers of the block, `in_warp` those of
// the thread's warp.
struct Access {
    unsigned when, in_warp, thread;
    void *where;
};
struct Byte {
    Access write, atomic, read, other_read;
};

// What a thread is about to write where another one has: if it writes the same, that is no race.
struct Doubt {
    const unsigned char *at;
    size_t size;
    unsigned char before[16];
    Access other;
    void *where;
    unsigned thread;
};

constexpr unsigned MAX_ARRAYS = 512;

// No containers of the library: their functions would call ours in turn.
struct Accesses {
    Range arrays[MAX_ARRAYS];
    bool is_incomplete; // there are more: what lies outside of these may be in one of them
    unsigned arrays_count, last_found;
    Byte *bytes;
    size_t bytes_count;
    Doubt doubts[64];
    unsigned doubts_count;
    Range module, host_stack;
    pthread_t host; // 0: nobody was given arguments
    unsigned when, in_warp[64];
};
__attribute__((visibility("hidden"))) inline Accesses accesses;

CUDA_ON_CPU_UNSEEN inline void add_range(const void *first, size_t bytes, const char *name,
                                         bool is_shared, Owner owner = Owner::GPU) {
    if (accesses.arrays_count == MAX_ARRAYS) {
        accesses.is_incomplete = true;
        return;
    }
    size_t shadow = accesses.bytes_count;
    if (is_shared) {
        accesses.bytes_count += bytes;
        size_t all = accesses.bytes_count * sizeof(Byte);
        accesses.bytes = static_cast<Byte *>(std::realloc(accesses.bytes, all));
        if (accesses.bytes == nullptr) std::abort();
        fill_bytes(accesses.bytes + shadow, 0, bytes * sizeof(Byte));
    }
    auto *from = static_cast<const char *>(first);
    accesses.arrays[accesses.arrays_count++] = {from, from + bytes, name, is_shared, owner, shadow};
}
CUDA_ON_CPU_UNSEEN inline void add_array(const void *first, size_t bytes, const char *name,
                                         Owner owner) {
    add_range(first, bytes, name, false, owner);
}
CUDA_ON_CPU_UNSEEN inline void remove_array(const void *first) {
    for (unsigned i = 0; i < accesses.arrays_count; ++i)
        if (accesses.arrays[i].first == first) {
            accesses.arrays[i] = accesses.arrays[--accesses.arrays_count];
            return;
        }
}
// By the place of the name itself. Where it lay may be another array's by now.
CUDA_ON_CPU_UNSEEN inline void remove_named(const char *name) {
    for (unsigned i = 0; i < accesses.arrays_count; ++i)
        if (accesses.arrays[i].name == name) {
            accesses.arrays[i] = accesses.arrays[--accesses.arrays_count];
            return;
        }
}

void begin_grid(size_t shared_bytes);
void begin_block();
void synchronised_block();
void synchronised_warp(unsigned warp);
void some_had_ended();
bool is_one_place();
void end_grid();
void touch_atomically(const void *at, size_t bytes, void *where);

inline int find_module(dl_phdr_info *info, size_t, void *) {
    auto own = reinterpret_cast<uintptr_t>(&accesses); // each module has its own
    uintptr_t first = ~uintptr_t(0), last = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        auto &part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        first = std::min<uintptr_t>(first, info->dlpi_addr + part.p_vaddr);
        last = std::max<uintptr_t>(last, info->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
    if (own < first || own >= last) return 0;
    accesses.module = {reinterpret_cast<char *>(first), reinterpret_cast<char *>(last), "", false,
                       Owner::BOTH, 0};
    return 1;
}

inline void find_host_stack() {
    pthread_attr_t attributes;
    void *first = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    pthread_attr_getstack(&attributes, &first, &bytes);
    pthread_attr_destroy(&attributes);
    auto *from = static_cast<char *>(first);
    accesses.host_stack = {from, from + bytes, "", false, Owner::BOTH, 0};
}

CUDA_ON_CPU_UNSEEN inline bool contains(const Range &range, const char *at, size_t bytes) {
    return at >= range.first && at + bytes <= range.last;
}

CUDA_ON_CPU_UNSEEN inline const Range *array_with(const char *at, size_t bytes) {
    const Range *all = accesses.arrays;
    unsigned count = accesses.arrays_count;
    if (accesses.last_found < count && contains(all[accesses.last_found], at, bytes))
        return &all[accesses.last_found];
    for (unsigned i = 0; i < count; ++i)
        if (contains(all[i], at, bytes)) {
            accesses.last_found = i;
            return &all[i];
        }
    return nullptr;
}

// The shared array beside which an address is; null if there is none.
CUDA_ON_CPU_UNSEEN inline const Range *shared_beside(const char *at) {
    for (unsigned i = 0; i < accesses.arrays_count; ++i) {
        const Range &range = accesses.arrays[i];
        if (range.is_shared && at >= range.first - 1024 && at < range.last + 1024) return &range;
    }
    return nullptr;
}
} // namespace cuda_on_cpu

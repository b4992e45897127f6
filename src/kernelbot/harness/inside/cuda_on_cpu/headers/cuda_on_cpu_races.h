// What each access is held to: see cuda_on_cpu_accesses.h.
#pragma once

namespace cuda_on_cpu {
constexpr unsigned MAX_DOUBTS = 64;

// The launch's dynamic shared memory, whose records are made once for all launches.
inline void size_dynamic(size_t bytes) {
    auto *first = reinterpret_cast<const char *>(dynamic_shared);
    unsigned at = 0;
    while (at < accesses.arrays_count && accesses.arrays[at].first != first) ++at;
    if (at == accesses.arrays_count && bytes)
        add_range(first, DYNAMIC_SHARED_BYTES, "dynamic shared memory", true);
    if (at < accesses.arrays_count) accesses.arrays[at].last = first + bytes;
}

inline void begin_grid(size_t shared_bytes) {
    if (accesses.module.first == nullptr) dl_iterate_phdr(find_module, nullptr);
    find_host_stack();
    size_dynamic(shared_bytes);
    accesses.when += 1;
    accesses.doubts_count = 0;
}

// As `rank`, which an access may call no more.
CUDA_ON_CPU_UNSEEN inline unsigned own_rank() {
    return static_cast<unsigned>(block.current - block.threads);
}

// Of two writes of the same value nobody can tell which came last.
CUDA_ON_CPU_UNSEEN inline Doubt *confirmed_doubt() {
    for (unsigned i = 0; i < accesses.doubts_count; ++i) {
        Doubt &doubt = accesses.doubts[i];
        for (size_t j = 0; j < doubt.size; ++j)
            if (doubt.at[j] != doubt.before[j]) return &doubt;
    }
    accesses.doubts_count = 0;
    return nullptr;
}

inline void describe_race(char *text, size_t size, const Range &array, const Thread &self,
                          bool is_write, const Access &other, bool other_writes) {
    char line[200];
    find_line(other.where, line, sizeof line);
    uint3 a = self.index, b = block.threads[other.thread].index;
    snprintf(text, size,
             "thread (%u,%u,%u) of block (%u,%u,%u) %s shared memory `%s` that thread (%u,%u,%u) "
             "%s%s%s, with no barrier between them. Put one there.",
             a.x, a.y, a.z, blockIdx.x, blockIdx.y, blockIdx.z, is_write ? "writes" : "reads",
             array.name, b.x, b.y, b.z, other_writes ? "writes" : "reads", line[0] ? " in " : "",
             line);
}

// What was in doubt until now: it is an error, or nothing.
inline void settle_doubts() {
    Doubt *found = confirmed_doubt();
    if (found == nullptr || block.stopped) return;
    Doubt doubt = *found;
    accesses.doubts_count = 0;
    char text[600];
    const Range *array = array_with(reinterpret_cast<const char *>(doubt.at), doubt.size);
    describe_race(text, sizeof text, *array, block.threads[doubt.thread], true, doubt.other, true);
    set_error(text, doubt.where);
    block.stopped = true;
}
inline void begin_block() {
    settle_doubts();
    accesses.when += 1;
}
inline void synchronised_block() { begin_block(); }
inline void synchronised_warp(unsigned warp) {
    settle_doubts();
    accesses.in_warp[warp] += 1;
}
inline void end_grid() { settle_doubts(); }

inline void some_had_ended() {
    unsigned ended = 0, waiting = 0;
    while (block.threads[ended].state != State::DONE) ++ended;
    while (block.threads[waiting].state == State::DONE) ++waiting;
    uint3 at = block.threads[ended].index;
    char text[300];
    snprintf(text, sizeof text,
             "thread (%u,%u,%u) of block (%u,%u,%u) has ended before this barrier of its block. "
             "Have all threads reach it.",
             at.x, at.y, at.z, blockIdx.x, blockIdx.y, blockIdx.z);
    set_error(text, block.threads[waiting].where);
    block.stopped = true;
}

// Whether two calls are the author's same line, which the compiler may have copied.
inline bool is_same_line(void *one, void *other) {
    static void *known[64][2];
    static unsigned count;
    for (unsigned i = 0; i < count; ++i)
        if (known[i][0] == one && known[i][1] == other) return true;
    char first[200], second[200];
    find_line(one, first, sizeof first);
    find_line(other, second, sizeof second);
    bool is_same = !first[0] || !second[0] || strcmp(first, second) == 0;
    if (is_same && count < 64) known[count][0] = one, known[count++][1] = other;
    return is_same;
}

// Whether the lanes of each warp wait for their block at one place. Ends the launch if not: the
// condition of a branch with a barrier in it has to be the same for all, or CUDA promises nothing.
// Warps may wait at different places, as those do that have different parts of the work.
inline bool is_one_place() {
    const Thread *first = nullptr;
    for (unsigned i = 0; i < block.count; ++i) {
        const Thread &other = block.threads[i];
        if (i % WARP == 0) first = nullptr;
        if (other.state != State::AT_BLOCK_BARRIER) continue;
        if (first == nullptr) first = &other;
        if (other.where == first->where || is_same_line(first->where, other.where)) continue;
        uint3 a = first->index, b = other.index;
        char text[600], line[200];
        find_line(other.where, line, sizeof line);
        snprintf(text, sizeof text,
                 "thread (%u,%u,%u) of block (%u,%u,%u) waits at a barrier of its block while thread "
                 "(%u,%u,%u) of its warp waits at the one in %s. Have all threads reach the same.",
                 a.x, a.y, a.z, blockIdx.x, blockIdx.y, blockIdx.z, b.x, b.y, b.z, line);
        set_error(text, first->where);
        block.stopped = true;
        return false;
    }
    return true;
}

CUDA_ON_CPU_UNSEEN inline void outside(const char *at, size_t bytes, bool is_write, void *where) {
    if (is_null(at)) return stop_at_null(at, is_write ? "writes" : "reads", where);
    const Range *nearest = shared_beside(at);
    auto *dynamic = reinterpret_cast<const char *>(dynamic_shared);
    long distance = 0;
    for (unsigned i = 0; i < accesses.arrays_count && nearest == nullptr; ++i) {
        const Range &range = accesses.arrays[i];
        bool is_dynamic = range.first == dynamic && at >= dynamic && at < dynamic + DYNAMIC_SHARED_BYTES;
        if (is_dynamic) nearest = &range;
    }
    for (unsigned i = 0; i < accesses.arrays_count && !(nearest && nearest->is_shared); ++i) {
        const Range &range = accesses.arrays[i];
        long off = at < range.first ? range.first - at : at - range.last;
        if (!range.is_shared && (nearest == nullptr || off < distance)) nearest = &range, distance = off;
    }
    char place[200] = "";
    if (nearest && at == nearest->last)
        snprintf(place, sizeof place, ", right behind the end of `%s`", nearest->name);
    else if (nearest && at >= nearest->last)
        snprintf(place, sizeof place, ", %zd bytes behind the end of `%s`", at - nearest->last,
                 nearest->name);
    else if (nearest && at < nearest->first)
        snprintf(place, sizeof place, ", %zd bytes before the beginning of `%s`",
                 nearest->first - at, nearest->name);
    else if (nearest)
        snprintf(place, sizeof place, ", across the end of `%s`", nearest->name);
    char does[400];
    snprintf(does, sizeof does, "%s %zu bytes outside of all arrays%s. Check the index.",
             is_write ? "writes" : "reads", bytes, place);
    stop_thread(does, where);
}

CUDA_ON_CPU_UNSEEN inline bool is_ordered(const Access &before, unsigned self) {
    return before.when != accesses.when || before.thread == self ||
           (before.thread / WARP == self / WARP && before.in_warp != accesses.in_warp[self / WARP]);
}

CUDA_ON_CPU_UNSEEN inline void race(const Range &array, bool is_write, void *where,
                                    const Access &other, bool other_writes) {
    block.running = false; // what follows isn't the kernel's
    char text[600];
    describe_race(text, sizeof text, array, *block.current, is_write, other, other_writes);
    stop(text, where);
}

CUDA_ON_CPU_UNSEEN inline void doubt(const Range &array, const char *at, size_t bytes,
                                     const Access &other, void *where) {
    if (accesses.doubts_count == MAX_DOUBTS || bytes > 16) race(array, true, where, other, true);
    Doubt &made = accesses.doubts[accesses.doubts_count++];
    made.at = reinterpret_cast<const unsigned char *>(at);
    made.size = bytes;
    for (size_t i = 0; i < bytes; ++i) made.before[i] = made.at[i];
    made.other = other;
    made.where = where;
    made.thread = own_rank();
}

CUDA_ON_CPU_UNSEEN inline void touch_shared(const Range &array, const char *at, size_t bytes,
                                            bool is_write, bool is_atomic, void *where) {
    unsigned self = own_rank();
    Access now = {accesses.when, accesses.in_warp[self / WARP], self, where};
    Byte *all = accesses.bytes + array.shadow + (at - array.first);
    bool is_doubtful = false;
    for (size_t i = 0; i < bytes; ++i) {
        Byte &byte = all[i];
        if (!is_atomic && !is_ordered(byte.atomic, self))
            race(array, is_write, where, byte.atomic, true);
        if (!is_ordered(byte.write, self)) {
            if (!is_write || is_atomic) race(array, is_write, where, byte.write, true);
            if (!is_doubtful) doubt(array, at, bytes, byte.write, where);
            is_doubtful = true;
        }
        if (is_write) {
            if (!is_ordered(byte.read, self)) race(array, true, where, byte.read, false);
            if (!is_ordered(byte.other_read, self)) race(array, true, where, byte.other_read, false);
            (is_atomic ? byte.atomic : byte.write) = now;
        } else {
            if (!is_ordered(byte.read, self)) byte.other_read = byte.read;
            byte.read = now;
        }
    }
}

// What the thread does between launches that was given the arguments; others may launch meanwhile.
CUDA_ON_CPU_UNSEEN inline void touch_by_host(const char *at, size_t bytes, bool is_write,
                                             void *where) {
    if (error.is_set || accesses.host != pthread_self()) return;
    const Range *array = array_with(at, bytes);
    if (array == nullptr || array->is_shared || array->owner != Owner::GPU) return;
    char text[300];
    snprintf(text, sizeof text,
             "the host function %s `%s`, which is memory of the GPU: that crashes on one. Copy it "
             "by cudaMemcpy, or use it in a kernel.",
             is_write ? "writes" : "reads", array->name);
    set_error(text, where);
}

CUDA_ON_CPU_UNSEEN inline void touch(const void *address, size_t bytes, bool is_write,
                                     bool is_atomic, void *where) {
    if (!block.running)
        return touch_by_host(static_cast<const char *>(address), bytes, is_write, where);
    if (block.stopped || !is_in_kernel()) return;
    auto *at = static_cast<const char *>(address);
    const char *stacks = block.stacks.mapping;
    if (at >= stacks && at < stacks + Stacks::EACH_BYTES * MAX_STACKS) return;
    if (accesses.doubts_count && confirmed_doubt()) {
        block.running = false; // what follows isn't the kernel's
        settle_doubts();
        stop("");
    }
    const Range *array = array_with(at, bytes);
    if (array != nullptr) {
        if (array->is_shared) touch_shared(*array, at, bytes, is_write, is_atomic, where);
        return;
    }
    auto *dynamic = reinterpret_cast<const char *>(dynamic_shared);
    bool is_dynamic = at >= dynamic && at < dynamic + DYNAMIC_SHARED_BYTES;
    bool is_own = contains(accesses.module, at, bytes) ||
                  contains(accesses.host_stack, at, bytes) || accesses.is_incomplete;
    if (is_dynamic || !is_own || shared_beside(at)) outside(at, bytes, is_write, where);
}

CUDA_ON_CPU_UNSEEN inline void touch_atomically(const void *at, size_t bytes, void *where) {
    touch(at, bytes, true, true, where);
}
// The arrays that the host function is given, by the place of the argument. No bytes: none.
CUDA_ON_CPU_EXPORTED inline void cuda_on_cpu_argument(int place, const void *first, size_t bytes) {
    static char names[64][24];
    if (place < 1 || place > 63) return;
    accesses.host = pthread_self();
    snprintf(names[place], sizeof names[place], "argument %d", place);
    remove_named(names[place]);
#ifdef CUDA_ON_CPU_THROWS // torch's tensors may be the host's
    if (bytes) add_array(first, bytes, names[place], Owner::BOTH);
#else
    if (bytes) add_array(first, bytes, names[place], Owner::GPU);
#endif
}
} // namespace cuda_on_cpu

// One block at a time: its threads run in order, each until it ends or waits for others.
#pragma once
#include <pthread.h>

#ifndef CUDA_ON_CPU_WARP
#define CUDA_ON_CPU_WARP 32
#endif
#define CUDA_ON_CPU_HIDDEN __attribute__((visibility("hidden")))

CUDA_ON_CPU_HIDDEN inline uint3 threadIdx, blockIdx;
CUDA_ON_CPU_HIDDEN inline dim3 blockDim, gridDim;
inline constexpr int warpSize = CUDA_ON_CPU_WARP;

namespace cuda_on_cpu {
constexpr unsigned WARP = CUDA_ON_CPU_WARP, MAX_THREADS = 1024;
#ifdef CUDA_ON_CPU_HIP
constexpr unsigned DYNAMIC_SHARED_BYTES = 163840, MAX_THREADS_Z = 1024;
#else
constexpr unsigned DYNAMIC_SHARED_BYTES = 232448, MAX_THREADS_Z = 64;
constexpr unsigned SHARED_BYTES = 49152; // what a block has unless the host asks for more
#endif
using Lanes = unsigned long long;
// What a shuffle reads from a lane that takes no part: CUDA doesn't define it, AMD's hardware does.
constexpr uint64_t FROM_NOBODY = CUDA_ON_CPU_WARP == 64 ? 0 : 0x7f7f7f7f7f7f7f7full;
using Fold = uint64_t (*)(uint64_t, uint64_t);

enum class State : unsigned char { NEW, READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, DONE };
enum class Exchange : unsigned char {
    NOTHING, SHUFFLE, VOTE, MATCH, MATCH_ALL, FOLD, // of a warp
    COUNT, ANY, ALL, // of a block, which has NOTHING as well
};

struct Thread {
    uint3 index;
    State state;
    Exchange exchange;
    unsigned source, stack, vote;
    void *where; // the call of the barrier at which it waits
    Lanes lanes;              // who has to come to the warp's barrier
    bool is_in_step;          // instead of `lanes`, those who wait at the same place
    uint64_t deposit, result; // of an exchange
    Fold fold;
};

struct Block {
    Thread threads[MAX_THREADS];
    Stacks stacks;
    unsigned count, next, last;
    Thread *current;
    void (*body)(void *);
    void *arguments;
    unsigned votes; // of __syncthreads_count and its like
    unsigned resumed; // how often a thread that waited has gone on
    uint64_t launch, serial; // of the current launch and block, from 1
    size_t static_bytes, dynamic_bytes; // of the launch's shared memory
    size_t asked_bytes; // the most dynamic shared memory that the host has asked for
    bool stopped, running;
    pthread_t host; // the thread of the host that has launched what runs; 0: nothing runs
};
CUDA_ON_CPU_HIDDEN inline Block block;
alignas(1024) CUDA_ON_CPU_HIDDEN inline unsigned char dynamic_shared[DYNAMIC_SHARED_BYTES];
CUDA_ON_CPU_HIDDEN inline std::mutex one_launch;

// Whether the calling thread of the host is running a kernel. Others may launch theirs meanwhile.
CUDA_ON_CPU_UNSEEN inline bool is_in_kernel() {
    return __atomic_load_n(&block.host, __ATOMIC_RELAXED) == pthread_self();
}
inline unsigned rank() { return static_cast<unsigned>(block.current - block.threads); }
inline unsigned lane() { return rank() % WARP; }

// The thread waits; returns once others have come.
inline void wait(State state) {
    Thread *self = block.current;
    self->state = state;
    go(block.stacks.all[self->stack], block.stacks.scheduler);
}

// Ends the launch with an error. Called by a thread, whose stack is given up.
[[noreturn]] inline void stop(const char *text, void *where = nullptr) {
    set_error(text, where);
    block.stopped = true;
    go(block.stacks.all[block.current->stack], block.stacks.scheduler);
    std::abort();
}

inline void become(Thread *thread) {
    block.current = thread;
    threadIdx = thread->index;
}

// On a stack of its own: threads that haven't begun, up to `last`, until one has waited.
inline void run_threads() {
    unsigned stack = block.threads[block.next].stack;
    for (;;) {
        Thread *thread = &block.threads[block.next++];
        thread->stack = stack;
        become(thread);
        unsigned resumed_before = block.resumed;
        block.body(block.arguments);
        thread->state = State::DONE;
        if (block.resumed != resumed_before || block.next >= block.last) break;
    }
    block.stacks.release(stack);
    go(block.stacks.all[stack], block.stacks.scheduler);
    std::abort();
}

inline void resume(Thread *thread) {
    become(thread);
    thread->state = State::READY;
    ++block.resumed;
    go(block.stacks.scheduler, block.stacks.all[thread->stack]);
}

// Those of a group who give the same as `thread`.
inline Lanes equal_lanes(const Thread *warp, unsigned size, Lanes group, const Thread &thread) {
    Lanes found = 0;
    for (unsigned i = 0; i < size; ++i)
        if (group >> i & 1 && warp[i].deposit == thread.deposit) found |= 1ull << i;
    return found;
}

inline void exchange(Thread *warp, unsigned size, Lanes group) {
    Lanes votes = 0;
    uint64_t folded = 0;
    bool first = true;
    for (unsigned i = 0; i < size; ++i) {
        if (!(group >> i & 1)) continue;
        votes |= static_cast<Lanes>(warp[i].deposit != 0) << i;
        if (warp[i].exchange == Exchange::FOLD) {
            folded = first ? warp[i].deposit : warp[i].fold(folded, warp[i].deposit);
            first = false;
        }
    }
    for (unsigned i = 0; i < size; ++i) {
        if (!(group >> i & 1)) continue;
        Thread &thread = warp[i];
        unsigned from = thread.source;
        switch (thread.exchange) {
        case Exchange::SHUFFLE:
            thread.result = from < size && group >> from & 1 ? warp[from].deposit : FROM_NOBODY;
            break;
        case Exchange::VOTE: thread.result = votes; break;
        case Exchange::FOLD: thread.result = folded; break;
        case Exchange::MATCH: thread.result = equal_lanes(warp, size, group, thread); break;
        case Exchange::MATCH_ALL: // who has ended by the time a lane goes on took part as well
            thread.result = equal_lanes(warp, size, group, thread) == group ? group : 0;
            break;
        default: break; // a barrier alone
        }
    }
}

// Ends the launch: on a GPU these wait for each other forever, or get any values.
inline void different_barriers(const Thread &first, const Thread &other, const char *whose,
                               const char *whom) {
    uint3 a = first.index, b = other.index;
    char text[300];
    snprintf(text, sizeof text,
             "thread (%u,%u,%u) of block (%u,%u,%u) waits at a barrier of its %s while thread "
             "(%u,%u,%u) waits at one of another kind. Have all %s call the same.",
             a.x, a.y, a.z, blockIdx.x, blockIdx.y, blockIdx.z, whose, b.x, b.y, b.z, whom);
    set_error(text, first.where);
    block.stopped = true;
}
// Whether all of a group wait in the same kind of exchange as `first`. Ends the launch if not.
inline bool is_one_exchange(const Thread *warp, unsigned size, Lanes group, const Thread &first) {
    for (unsigned i = 0; i < size; ++i) {
        bool is_same = warp[i].exchange == first.exchange && warp[i].fold == first.fold;
        if (!(group >> i & 1) || is_same) continue;
        different_barriers(first, warp[i], "warp", "lanes of the mask");
        return false;
    }
    return true;
}
// The same of all threads of the block that wait for it.
inline bool is_one_barrier() {
    const Thread *first = nullptr;
    for (unsigned i = 0; i < block.count; ++i) {
        const Thread &thread = block.threads[i];
        if (thread.state != State::AT_BLOCK_BARRIER) continue;
        if (first == nullptr) first = &thread;
        if (thread.exchange == first->exchange) continue;
        different_barriers(*first, thread, "block", "threads");
        return false;
    }
    return true;
}

// Lets those go on who wait at a barrier of their warp that all have reached who have to.
inline bool release_warp(Thread *warp, unsigned size) {
    Lanes living = 0, done = 0;
    bool any = false;
    for (unsigned i = 0; i < size; ++i)
        if (warp[i].state != State::DONE) living |= 1ull << i;
    for (unsigned i = 0; i < size; ++i) {
        bool waits = warp[i].state == State::AT_WARP_BARRIER && !warp[i].is_in_step;
        if (!waits || done >> i & 1) continue;
        Lanes group = warp[i].lanes & living;
        bool complete = true;
        for (unsigned j = 0; j < size && complete; ++j)
            if (group >> j & 1)
                complete = warp[j].state == State::AT_WARP_BARRIER && !warp[j].is_in_step &&
                           (warp[j].lanes & living) == group;
        if (!complete) continue;
        if (!is_one_exchange(warp, size, group, warp[i])) return true;
        exchange(warp, size, group);
        for (unsigned j = 0; j < size; ++j)
            if (group >> j & 1) warp[j].state = State::READY;
        done |= group;
        any = true;
    }
    if (any) synchronised_warp(static_cast<unsigned>(warp - block.threads) / WARP);
    return any;
}

// Exchanges without a mask are between the lanes that are in step. None of the warp can go on
// otherwise, so those are who wait at one place: at the first one in the code, since the others may
// yet come to the later ones.
inline bool release_in_step(Thread *warp, unsigned size) {
    void *where = nullptr;
    Lanes group = 0;
    for (unsigned i = 0; i < size; ++i) {
        if (warp[i].state != State::AT_WARP_BARRIER || !warp[i].is_in_step) continue;
        if (where == nullptr || warp[i].where < where) {
            where = warp[i].where;
            group = 0;
        }
        if (warp[i].where == where) group |= 1ull << i;
    }
    if (group == 0) return false;
    exchange(warp, size, group);
    for (unsigned i = 0; i < size; ++i)
        if (group >> i & 1) warp[i].state = State::READY;
#ifdef CUDA_ON_CPU_HIP // of CUDA it is __activemask alone, which is no barrier
    synchronised_warp(static_cast<unsigned>(warp - block.threads) / WARP);
#endif
    return true;
}

// Runs a warp's threads until all have ended or wait for other warps.
inline bool run_warp(unsigned first) {
    unsigned last = std::min(first + WARP, block.count);
    bool any = false;
    do {
        for (unsigned i = first; i < last && !block.stopped; ++i) {
            Thread *thread = &block.threads[i];
            if (thread->state == State::READY) {
                resume(thread);
                any = true;
            } else if (thread->state == State::NEW) {
                block.next = i;
                block.last = last;
                thread->stack = block.stacks.take(run_threads);
                go(block.stacks.scheduler, block.stacks.all[thread->stack]);
                any = true;
            }
        }
    } while (!block.stopped && (release_warp(block.threads + first, last - first) ||
                                release_in_step(block.threads + first, last - first)));
    return any;
}

inline bool release_block() {
    unsigned living = 0, waiting = 0;
    for (unsigned i = 0; i < block.count; ++i) {
        living += block.threads[i].state != State::DONE;
        waiting += block.threads[i].state == State::AT_BLOCK_BARRIER;
    }
    if (living == 0 || waiting != living) return false;
    if (!is_one_barrier() || !is_one_place()) return true;
    unsigned total = 0;
    for (unsigned i = 0; i < block.count; ++i)
        if (block.threads[i].state == State::AT_BLOCK_BARRIER) total += block.threads[i].vote;
    block.votes = total;
    for (unsigned i = 0; i < block.count; ++i)
        if (block.threads[i].state == State::AT_BLOCK_BARRIER)
            block.threads[i].state = State::READY;
    if (waiting != block.count) some_had_ended();
    synchronised_block();
    return true;
}

// Of the threads that can't go on, the first one that waits for its warp, or for its block.
inline void deadlock() {
    unsigned waiting = MAX_THREADS, other = MAX_THREADS;
    for (unsigned i = 0; i < block.count; ++i) {
        State state = block.threads[i].state;
        if (state == State::AT_WARP_BARRIER && waiting == MAX_THREADS) waiting = i;
        if (state == State::AT_BLOCK_BARRIER && other == MAX_THREADS) other = i;
    }
    bool of_warp = waiting < MAX_THREADS;
    Thread &thread = block.threads[of_warp ? waiting : other];
    uint3 at = thread.index;
    char text[400];
    snprintf(text, sizeof text,
             "thread (%u,%u,%u) of block (%u,%u,%u) waits at a barrier of its %s that others never "
             "reach. Have all threads that a barrier is for reach it.",
             at.x, at.y, at.z, blockIdx.x, blockIdx.y, blockIdx.z, of_warp ? "warp" : "block");
    set_error(text, thread.where);
    block.stopped = true;
}

inline void run_block() {
    block.stacks.open();
    for (unsigned i = 0; i < block.count; ++i) block.threads[i].state = State::NEW;
    begin_block();
    for (bool done = false; !done && !block.stopped;) {
        bool any = false;
        for (unsigned first = 0; first < block.count && !block.stopped; first += WARP)
            any |= run_warp(first);
        done = true;
        for (unsigned i = 0; i < block.count; ++i) done &= block.threads[i].state == State::DONE;
        if (!done && !block.stopped && !release_block() && !any) deadlock();
    }
}
} // namespace cuda_on_cpu

// Static shared memory: each block finds garbage in it, and a block has only so much.
#pragma once

namespace cuda_on_cpu {
// A block has come to a declaration of shared memory for the first time. `launch_seen`: the last
// launch that has.
__attribute__((noinline)) CUDA_ON_CPU_UNSEEN inline void
enter_shared(void *first, size_t bytes, uint64_t &launch_seen) {
    fill_bytes(first, garbage_of_block(), bytes);
    if (launch_seen == block.launch) return;
    launch_seen = block.launch;
    block.static_bytes += bytes;
    if (const char *why_not = why_too_much_shared(block.static_bytes, block.dynamic_bytes))
        stop(why_not, CUDA_ON_CPU_HERE);
}

// What `__shared__ T name;` is made to be. If accesses are looked at, it is between stretches that
// belong to no array.
template <class T> struct Shared {
#ifdef CUDA_ON_CPU_CHECK
    alignas(16) char before[1024];
    T value;
    char behind[1024];
    Shared(const char *name) { add_range(address(), sizeof value, name, true); }
#else
    T value;
    constexpr Shared(const char *) {}
#endif
    uint64_t block_seen = 0, launch_seen = 0;

    CUDA_ON_CPU_UNSEEN Shared &entered() {
        if (block.running && block_seen != block.serial) {
            block_seen = block.serial;
            enter_shared(address(), sizeof value, launch_seen);
        }
        return *this;
    }
    CUDA_ON_CPU_UNSEEN void *address() {
        return const_cast<void *>(static_cast<const volatile void *>(&value));
    }
};

// What `__launch_bounds__(most, ...)` of a kernel is made to be.
CUDA_ON_CPU_UNSEEN inline void bounded(unsigned most, int = 0, int = 0) {
    if (!block.running || block.count <= most) return;
    char text[200];
    snprintf(text, sizeof text,
             "the launch has blocks of %u threads, and the kernel's __launch_bounds__ allows %u: a "
             "GPU refuses it. Make one fit the other.",
             block.count, most);
    stop(text);
}
} // namespace cuda_on_cpu

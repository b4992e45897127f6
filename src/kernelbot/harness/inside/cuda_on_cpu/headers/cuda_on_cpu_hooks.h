// What the compiler calls, with -fsanitize=thread, instead of or beside each access of memory.
#pragma once

#define CUDA_ON_CPU_HOOK                                                                       \
    extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"), used)) void
#define CUDA_ON_CPU_HOOKS(SIZE)                                                                \
    CUDA_ON_CPU_HOOK __tsan_read##SIZE(void *at) {                                             \
        cuda_on_cpu::touch(at, SIZE, false, false, __builtin_return_address(0));               \
    }                                                                                          \
    CUDA_ON_CPU_HOOK __tsan_write##SIZE(void *at) {                                            \
        cuda_on_cpu::touch(at, SIZE, true, false, __builtin_return_address(0));                \
    }                                                                                          \
    CUDA_ON_CPU_HOOK __tsan_unaligned_read##SIZE(void *at) {                                   \
        cuda_on_cpu::touch(at, SIZE, false, false, __builtin_return_address(0));               \
    }                                                                                          \
    CUDA_ON_CPU_HOOK __tsan_unaligned_write##SIZE(void *at) {                                  \
        cuda_on_cpu::touch(at, SIZE, true, false, __builtin_return_address(0));                \
    }
CUDA_ON_CPU_HOOKS(1)
CUDA_ON_CPU_HOOKS(2)
CUDA_ON_CPU_HOOKS(4)
CUDA_ON_CPU_HOOKS(8)
CUDA_ON_CPU_HOOKS(16)
CUDA_ON_CPU_HOOK __tsan_read_range(void *at, size_t size) {
    cuda_on_cpu::touch(at, size, false, false, __builtin_return_address(0));
}
CUDA_ON_CPU_HOOK __tsan_write_range(void *at, size_t size) {
    cuda_on_cpu::touch(at, size, true, false, __builtin_return_address(0));
}
CUDA_ON_CPU_HOOK __tsan_init() {}
CUDA_ON_CPU_HOOK __tsan_func_entry(void *) {}
CUDA_ON_CPU_HOOK __tsan_func_exit() {}
CUDA_ON_CPU_HOOK __tsan_vptr_update(void **, void *) {}
CUDA_ON_CPU_HOOK __tsan_vptr_read(void **) {}

// Atomics of C++ itself, in kernels and in the headers of others: calls in place of instructions.
#define CUDA_ON_CPU_ATOMIC_HOOK(NAME, T, CHANGE)                                               \
    extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"), used)) T      \
    __tsan_atomic##NAME(volatile T *at, T value, int) {                                        \
        cuda_on_cpu::touch_atomically(const_cast<const T *>(at), sizeof(T),                    \
                                      __builtin_return_address(0));                            \
        return CHANGE(at, value, __ATOMIC_SEQ_CST);                                            \
    }
#define CUDA_ON_CPU_EXCHANGE_HOOK(NAME, T, IS_WEAK)                                            \
    extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"), used)) int    \
    __tsan_atomic##NAME(volatile T *at, T *expected, T value, int, int) {                      \
        cuda_on_cpu::touch_atomically(const_cast<const T *>(at), sizeof(T),                    \
                                      __builtin_return_address(0));                            \
        return __atomic_compare_exchange_n(at, expected, value, IS_WEAK, __ATOMIC_SEQ_CST,     \
                                           __ATOMIC_SEQ_CST);                                  \
    }
#define CUDA_ON_CPU_ATOMIC_HOOKS(BITS, T)                                                      \
    extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"), used)) T      \
    __tsan_atomic##BITS##_load(const volatile T *at, int) {                                    \
        cuda_on_cpu::touch_atomically(const_cast<const T *>(at), sizeof(T),                    \
                                      __builtin_return_address(0));                            \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                          \
    }                                                                                          \
    CUDA_ON_CPU_HOOK __tsan_atomic##BITS##_store(volatile T *at, T value, int) {               \
        cuda_on_cpu::touch_atomically(const_cast<const T *>(at), sizeof(T),                    \
                                      __builtin_return_address(0));                            \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                         \
    }                                                                                          \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_exchange, T, __atomic_exchange_n)                           \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_add, T, __atomic_fetch_add)                           \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_sub, T, __atomic_fetch_sub)                           \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_and, T, __atomic_fetch_and)                           \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_or, T, __atomic_fetch_or)                             \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_xor, T, __atomic_fetch_xor)                           \
    CUDA_ON_CPU_ATOMIC_HOOK(BITS##_fetch_nand, T, __atomic_fetch_nand)                         \
    CUDA_ON_CPU_EXCHANGE_HOOK(BITS##_compare_exchange_strong, T, false)                        \
    CUDA_ON_CPU_EXCHANGE_HOOK(BITS##_compare_exchange_weak, T, true)
CUDA_ON_CPU_ATOMIC_HOOKS(8, unsigned char)
CUDA_ON_CPU_ATOMIC_HOOKS(16, unsigned short)
CUDA_ON_CPU_ATOMIC_HOOKS(32, unsigned)
CUDA_ON_CPU_ATOMIC_HOOKS(64, unsigned long)
CUDA_ON_CPU_HOOK __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUDA_ON_CPU_HOOK __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

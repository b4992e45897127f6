// memcpy and its like, with CUDA_ON_CPU_CHECK: the linker has kernels and host functions call these
// (--wrap), since the compiler looks at no access that the C library makes.
#pragma once

extern "C" void *__real_memcpy(void *, const void *, size_t);

namespace cuda_on_cpu {
constexpr size_t PIECE_BYTES = 16; // what is doubtful is compared by so many

CUDA_ON_CPU_UNSEEN inline size_t piece_bytes(size_t bytes, size_t done) {
    return bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
}
CUDA_ON_CPU_UNSEEN inline void touch_read(const void *from, size_t bytes, void *where) {
    auto *at = static_cast<const char *>(from);
    if (!block.running) return touch(at, bytes, false, false, where);
    for (size_t i = 0; i < bytes; i += PIECE_BYTES)
        touch(at + i, piece_bytes(bytes, i), false, false, where);
}
// `from`: what is written; null: `value` everywhere. What stays as it is counts as not written:
// several threads may write the same.
CUDA_ON_CPU_UNSEEN inline void touch_written(void *to, const void *from, int value, size_t bytes,
                                             void *where) {
    auto *at = static_cast<const char *>(to);
    auto *next = static_cast<const char *>(from);
    if (!block.running) return touch(at, bytes, true, false, where);
    for (size_t i = 0; i < bytes; i += PIECE_BYTES) {
        size_t size = piece_bytes(bytes, i), same = 0;
        const Range *array = array_with(at + i, size);
        bool is_shared = array != nullptr && array->is_shared;
        while (is_shared && same < size && at[i + same] == (next ? next[i + same] : char(value)))
            ++same;
        if (same < size) touch(at + i, size, true, false, where);
    }
}
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_COPY_HOOK                                                                  \
    extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"), used)) void *
CUDA_ON_CPU_COPY_HOOK __wrap_memcpy(void *to, const void *from, size_t bytes) {
    cuda_on_cpu::touch_read(from, bytes, __builtin_return_address(0));
    cuda_on_cpu::touch_written(to, from, 0, bytes, __builtin_return_address(0));
    return __real_memcpy(to, from, bytes);
}
CUDA_ON_CPU_COPY_HOOK __wrap_memmove(void *to, const void *from, size_t bytes) {
    cuda_on_cpu::touch_read(from, bytes, __builtin_return_address(0));
    cuda_on_cpu::touch_written(to, from, 0, bytes, __builtin_return_address(0));
    return __real_memmove(to, from, bytes);
}
CUDA_ON_CPU_COPY_HOOK __wrap_memset(void *at, int value, size_t bytes) {
    cuda_on_cpu::touch_written(at, nullptr, value, bytes, __builtin_return_address(0));
    return __real_memset(at, value, bytes);
}

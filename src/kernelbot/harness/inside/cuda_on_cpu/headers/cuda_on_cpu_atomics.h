// Atomics: a thread runs until it waits, so each is a plain read and write.
#pragma once
#define CUDA_ON_CPU_ATOMIC __attribute__((noinline, no_sanitize("thread")))

namespace cuda_on_cpu {
template <class T, class Change>
inline __attribute__((always_inline, no_sanitize("thread"))) T change(T *at, Change next,
                                                                      void *where) {
    touch_atomically(at, sizeof(T), where);
    T old = *at;
    *at = next(old);
    return old;
}
template <class T> using Same = std::type_identity_t<T>; // converted to the first argument's type
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_ATOMICS(NAME, NEXT)                                                        \
    template <class T> CUDA_ON_CPU_ATOMIC T NAME(T *at, cuda_on_cpu::Same<T> v) {              \
        return cuda_on_cpu::change(                                                            \
            at, [v](T old) __attribute__((no_sanitize("thread"))) { return T(NEXT); },         \
            CUDA_ON_CPU_HERE);                                                                 \
    }                                                                                          \
    template <class T> T NAME##_block(T *at, cuda_on_cpu::Same<T> v) { return NAME(at, v); }   \
    template <class T> T NAME##_system(T *at, cuda_on_cpu::Same<T> v) { return NAME(at, v); }
CUDA_ON_CPU_ATOMICS(atomicAdd, old + v)
CUDA_ON_CPU_ATOMICS(atomicSub, old - v)
CUDA_ON_CPU_ATOMICS(atomicExch, v)
CUDA_ON_CPU_ATOMICS(atomicMin, v < old ? v : old)
CUDA_ON_CPU_ATOMICS(atomicMax, old < v ? v : old)
CUDA_ON_CPU_ATOMICS(atomicAnd, old &v)
CUDA_ON_CPU_ATOMICS(atomicOr, old | v)
CUDA_ON_CPU_ATOMICS(atomicXor, old ^ v)
CUDA_ON_CPU_ATOMICS(atomicInc, old >= v ? 0 : old + 1)
CUDA_ON_CPU_ATOMICS(atomicDec, old == 0 || old > v ? v : old - 1)

template <class T>
CUDA_ON_CPU_ATOMIC T atomicCAS(T *at, cuda_on_cpu::Same<T> expected, cuda_on_cpu::Same<T> v) {
    cuda_on_cpu::touch_atomically(at, sizeof(T), CUDA_ON_CPU_HERE);
    T old = *at;
    if (old == expected) *at = v;
    return old;
}

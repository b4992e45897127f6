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

// For which types there is one: what CUDA refuses isn't computed here.
template <class T, class... Types> constexpr bool IS_ANY = (std::is_same_v<T, Types> || ...);
#ifdef CUDA_ON_CPU_HIP
template <class> constexpr bool HAS_SUM = true;
template <class> constexpr bool HAS_DIFFERENCE = true;
template <class> constexpr bool HAS_EXCHANGE = true;
template <class> constexpr bool HAS_ORDER = true;
template <class> constexpr bool HAS_BITS = true;
template <class> constexpr bool HAS_WRAP = true;
template <class> constexpr bool HAS_COMPARISON = true;
#else
template <class T> constexpr bool HAS_DIFFERENCE = IS_ANY<T, int, unsigned>;
template <class T> constexpr bool HAS_BITS = IS_ANY<T, int, unsigned, unsigned long long>;
template <class T> constexpr bool HAS_ORDER = HAS_BITS<T> || IS_ANY<T, long long>;
template <class T> constexpr bool HAS_EXCHANGE = HAS_BITS<T> || IS_ANY<T, float>;
template <class T>
constexpr bool HAS_SUM = HAS_EXCHANGE<T> || IS_ANY<T, double> || std::is_class_v<T>; // __half, ...
template <class T> constexpr bool HAS_WRAP = IS_ANY<T, unsigned>;
template <class T> constexpr bool HAS_COMPARISON = HAS_BITS<T> || IS_ANY<T, unsigned short>;
#endif
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_ATOMIC_OF(NAME, HAS, KIND)                                                 \
    template <class T> requires cuda_on_cpu::HAS<T> KIND T NAME(T *at, cuda_on_cpu::Same<T> v)
#define CUDA_ON_CPU_ATOMICS(NAME, HAS, NEXT)                                                   \
    CUDA_ON_CPU_ATOMIC_OF(NAME, HAS, CUDA_ON_CPU_ATOMIC) {                                     \
        return cuda_on_cpu::change(                                                            \
            at, [v](T old) __attribute__((no_sanitize("thread"))) { return T(NEXT); },         \
            CUDA_ON_CPU_HERE);                                                                 \
    }                                                                                          \
    CUDA_ON_CPU_ATOMIC_OF(NAME##_block, HAS, ) { return NAME(at, v); }                         \
    CUDA_ON_CPU_ATOMIC_OF(NAME##_system, HAS, ) { return NAME(at, v); }
CUDA_ON_CPU_ATOMICS(atomicAdd, HAS_SUM, old + v)
CUDA_ON_CPU_ATOMICS(atomicSub, HAS_DIFFERENCE, old - v)
CUDA_ON_CPU_ATOMICS(atomicExch, HAS_EXCHANGE, v)
CUDA_ON_CPU_ATOMICS(atomicMin, HAS_ORDER, v < old ? v : old)
CUDA_ON_CPU_ATOMICS(atomicMax, HAS_ORDER, old < v ? v : old)
CUDA_ON_CPU_ATOMICS(atomicAnd, HAS_BITS, old &v)
CUDA_ON_CPU_ATOMICS(atomicOr, HAS_BITS, old | v)
CUDA_ON_CPU_ATOMICS(atomicXor, HAS_BITS, old ^ v)
CUDA_ON_CPU_ATOMICS(atomicInc, HAS_WRAP, old >= v ? 0 : old + 1)
CUDA_ON_CPU_ATOMICS(atomicDec, HAS_WRAP, old == 0 || old > v ? v : old - 1)

template <class T>
    requires cuda_on_cpu::HAS_COMPARISON<T>
CUDA_ON_CPU_ATOMIC T atomicCAS(T *at, cuda_on_cpu::Same<T> expected, cuda_on_cpu::Same<T> v) {
    cuda_on_cpu::touch_atomically(at, sizeof(T), CUDA_ON_CPU_HERE);
    T old = *at;
    if (old == expected) *at = v;
    return old;
}
#ifndef CUDA_ON_CPU_HIP // each element by itself
#define CUDA_ON_CPU_ATOMIC_SUM(T, ...)                                                         \
    CUDA_ON_CPU_ATOMIC inline T atomicAdd(T *at, T v) {                                        \
        return cuda_on_cpu::change(                                                            \
            at, [v](T old) __attribute__((no_sanitize("thread"))) { return T{__VA_ARGS__}; },  \
            CUDA_ON_CPU_HERE);                                                                 \
    }
CUDA_ON_CPU_ATOMIC_SUM(float2, old.x + v.x, old.y + v.y)
CUDA_ON_CPU_ATOMIC_SUM(float4, old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w)
#endif

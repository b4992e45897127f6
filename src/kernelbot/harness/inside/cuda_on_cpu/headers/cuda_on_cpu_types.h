// Vector types with the alignment that they have on a GPU, and dim3.
#pragma once

#ifdef CUDA_ON_CPU_HIP // HIP's have constructors, one of which gives all members the same value
#define CUDA_ON_CPU_MADE(NAME, T, ...)                                                         \
    NAME() = default;                                                                          \
    constexpr explicit NAME(T all) : NAME(NAME{__VA_ARGS__}) {}
#define CUDA_ON_CPU_MADE2(NAME, T)                                                             \
    constexpr NAME(T x, T y) : x(x), y(y) {}                                                   \
    CUDA_ON_CPU_MADE(NAME, T, all, all)
#define CUDA_ON_CPU_MADE3(NAME, T)                                                             \
    constexpr NAME(T x, T y, T z) : x(x), y(y), z(z) {}                                        \
    CUDA_ON_CPU_MADE(NAME, T, all, all, all)
#define CUDA_ON_CPU_MADE4(NAME, T)                                                             \
    constexpr NAME(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}                             \
    CUDA_ON_CPU_MADE(NAME, T, all, all, all, all)
#else
#define CUDA_ON_CPU_MADE2(NAME, T)
#define CUDA_ON_CPU_MADE3(NAME, T)
#define CUDA_ON_CPU_MADE4(NAME, T)
#endif

#define CUDA_ON_CPU_VECTORS(T, NAME)                                                           \
    struct NAME##1 { T x; };                                                                   \
    struct alignas(2 * sizeof(T)) NAME##2 { T x, y; CUDA_ON_CPU_MADE2(NAME##2, T) };           \
    struct NAME##3 { T x, y, z; CUDA_ON_CPU_MADE3(NAME##3, T) };                               \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) NAME##4 {                          \
        T x, y, z, w;                                                                          \
        CUDA_ON_CPU_MADE4(NAME##4, T)                                                          \
    };                                                                                         \
    constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                                      \
    constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                              \
    constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                      \
    constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CUDA_ON_CPU_VECTORS(signed char, char)
CUDA_ON_CPU_VECTORS(unsigned char, uchar)
CUDA_ON_CPU_VECTORS(short, short)
CUDA_ON_CPU_VECTORS(unsigned short, ushort)
CUDA_ON_CPU_VECTORS(int, int)
CUDA_ON_CPU_VECTORS(unsigned, uint)
CUDA_ON_CPU_VECTORS(long, long)
CUDA_ON_CPU_VECTORS(unsigned long, ulong)
CUDA_ON_CPU_VECTORS(long long, longlong)
CUDA_ON_CPU_VECTORS(unsigned long long, ulonglong)
CUDA_ON_CPU_VECTORS(float, float)
CUDA_ON_CPU_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 from) : x(from.x), y(from.y), z(from.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

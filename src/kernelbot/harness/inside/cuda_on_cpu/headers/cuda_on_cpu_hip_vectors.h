// Arithmetic of HIP's vector types, member by member, and further names of its types.
#pragma once

#define CUDA_ON_CPU_EACH2(OP) a.x OP b.x, a.y OP b.y
#define CUDA_ON_CPU_EACH3(OP) CUDA_ON_CPU_EACH2(OP), a.z OP b.z
#define CUDA_ON_CPU_EACH4(OP) CUDA_ON_CPU_EACH3(OP), a.w OP b.w
#define CUDA_ON_CPU_VECTOR_OPERATOR(NAME, T, EACH, OP)                                         \
    constexpr NAME operator OP(NAME a, NAME b) {                                               \
        return NAME(EACH(OP));                                                                 \
    }                                                                                          \
    constexpr NAME operator OP(NAME a, T b) { return a OP NAME(b); }                           \
    constexpr NAME operator OP(T a, NAME b) { return NAME(a) OP b; }                           \
    constexpr NAME &operator OP##=(NAME &a, NAME b) { return a = a OP b; }                     \
    constexpr NAME &operator OP##=(NAME &a, T b) { return a = a OP b; }
#define CUDA_ON_CPU_VECTOR_OPERATORS(NAME, T, EACH)                                            \
    CUDA_ON_CPU_VECTOR_OPERATOR(NAME, T, EACH, +)                                              \
    CUDA_ON_CPU_VECTOR_OPERATOR(NAME, T, EACH, -)                                              \
    CUDA_ON_CPU_VECTOR_OPERATOR(NAME, T, EACH, *)                                              \
    CUDA_ON_CPU_VECTOR_OPERATOR(NAME, T, EACH, /)                                              \
    constexpr NAME operator-(NAME a) { return NAME(T(0)) - a; }
#define CUDA_ON_CPU_VECTOR_ARITHMETIC(NAME, T)                                                 \
    CUDA_ON_CPU_VECTOR_OPERATORS(NAME##2, T, CUDA_ON_CPU_EACH2)                                \
    CUDA_ON_CPU_VECTOR_OPERATORS(NAME##3, T, CUDA_ON_CPU_EACH3)                                \
    CUDA_ON_CPU_VECTOR_OPERATORS(NAME##4, T, CUDA_ON_CPU_EACH4)
CUDA_ON_CPU_VECTOR_ARITHMETIC(int, int)
CUDA_ON_CPU_VECTOR_ARITHMETIC(uint, unsigned)
CUDA_ON_CPU_VECTOR_ARITHMETIC(float, float)
CUDA_ON_CPU_VECTOR_ARITHMETIC(double, double)

using __hip_bfloat16 = __nv_bfloat16;
using __hip_bfloat162 = __nv_bfloat162;
using __hip_bfloat16_raw = __nv_bfloat16_raw;
using hip_bfloat16 = __nv_bfloat16;

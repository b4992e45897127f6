// HIP's exchanges without a mask, between the lanes of a warp that are in step.
#pragma once

namespace cuda_on_cpu {
template <class T> T shuffle_in_step(T value, unsigned source, void *where) {
    return from_bits<T>(exchange_in_step(Exchange::SHUFFLE, to_bits(value), source, where));
}
} // namespace cuda_on_cpu

inline unsigned __lane_id() { return cuda_on_cpu::lane(); }

template <class T> CUDA_ON_CPU_BARRIER T __shfl(T value, int source, int width = warpSize) {
    return cuda_on_cpu::shuffle_in_step(value, cuda_on_cpu::lane_at(source, width),
                                        CUDA_ON_CPU_HERE);
}
template <class T> CUDA_ON_CPU_BARRIER T __shfl_up(T value, unsigned delta, int width = warpSize) {
    return cuda_on_cpu::shuffle_in_step(value, cuda_on_cpu::lane_up(delta, width),
                                        CUDA_ON_CPU_HERE);
}
template <class T>
CUDA_ON_CPU_BARRIER T __shfl_down(T value, unsigned delta, int width = warpSize) {
    return cuda_on_cpu::shuffle_in_step(value, cuda_on_cpu::lane_down(delta, width),
                                        CUDA_ON_CPU_HERE);
}
template <class T> CUDA_ON_CPU_BARRIER T __shfl_xor(T value, int mask, int width = warpSize) {
    return cuda_on_cpu::shuffle_in_step(value, cuda_on_cpu::lane_xor(mask, width),
                                        CUDA_ON_CPU_HERE);
}
CUDA_ON_CPU_BARRIER unsigned long long __ballot(int predicate) {
    return cuda_on_cpu::vote_in_step(predicate != 0, CUDA_ON_CPU_HERE);
}
CUDA_ON_CPU_BARRIER unsigned long long __activemask() {
    return cuda_on_cpu::vote_in_step(true, CUDA_ON_CPU_HERE);
}
CUDA_ON_CPU_BARRIER int __any(int predicate) {
    return cuda_on_cpu::vote_in_step(predicate != 0, CUDA_ON_CPU_HERE) != 0;
}
CUDA_ON_CPU_BARRIER int __all(int predicate) {
    return cuda_on_cpu::vote_in_step(predicate == 0, CUDA_ON_CPU_HERE) == 0;
}
template <class T> CUDA_ON_CPU_BARRIER unsigned long long __match_any(T value) {
    using namespace cuda_on_cpu;
    return exchange_in_step(Exchange::MATCH, to_bits(value), 0, CUDA_ON_CPU_HERE);
}
template <class T> CUDA_ON_CPU_BARRIER unsigned long long __match_all(T value, int *all) {
    using namespace cuda_on_cpu;
    auto equal = exchange_in_step(Exchange::MATCH_ALL, to_bits(value), 0, CUDA_ON_CPU_HERE);
    *all = equal != 0;
    return equal;
}

// Barriers, shuffles and votes.
#pragma once

namespace cuda_on_cpu {
constexpr Lanes ALL_LANES = WARP == 64 ? ~0ull : 0xffffffffull;
#define CUDA_ON_CPU_BARRIER __attribute__((noinline)) inline
#ifdef CUDA_ON_CPU_HIP
using Mask = Lanes; // what votes give
// HIP refuses masks of other widths, since the upper lanes would be left out.
struct MaskOf64Bits {
    template <class M> constexpr MaskOf64Bits(M lanes) requires(sizeof(M) == 8) : lanes(lanes) {}
    template <class M> constexpr MaskOf64Bits(M) requires(sizeof(M) != 8) = delete;
    constexpr operator Lanes() const { return lanes; }
    Lanes lanes;
};
using GivenMask = MaskOf64Bits;
#else
using Mask = unsigned;
using GivenMask = Lanes;
#endif

inline void wait_for_block(Exchange kind, unsigned vote, void *where) {
    block.current->exchange = kind;
    block.current->vote = vote;
    block.current->where = where;
    wait(State::AT_BLOCK_BARRIER);
}

inline uint64_t wait_for_warp(Exchange kind, Lanes lanes, uint64_t deposit, unsigned source,
                              Fold fold, void *where) {
    Thread &self = *block.current;
    self.exchange = kind;
    self.is_in_step = false;
    self.lanes = lanes;
    self.deposit = deposit;
    self.source = source;
    self.fold = fold;
    self.where = where;
    if (!(lanes >> lane() & 1))
        stop("a thread takes part in an exchange whose mask lacks it. Name it in the mask.", where);
    wait(State::AT_WARP_BARRIER);
    return self.result;
}

// Between the lanes that wait at the same place: see `release_in_step`.
inline uint64_t exchange_in_step(Exchange kind, uint64_t deposit, unsigned source, void *where) {
    Thread &self = *block.current;
    self.exchange = kind;
    self.is_in_step = true;
    self.lanes = 0;
    self.deposit = deposit;
    self.source = source;
    self.where = where;
    wait(State::AT_WARP_BARRIER);
    return self.result;
}
inline Lanes vote_in_step(bool mine, void *where) {
    return exchange_in_step(Exchange::VOTE, mine, 0, where);
}

template <class T> uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle exchanges at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T> T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
inline unsigned lane_at(int source, int width) {
    return (lane() & ~(width - 1u)) | (source & (width - 1u));
}
inline unsigned lane_up(unsigned delta, int width) {
    unsigned own = lane();
    return (own & (width - 1u)) >= delta ? own - delta : own;
}
inline unsigned lane_down(unsigned delta, int width) {
    unsigned own = lane();
    return (own & (width - 1u)) + delta < unsigned(width) ? own + delta : own;
}
inline unsigned lane_xor(int mask, int width) {
    unsigned own = lane(), other = own ^ mask;
    return other / unsigned(width) <= own / unsigned(width) ? other : own;
}
template <class T> T shuffle(Lanes lanes, T value, unsigned source, void *where) {
    auto bits = wait_for_warp(Exchange::SHUFFLE, lanes, to_bits(value), source, nullptr, where);
    return from_bits<T>(bits);
}
inline Lanes vote(Lanes lanes, bool mine, void *where) {
    return wait_for_warp(Exchange::VOTE, lanes, mine, 0, nullptr, where);
}
template <class T, class Op> T fold(Lanes lanes, T value, Op, void *where) {
    Fold both = [](uint64_t a, uint64_t b) {
        return to_bits(static_cast<T>(Op()(from_bits<T>(a), from_bits<T>(b))));
    };
    return from_bits<T>(wait_for_warp(Exchange::FOLD, lanes, to_bits(value), 0, both, where));
}

inline Lanes living_lanes() {
    Lanes found = 0;
    unsigned first = rank() - lane();
    for (unsigned i = 0; i < WARP && first + i < block.count; ++i)
        if (block.threads[first + i].state != State::DONE) found |= 1ull << i;
    return found;
}

struct Add { template <class T> T operator()(T a, T b) const { return a + b; } };
struct Smallest { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct Largest { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct And { template <class T> T operator()(T a, T b) const { return a & b; } };
struct Or { template <class T> T operator()(T a, T b) const { return a | b; } };
struct Xor { template <class T> T operator()(T a, T b) const { return a ^ b; } };
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_HERE __builtin_extract_return_addr(__builtin_return_address(0))

CUDA_ON_CPU_BARRIER void __syncthreads() {
    cuda_on_cpu::wait_for_block(cuda_on_cpu::Exchange::NOTHING, 0, CUDA_ON_CPU_HERE);
}
CUDA_ON_CPU_BARRIER int __syncthreads_count(int predicate) {
    cuda_on_cpu::wait_for_block(cuda_on_cpu::Exchange::COUNT, predicate != 0, CUDA_ON_CPU_HERE);
    return static_cast<int>(cuda_on_cpu::block.votes);
}
CUDA_ON_CPU_BARRIER int __syncthreads_or(int predicate) {
    cuda_on_cpu::wait_for_block(cuda_on_cpu::Exchange::ANY, predicate != 0, CUDA_ON_CPU_HERE);
    return cuda_on_cpu::block.votes != 0;
}
CUDA_ON_CPU_BARRIER int __syncthreads_and(int predicate) {
    cuda_on_cpu::wait_for_block(cuda_on_cpu::Exchange::ALL, predicate == 0, CUDA_ON_CPU_HERE);
    return cuda_on_cpu::block.votes == 0;
}
CUDA_ON_CPU_BARRIER void __syncwarp(cuda_on_cpu::GivenMask lanes = cuda_on_cpu::ALL_LANES) {
    using namespace cuda_on_cpu;
    wait_for_warp(Exchange::NOTHING, lanes, 0, 0, nullptr, CUDA_ON_CPU_HERE);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}
#ifndef CUDA_ON_CPU_HIP
CUDA_ON_CPU_BARRIER unsigned __activemask() {
    return static_cast<unsigned>(cuda_on_cpu::vote_in_step(true, CUDA_ON_CPU_HERE));
}
#endif

template <class T>
CUDA_ON_CPU_BARRIER T __shfl_sync(cuda_on_cpu::GivenMask lanes, T value, int source,
                                  int width = warpSize) {
    return cuda_on_cpu::shuffle(lanes, value, cuda_on_cpu::lane_at(source, width),
                                CUDA_ON_CPU_HERE);
}
template <class T>
CUDA_ON_CPU_BARRIER T __shfl_up_sync(cuda_on_cpu::GivenMask lanes, T value, unsigned delta,
                                     int width = warpSize) {
    return cuda_on_cpu::shuffle(lanes, value, cuda_on_cpu::lane_up(delta, width), CUDA_ON_CPU_HERE);
}
template <class T>
CUDA_ON_CPU_BARRIER T __shfl_down_sync(cuda_on_cpu::GivenMask lanes, T value, unsigned delta,
                                       int width = warpSize) {
    return cuda_on_cpu::shuffle(lanes, value, cuda_on_cpu::lane_down(delta, width),
                                CUDA_ON_CPU_HERE);
}
template <class T>
CUDA_ON_CPU_BARRIER T __shfl_xor_sync(cuda_on_cpu::GivenMask lanes, T value, int mask,
                                      int width = warpSize) {
    return cuda_on_cpu::shuffle(lanes, value, cuda_on_cpu::lane_xor(mask, width), CUDA_ON_CPU_HERE);
}
CUDA_ON_CPU_BARRIER cuda_on_cpu::Mask __ballot_sync(cuda_on_cpu::GivenMask lanes, int predicate) {
    return static_cast<cuda_on_cpu::Mask>(
        cuda_on_cpu::vote(lanes, predicate != 0, CUDA_ON_CPU_HERE));
}
CUDA_ON_CPU_BARRIER int __any_sync(cuda_on_cpu::GivenMask lanes, int predicate) {
    return cuda_on_cpu::vote(lanes, predicate != 0, CUDA_ON_CPU_HERE) != 0;
}
CUDA_ON_CPU_BARRIER int __all_sync(cuda_on_cpu::GivenMask lanes, int predicate) {
    return cuda_on_cpu::vote(lanes, predicate == 0, CUDA_ON_CPU_HERE) == 0;
}
template <class T>
CUDA_ON_CPU_BARRIER cuda_on_cpu::Mask __match_any_sync(cuda_on_cpu::GivenMask lanes, T value) {
    using namespace cuda_on_cpu;
    return static_cast<Mask>(
        wait_for_warp(Exchange::MATCH, lanes, to_bits(value), 0, nullptr, CUDA_ON_CPU_HERE));
}
template <class T>
CUDA_ON_CPU_BARRIER cuda_on_cpu::Mask __match_all_sync(cuda_on_cpu::GivenMask lanes, T value, int *all) {
    using namespace cuda_on_cpu;
    auto equal = wait_for_warp(Exchange::MATCH_ALL, lanes, to_bits(value), 0, nullptr,
                               CUDA_ON_CPU_HERE);
    *all = equal != 0;
    return static_cast<Mask>(equal);
}
#define CUDA_ON_CPU_REDUCE(NAME, OP, T)                                                        \
    CUDA_ON_CPU_BARRIER T NAME(cuda_on_cpu::GivenMask lanes, T value) {                        \
        return cuda_on_cpu::fold(lanes, value, cuda_on_cpu::OP(), CUDA_ON_CPU_HERE);           \
    }
#ifdef CUDA_ON_CPU_HIP
#define CUDA_ON_CPU_REDUCE_NUMBERS(NAME, OP) template <class T> CUDA_ON_CPU_REDUCE(NAME, OP, T)
#define CUDA_ON_CPU_REDUCE_BITS CUDA_ON_CPU_REDUCE_NUMBERS
#else // for no other types, so that what CUDA refuses isn't computed here
#define CUDA_ON_CPU_REDUCE_NUMBERS(NAME, OP)                                                   \
    CUDA_ON_CPU_REDUCE(NAME, OP, int)                                                          \
    CUDA_ON_CPU_REDUCE(NAME, OP, unsigned)
#define CUDA_ON_CPU_REDUCE_BITS(NAME, OP) CUDA_ON_CPU_REDUCE(NAME, OP, unsigned)
#endif
CUDA_ON_CPU_REDUCE_NUMBERS(__reduce_add_sync, Add)
CUDA_ON_CPU_REDUCE_NUMBERS(__reduce_min_sync, Smallest)
CUDA_ON_CPU_REDUCE_NUMBERS(__reduce_max_sync, Largest)
CUDA_ON_CPU_REDUCE_BITS(__reduce_and_sync, And)
CUDA_ON_CPU_REDUCE_BITS(__reduce_or_sync, Or)
CUDA_ON_CPU_REDUCE_BITS(__reduce_xor_sync, Xor)

// Cooperative groups of a block, of a tile of a warp, and of the threads of a warp that are there.
#pragma once

namespace cooperative_groups {
class thread_block {
  public:
    static void sync() { __syncthreads(); }
    static void barrier_arrive() = delete;
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static unsigned thread_rank() { return cuda_on_cpu::rank(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Threads of one warp, by their lanes.
class coalesced_group {
  public:
    explicit coalesced_group(cuda_on_cpu::Lanes lanes) : lanes(lanes) {}
    unsigned size() const { return __popcll(lanes); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return __popcll(lanes & ((1ull << cuda_on_cpu::lane()) - 1));
    }
    unsigned meta_group_size() const { return 1; }
    unsigned meta_group_rank() const { return 0; }
    void sync() const { __syncwarp(lanes); }
    template <class T> T shfl(T value, int from) const { return take(value, from); }
    template <class T> T shfl_down(T value, unsigned delta) const {
        unsigned own = thread_rank();
        return take(value, own + delta < size() ? own + delta : own);
    }
    template <class T> T shfl_up(T value, unsigned delta) const {
        unsigned own = thread_rank();
        return take(value, own >= delta ? own - delta : own);
    }
    template <class T> T shfl_xor(T value, unsigned mask) const {
        unsigned other = thread_rank() ^ mask;
        return take(value, other < size() ? other : thread_rank());
    }
    // By their places in the group.
    template <class T> cuda_on_cpu::Mask match_any(T value) const {
        return places(cuda_on_cpu::wait_for_warp(cuda_on_cpu::Exchange::MATCH, lanes,
                                                 cuda_on_cpu::to_bits(value), 0, nullptr,
                                                 CUDA_ON_CPU_HERE));
    }
    template <class T> cuda_on_cpu::Mask match_all(T value, int &all) const {
        auto equal = cuda_on_cpu::wait_for_warp(cuda_on_cpu::Exchange::MATCH_ALL, lanes,
                                                cuda_on_cpu::to_bits(value), 0, nullptr,
                                                CUDA_ON_CPU_HERE);
        all = equal != 0;
        return places(equal);
    }
    int any(int predicate) const { return __any_sync(lanes, predicate); }
    int all(int predicate) const { return __all_sync(lanes, predicate); }
    cuda_on_cpu::Mask ballot(int predicate) const {
        return places(cuda_on_cpu::vote(lanes, predicate != 0, CUDA_ON_CPU_HERE));
    }
    template <class T> coalesced_group alike(T label) const {
        return coalesced_group(cuda_on_cpu::wait_for_warp(cuda_on_cpu::Exchange::MATCH, lanes,
                                                          cuda_on_cpu::to_bits(label), 0, nullptr,
                                                          CUDA_ON_CPU_HERE));
    }
    template <class T, class Op> T fold(T value, Op op) const {
        return cuda_on_cpu::fold(lanes, value, op, CUDA_ON_CPU_HERE);
    }

  protected:
    // Larger values in several exchanges.
    template <class T> T take(T value, unsigned from) const {
        unsigned source = nth(from % size());
        if constexpr (sizeof(T) <= 8) {
            return cuda_on_cpu::shuffle(lanes, value, source, CUDA_ON_CPU_HERE);
        } else {
            static_assert(sizeof(T) <= 32, "a group exchanges at most 32 bytes");
            uint64_t words[(sizeof(T) + 7) / 8] = {};
            __builtin_memcpy(words, &value, sizeof(T));
            for (auto &word : words)
                word = cuda_on_cpu::shuffle(lanes, word, source, CUDA_ON_CPU_HERE);
            __builtin_memcpy(&value, words, sizeof(T));
            return value;
        }
    }
    cuda_on_cpu::Mask places(cuda_on_cpu::Lanes found) const {
        cuda_on_cpu::Mask made = 0;
        for (unsigned i = 0; i < size(); ++i)
            made |= static_cast<cuda_on_cpu::Mask>(found >> nth(i) & 1) << i;
        return made;
    }
    unsigned nth(unsigned wanted) const {
        for (unsigned i = 0; i < cuda_on_cpu::WARP; ++i)
            if (lanes >> i & 1 && wanted-- == 0) return i;
        return 0;
    }
    cuda_on_cpu::Lanes lanes;
};
// Which threads are together is never promised: here those that wait at the same place.
CUDA_ON_CPU_BARRIER coalesced_group coalesced_threads() {
    return coalesced_group(cuda_on_cpu::vote_in_step(true, CUDA_ON_CPU_HERE));
}

template <unsigned SIZE, class Parent = void> class thread_block_tile;
template <unsigned SIZE> class thread_block_tile<SIZE, void> : public coalesced_group {
    static_assert(SIZE && (SIZE & (SIZE - 1)) == 0 && SIZE <= cuda_on_cpu::WARP,
                  "a tile has a power of two of threads, at most a warp");

  public:
    thread_block_tile(unsigned rank, unsigned tiles)
        : coalesced_group(own_lanes()), rank(rank), tiles(tiles) {}
    static constexpr unsigned size() { return SIZE; }
    static constexpr unsigned num_threads() { return SIZE; }
    static unsigned thread_rank() { return cuda_on_cpu::lane() % SIZE; }
    unsigned meta_group_size() const { return tiles; }
    unsigned meta_group_rank() const { return rank; }

  private:
    unsigned rank, tiles; // among those of the group that was divided
    static cuda_on_cpu::Lanes own_lanes() {
        cuda_on_cpu::Lanes all = SIZE == 64 ? ~0ull : (1ull << SIZE % 64) - 1;
        return all << cuda_on_cpu::lane() / SIZE * SIZE;
    }
};
template <unsigned SIZE, class Parent> class thread_block_tile : public thread_block_tile<SIZE, void> {
    using thread_block_tile<SIZE, void>::thread_block_tile;
};
template <unsigned SIZE>
thread_block_tile<SIZE, thread_block> tiled_partition(const thread_block &parent) {
    return {parent.thread_rank() / SIZE, (parent.size() + SIZE - 1) / SIZE};
}
template <unsigned SIZE, unsigned OF, class Parent>
thread_block_tile<SIZE, thread_block_tile<OF, Parent>>
tiled_partition(const thread_block_tile<OF, Parent> &parent) {
    static_assert(SIZE <= OF, "a tile is at most as large as the tile that is divided");
    return {parent.thread_rank() / SIZE, OF / SIZE};
}
template <class Group> void sync(const Group &group) { group.sync(); }
// Those of a group that give the same: by a label, or as true and false.
template <class Group, class Label> coalesced_group labeled_partition(const Group &group, Label label) {
    return group.alike(label);
}
template <class Group> coalesced_group binary_partition(const Group &group, bool side) {
    return group.alike(static_cast<int>(side));
}

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };
template <class Group, class T, class Op> T reduce(const Group &group, T value, Op op) {
    return group.fold(value, op);
}
// The sums of all values before the own one, and with it. `first`: what stands before all.
template <class Group, class T, class Op>
T scan_of(const Group &group, T value, Op op, std::optional<T> first, bool with_own) {
    unsigned own = group.thread_rank();
    std::optional<T> sum = first;
    T found = first ? *first : T();
    for (unsigned i = 0; i < group.size(); ++i) {
        T other = group.shfl(value, static_cast<int>(i));
        if (!with_own && i == own && sum) found = *sum;
        sum = sum ? static_cast<T>(op(*sum, other)) : other;
        if (with_own && i == own) found = *sum;
    }
    return found;
}
template <class Group, class T, class Op = plus<T>>
T inclusive_scan(const Group &group, T value, Op op = {}) {
    return scan_of(group, value, op, std::optional<T>(), true);
}
template <class Group, class T, class Op = plus<T>>
T exclusive_scan(const Group &group, T value, Op op = {}) {
    return scan_of(group, value, op, std::optional<T>(), false);
}
} // namespace cooperative_groups

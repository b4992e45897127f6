// Of CUB what moves a block's values among its threads: sorting, exchanges, histograms.
#pragma once

namespace cub {
// A key's bits in the order of unsigned numbers, as a radix sort has them.
template <class Key> auto ordered_bits(Key key) {
    using Bits = std::conditional_t<
        sizeof(Key) == 1, uint8_t,
        std::conditional_t<sizeof(Key) == 2, uint16_t,
                           std::conditional_t<sizeof(Key) == 4, uint32_t, uint64_t>>>;
    static_assert(sizeof(Key) == sizeof(Bits), "a key has 1, 2, 4 or 8 bytes");
    constexpr Bits TOP = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    Bits bits;
    __builtin_memcpy(&bits, &key, sizeof bits);
    if constexpr (std::is_integral_v<Key>) {
        return std::is_signed_v<Key> ? Bits(bits ^ TOP) : bits;
    } else {
        if (bits == TOP) bits = 0; // both zeros are one key
        return Bits(bits & TOP ? ~bits : bits | TOP);
    }
}

template <class Key, int X, int ITEMS, class Value = NullType, int RADIX_BITS = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int Y = 1, int Z = 1>
class BlockRadixSort
    : public WithStorage<Room<std::conditional_t<(sizeof(Value) > sizeof(Key)), Value, Key>,
                              X * Y * Z * ITEMS>> {
    using Base = WithStorage<
        Room<std::conditional_t<(sizeof(Value) > sizeof(Key)), Value, Key>, X * Y * Z * ITEMS>>;
    static constexpr int THREADS = X * Y * Z, COUNT = THREADS * ITEMS;

  public:
    using Base::Base;
    void Sort(Key (&keys)[ITEMS], int begin = 0, int end = 8 * sizeof(Key)) {
        work(keys, begin, end, false, false);
    }
    void SortDescending(Key (&keys)[ITEMS], int begin = 0, int end = 8 * sizeof(Key)) {
        work(keys, begin, end, true, false);
    }
    void SortBlockedToStriped(Key (&keys)[ITEMS], int begin = 0, int end = 8 * sizeof(Key)) {
        work(keys, begin, end, false, true);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], int begin = 0,
                                        int end = 8 * sizeof(Key)) {
        work(keys, begin, end, true, true);
    }
    void Sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = 8 * sizeof(Key)) {
        work(keys, begin, end, false, false);
        follow(values, false);
    }
    void SortDescending(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0,
                        int end = 8 * sizeof(Key)) {
        work(keys, begin, end, true, false);
        follow(values, false);
    }
    void SortBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0,
                              int end = 8 * sizeof(Key)) {
        work(keys, begin, end, false, true);
        follow(values, true);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0,
                                        int end = 8 * sizeof(Key)) {
        work(keys, begin, end, true, true);
        follow(values, true);
    }

  private:
    template <class T> T *room() { return reinterpret_cast<T *>(this->storage.bytes); }
    // From which place each sorted one comes: all blocks', which run one after another.
    static int *order() {
        static int made[COUNT];
        return made;
    }
    static int place(int i, bool striped) {
        return striped ? i * THREADS + Base::self() : Base::self() * ITEMS + i;
    }
    void work(Key (&keys)[ITEMS], int begin, int end, bool descending, bool striped) {
        for (int i = 0; i < ITEMS; ++i) room<Key>()[place(i, false)] = keys[i];
        __syncthreads();
        if (Base::self() == 0) find_order(begin, end, descending);
        __syncthreads();
        for (int i = 0; i < ITEMS; ++i) keys[i] = room<Key>()[order()[place(i, striped)]];
    }
    void follow(Value (&values)[ITEMS], bool striped) {
        __syncthreads();
        for (int i = 0; i < ITEMS; ++i) room<Value>()[place(i, false)] = values[i];
        __syncthreads();
        for (int i = 0; i < ITEMS; ++i) values[i] = room<Value>()[order()[place(i, striped)]];
    }
    // Four bits at a time, from the lowest, so that equal keys stay in their order.
    void find_order(int begin, int end, bool descending) {
        static int next[COUNT];
        int *found = order();
        for (int i = 0; i < COUNT; ++i) found[i] = i;
        for (int bit = begin; bit < end; bit += 4) {
            unsigned mask = (1u << (end - bit < 4 ? end - bit : 4)) - 1;
            int counts[17] = {};
            auto digit = [&](int i) {
                auto bits = ordered_bits(room<Key>()[i]);
                unsigned own = static_cast<unsigned>(bits >> bit) & mask;
                return descending ? mask - own : own;
            };
            for (int i = 0; i < COUNT; ++i) ++counts[digit(i) + 1];
            for (int i = 0; i < 16; ++i) counts[i + 1] += counts[i];
            for (int i = 0; i < COUNT; ++i) next[counts[digit(found[i])]++] = found[i];
            for (int i = 0; i < COUNT; ++i) found[i] = next[i];
        }
    }
};

template <class T, int X, int ITEMS, bool = false, int Y = 1, int Z = 1>
class BlockExchange : public WithStorage<Room<T, X * Y * Z * ITEMS>> {
    using Base = WithStorage<Room<T, X * Y * Z * ITEMS>>;
    static constexpr int THREADS = X * Y * Z;

  public:
    using Base::Base;
    template <class Out> void StripedToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
        through(in, out, striped, blocked);
    }
    template <class Out> void BlockedToStriped(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
        through(in, out, blocked, striped);
    }
    template <class Out> void WarpStripedToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
        through(in, out, warp_striped, blocked);
    }
    template <class Out> void BlockedToWarpStriped(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
        through(in, out, blocked, warp_striped);
    }
    void StripedToBlocked(T (&items)[ITEMS]) { StripedToBlocked(items, items); }
    void BlockedToStriped(T (&items)[ITEMS]) { BlockedToStriped(items, items); }
    void WarpStripedToBlocked(T (&items)[ITEMS]) { WarpStripedToBlocked(items, items); }
    void BlockedToWarpStriped(T (&items)[ITEMS]) { BlockedToWarpStriped(items, items); }
    template <class Out, class Rank>
    void ScatterToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS], Rank (&ranks)[ITEMS]) {
        through(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, blocked);
    }
    template <class Out, class Rank>
    void ScatterToStriped(const T (&in)[ITEMS], Out (&out)[ITEMS], Rank (&ranks)[ITEMS]) {
        through(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, striped);
    }
    template <class Rank> void ScatterToBlocked(T (&items)[ITEMS], Rank (&ranks)[ITEMS]) {
        ScatterToBlocked(items, items, ranks);
    }
    template <class Rank> void ScatterToStriped(T (&items)[ITEMS], Rank (&ranks)[ITEMS]) {
        ScatterToStriped(items, items, ranks);
    }

  private:
    static int blocked(int i) { return Base::self() * ITEMS + i; }
    static int striped(int i) { return i * THREADS + Base::self(); }
    static int warp_striped(int i) {
        constexpr int WARP = THREADS < warpSize ? THREADS : warpSize;
        return Base::self() / WARP * WARP * ITEMS + i * WARP + Base::self() % WARP;
    }
    template <class Out, class Write, class Read>
    void through(const T (&in)[ITEMS], Out (&out)[ITEMS], Write write, Read read) {
        for (int i = 0; i < ITEMS; ++i) this->storage[write(i)] = in[i];
        __syncthreads();
        for (int i = 0; i < ITEMS; ++i) out[i] = this->storage[read(i)];
    }
};

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
template <class T, int X, int ITEMS, int BINS, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1,
          int Z = 1>
class BlockHistogram : public WithStorage<NullType> {
  public:
    using WithStorage<NullType>::WithStorage;
    template <class Counter> void InitHistogram(Counter (&bins)[BINS]) {
        for (int i = self(); i < BINS; i += X * Y * Z) bins[i] = 0;
    }
    template <class Counter> void Composite(T (&items)[ITEMS], Counter (&bins)[BINS]) {
        for (int i = 0; i < ITEMS; ++i) atomicAdd(&bins[items[i]], Counter(1));
    }
    template <class Counter> void Histogram(T (&items)[ITEMS], Counter (&bins)[BINS]) {
        InitHistogram(bins);
        __syncthreads();
        Composite(items, bins);
    }
};
} // namespace cub

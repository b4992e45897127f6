// What of CUB is for the threads of a block or a warp: written anew, with the results that are promised
// and nothing of how a GPU comes by them.
#pragma once
#include "cuda_on_cpu_functional.h"

// An author's macros of these names may stand before this file is included.
#pragma push_macro("BINS")
#undef BINS
#pragma push_macro("COUNT")
#undef COUNT
#pragma push_macro("ITEMS")
#undef ITEMS
#pragma push_macro("RADIX_BITS")
#undef RADIX_BITS
#pragma push_macro("THREADS")
#undef THREADS
#pragma push_macro("TOP")
#undef TOP
#pragma push_macro("WARP")
#undef WARP
#pragma push_macro("WAY")
#undef WAY
#pragma push_macro("WIDTH")
#undef WIDTH
#pragma push_macro("X")
#undef X
#pragma push_macro("Y")
#undef Y
#pragma push_macro("Z")
#undef Z

namespace cub {
struct Sum { template <class T> T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <class T> T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
struct Min { template <class T> T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct Difference { template <class T> T operator()(const T &a, const T &b) const { return a - b; } };
struct Equality { template <class T> bool operator()(const T &a, const T &b) const { return a == b; } };
struct Inequality { template <class T> bool operator()(const T &a, const T &b) const { return a != b; } };
template <class Key, class Value> struct KeyValuePair {
    using KeyT = Key;
    using ValueT = Value;
    Key key;
    Value value;
};
struct ArgMax {
    template <class Pair> Pair operator()(const Pair &a, const Pair &b) const {
        return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class Pair> Pair operator()(const Pair &a, const Pair &b) const {
        return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
    }
};
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};
struct NullType {};

// Room for values that nothing constructs: shared memory is never initialised.
template <class T, int COUNT> struct Room {
    alignas(T) unsigned char bytes[COUNT * sizeof(T)];
    T &operator[](int at) { return reinterpret_cast<T *>(bytes)[at]; }
};

// A temporary storage, given, or one of all blocks', which run one after another.
template <class Storage> class WithStorage {
  public:
    using TempStorage = Storage;
    WithStorage() : storage(own()) {}
    explicit WithStorage(Storage &given) : storage(given) {}

  protected:
    static Storage &own() {
        static ::cuda_on_cpu::Shared<Storage> made("CUB's own storage");
        return made.value;
    }
    static int self() { return static_cast<int>(::cuda_on_cpu::rank()); }
    Storage &storage;
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1,
          int = 0>
class BlockReduce : public WithStorage<Room<T, X * Y * Z>> {
    using Base = WithStorage<Room<T, X * Y * Z>>;

  public:
    using Base::Base;
    // The result is the first thread's.
    template <class Op> T Reduce(T value, Op op, int valid = X * Y * Z) {
        this->storage[this->self()] = value;
        __syncthreads();
        if (this->self() == 0)
            for (int i = 1; i < valid && i < X * Y * Z; ++i) value = op(value, this->storage[i]);
        return value;
    }
    template <int ITEMS, class Op> T Reduce(T (&items)[ITEMS], Op op) {
        T value = items[0];
        for (int i = 1; i < ITEMS; ++i) value = op(value, items[i]);
        return Reduce(value, op);
    }
    T Sum(T value) { return Reduce(value, ::cub::Sum()); }
    T Sum(T value, int valid) { return Reduce(value, ::cub::Sum(), valid); }
    template <int ITEMS> T Sum(T (&items)[ITEMS]) { return Reduce(items, ::cub::Sum()); }
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan : public WithStorage<Room<T, X * Y * Z>> {
    using Base = WithStorage<Room<T, X * Y * Z>>;

  public:
    using Base::Base;
    template <class Op> void InclusiveScan(T in, T &out, Op op, T &all) { all = scan(in, out, op); }
    template <class Op> void InclusiveScan(T in, T &out, Op op) { scan(in, out, op); }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op, T &all) {
        T inclusive;
        all = scan(in, inclusive, op);
        out = this->self() == 0 ? initial : op(initial, this->storage[this->self() - 1]);
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op) {
        T all;
        ExclusiveScan(in, out, initial, op, all);
    }
    template <int ITEMS, class Op>
    void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Op op, T &all) {
        T own = in[0], inclusive;
        for (int i = 1; i < ITEMS; ++i) own = op(own, in[i]);
        all = scan(own, inclusive, op);
        for (int i = 0; i < ITEMS; ++i) {
            if (i) out[i] = op(out[i - 1], in[i]);
            else out[0] = this->self() == 0 ? T(in[0]) : op(this->storage[this->self() - 1], in[0]);
        }
    }
    template <int ITEMS, class Op> void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <int ITEMS, class Op>
    void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T initial, Op op, T &all) {
        T own = in[0], inclusive;
        for (int i = 1; i < ITEMS; ++i) own = op(own, in[i]);
        all = scan(own, inclusive, op);
        T before = this->self() == 0 ? initial : op(initial, this->storage[this->self() - 1]);
        for (int i = 0; i < ITEMS; ++i) {
            T given = in[i];
            out[i] = before;
            before = op(before, given);
        }
    }
    template <int ITEMS, class Op>
    void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T initial, Op op) {
        T all;
        ExclusiveScan(in, out, initial, op, all);
    }
    template <class In, class Out> void InclusiveSum(In &&in, Out &out) {
        InclusiveScan(in, out, ::cub::Sum());
    }
    template <class In, class Out> void InclusiveSum(In &&in, Out &out, T &all) {
        InclusiveScan(in, out, ::cub::Sum(), all);
    }
    template <class In, class Out> void ExclusiveSum(In &&in, Out &out) {
        ExclusiveScan(in, out, T(), ::cub::Sum());
    }
    template <class In, class Out> void ExclusiveSum(In &&in, Out &out, T &all) {
        ExclusiveScan(in, out, T(), ::cub::Sum(), all);
    }

  private:
    // The inclusive results stand in the storage afterwards; gives the last one.
    template <class Op> T scan(T in, T &out, Op op) {
        this->storage[this->self()] = in;
        __syncthreads();
        int count = static_cast<int>(::cuda_on_cpu::block.count);
        if (this->self() == 0)
            for (int i = 1; i < count; ++i)
                this->storage[i] = op(this->storage[i - 1], this->storage[i]);
        __syncthreads();
        out = this->storage[this->self()];
        return this->storage[count - 1];
    }
};

// The values of the lanes of a part of a warp, on the stack of each of them.
template <class T, int WIDTH> struct Lanes {
    explicit Lanes(const T &own) {
        unsigned lane = ::cuda_on_cpu::lane(), first = lane / WIDTH * WIDTH;
        ::cuda_on_cpu::Lanes all = WIDTH == 64 ? ~0ull : (1ull << WIDTH % 64) - 1;
        ::cuda_on_cpu::Lanes mask = all << first & ::cuda_on_cpu::living_lanes();
        self = static_cast<int>(lane - first);
        for (int i = 0; i < WIDTH; ++i) {
            if (!(mask >> (first + i) & 1)) continue;
            const T *other = __shfl_sync(mask, &own, static_cast<int>(first) + i);
            __builtin_memcpy(&values[i], other, sizeof(T));
            count = i + 1;
        }
        __syncwarp(mask);
    }
    Room<T, WIDTH> values;
    int self, count = 0;
};

template <class T, int WIDTH = 32, int = 0> class WarpReduce {
  public:
    using TempStorage = NullType;
    explicit WarpReduce(TempStorage &) {}
    // The result is the first lane's.
    template <class Op> T Reduce(T value, Op op, int valid = WIDTH) {
        Lanes<T, WIDTH> lanes(value);
        if (lanes.self == 0)
            for (int i = 1; i < lanes.count && i < valid; ++i) value = op(value, lanes.values[i]);
        return value;
    }
    T Sum(T value) { return Reduce(value, ::cub::Sum()); }
    T Sum(T value, int valid) { return Reduce(value, ::cub::Sum(), valid); }
};

template <class T, int WIDTH = 32, int = 0> class WarpScan {
  public:
    using TempStorage = NullType;
    explicit WarpScan(TempStorage &) {}
    template <class Op> void InclusiveScan(T in, T &out, Op op, T &all) {
        Lanes<T, WIDTH> lanes(in);
        T running = lanes.values[0];
        for (int i = 0; i < lanes.count; ++i) {
            if (i) running = op(running, lanes.values[i]);
            if (i == lanes.self) out = running;
        }
        all = running;
    }
    template <class Op> void InclusiveScan(T in, T &out, Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op, T &all) {
        Lanes<T, WIDTH> lanes(in);
        T running = initial;
        for (int i = 0; i < lanes.count; ++i) {
            if (i == lanes.self) out = running;
            running = op(running, lanes.values[i]);
        }
        all = running;
    }
    template <class Op> void ExclusiveScan(T in, T &out, T initial, Op op) {
        T all;
        ExclusiveScan(in, out, initial, op, all);
    }
    void InclusiveSum(T in, T &out) { InclusiveScan(in, out, ::cub::Sum()); }
    void InclusiveSum(T in, T &out, T &all) { InclusiveScan(in, out, ::cub::Sum(), all); }
    void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(), ::cub::Sum()); }
    void ExclusiveSum(T in, T &out, T &all) { ExclusiveScan(in, out, T(), ::cub::Sum(), all); }
    T Broadcast(T value, unsigned from) {
        Lanes<T, WIDTH> lanes(value);
        return lanes.values[static_cast<int>(from)];
    }
};

template <class T, int X, int ITEMS, BlockLoadAlgorithm WAY = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int = 0>
class BlockLoad : public WithStorage<NullType> {
  public:
    using WithStorage<NullType>::WithStorage;
    template <class From> void Load(From from, T (&items)[ITEMS]) {
        for (int i = 0; i < ITEMS; ++i) items[i] = from[place(i)];
    }
    template <class From> void Load(From from, T (&items)[ITEMS], int valid) {
        for (int i = 0; i < ITEMS; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class From, class Other>
    void Load(From from, T (&items)[ITEMS], int valid, Other other) {
        for (int i = 0; i < ITEMS; ++i) items[i] = place(i) < valid ? T(from[place(i)]) : T(other);
    }

  private:
    static int place(int i) {
        return WAY == BLOCK_LOAD_STRIPED ? i * X * Y * Z + self() : self() * ITEMS + i;
    }
};
template <class T, int X, int ITEMS, BlockStoreAlgorithm WAY = BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1, int = 0>
class BlockStore : public WithStorage<NullType> {
  public:
    using WithStorage<NullType>::WithStorage;
    template <class To> void Store(To to, T (&items)[ITEMS], int valid = INT_MAX) {
        for (int i = 0; i < ITEMS; ++i) {
            int at = WAY == BLOCK_STORE_STRIPED ? i * X * Y * Z + self() : self() * ITEMS + i;
            if (at < valid) to[at] = items[i];
        }
    }
};
} // namespace cub
#include "cuda_on_cpu_cub_sort.h"
#pragma pop_macro("BINS")
#pragma pop_macro("COUNT")
#pragma pop_macro("ITEMS")
#pragma pop_macro("RADIX_BITS")
#pragma pop_macro("THREADS")
#pragma pop_macro("TOP")
#pragma pop_macro("WARP")
#pragma pop_macro("WAY")
#pragma pop_macro("WIDTH")
#pragma pop_macro("X")
#pragma pop_macro("Y")
#pragma pop_macro("Z")

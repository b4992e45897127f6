/* The two marks of a timed call: one side runs beside the author's code, the other in the judge.

   Nothing of Python runs between the return of the author's code and the mark that says so, so an
   honest answer costs as little as any. See marks.py, which compiles and loads this file.

   The few symbols of CPython that are needed are declared here and found in the interpreter that
   loads us, so that no Python.h has to be installed. */

#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ADDRESSES = 32, MAX_STEPS = 4, MAX_PROBES = 4, PROBE_BYTES = 1024 };
enum { READ_NS = 20000 }; /* the probes are read in a tenth of it, unless that has to wait */
enum { UNKNOWN = 1, TAKEN = 2, RAISED = 3 };

extern void *PyObject_Call(void *function, void *arguments, void *keywords);
extern void Py_IncRef(void *);
extern intptr_t PyTuple_Size(void *);
extern void *PyTuple_GetItem(void *, intptr_t);
extern intptr_t PyList_Size(void *);
extern void *PyList_GetItem(void *, intptr_t);

struct record {              /* see `Record` in marks.py */
    uint32_t go;             /* the judge: this turn's call may begin */
    uint32_t describe;       /* the judge: the output may be described */
    uint32_t mark;           /* the runner: this turn's kernel has returned */
    uint32_t outcome;        /* UNKNOWN, TAKEN or RAISED */
    int64_t start_ns, end_ns;
    uint64_t count;
    uint64_t addresses[MAX_ADDRESSES];
};

struct probes {              /* see `Probes` in probes.py; ours alone */
    int64_t pid;
    uint64_t arrays, count, were_read;
    struct { uint64_t array, offset, length; } places[MAX_PROBES];
    unsigned char found[MAX_PROBES][PROBE_BYTES];
};

struct kind {                /* how to get from an object to its bytes */
    void *type;
    int64_t steps;
    int64_t offsets[MAX_STEPS];
};

struct known {               /* see `Known` in marks.py */
    int64_t type_offset;
    void *tuple_type, *list_type;
    int64_t kinds;
    struct kind kind[2];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint32_t load(uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

static void wait_until_set(uint32_t *word, uint32_t turn) {
    uint32_t found;
    while ((found = load(word)) != turn)
        syscall(SYS_futex, word, FUTEX_WAIT, found, 0, 0, 0);
}

static void set_and_wake(uint32_t *word, uint32_t turn) {
    __atomic_store_n(word, turn, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
}

static void *type_of(void *object, const struct known *known) {
    return *(void **)((char *)object + known->type_offset);
}

static int add_address(struct record *record, void *object, const struct known *known) {
    void *type = type_of(object, known);
    for (int64_t i = 0; i < known->kinds; i++) {
        const struct kind *kind = &known->kind[i];
        if (kind->type != type)
            continue;
        char *place = object;
        for (int64_t step = 0; step < kind->steps; step++) {
            place = *(char **)(place + kind->offsets[step]);
            if (place == 0 && step + 1 < kind->steps)
                return 0;
        }
        if (record->count == MAX_ADDRESSES)
            return 0;
        record->addresses[record->count++] = (uint64_t)place;
        return 1;
    }
    return 0;
}

static int add_addresses(struct record *record, void *output, const struct known *known) {
    void *type = type_of(output, known);
    int is_tuple = type == known->tuple_type;
    if (!is_tuple && type != known->list_type)
        return add_address(record, output, known);
    intptr_t size = is_tuple ? PyTuple_Size(output) : PyList_Size(output);
    for (intptr_t i = 0; i < size; i++)
        if (!add_address(record, is_tuple ? PyTuple_GetItem(output, i) : PyList_GetItem(output, i), known))
            return 0;
    return 1;
}

/* In the runner: wait for `go`, call, mark, and wait until the judge has taken the output.
   `output` is what the call fills, or NULL for what it returns. Without a `function` there is
   nothing between the marks: the cheapest answer that there is. */
void *call_between_marks(struct record *record, uint32_t turn, void *function, void *arguments,
                         void *output, const struct known *known) {
    void *returned = arguments;
    wait_until_set(&record->go, turn);
    int64_t start = now();
    if (function)
        returned = PyObject_Call(function, arguments, 0);
    else
        Py_IncRef(arguments);
    record->end_ns = now();
    record->start_ns = start;
    record->count = 0;
    if (!returned)
        record->outcome = RAISED;
    else if (!function || add_addresses(record, output ? output : returned, known))
        record->outcome = TAKEN;
    else
        record->outcome = UNKNOWN;
    set_and_wake(&record->mark, turn);
    wait_until_set(&record->describe, turn);
    return returned;
}

/* Read what the output is at the mark, in one system call: `record` may be wrong on purpose. */
static void read_probes(struct record *record, struct probes *probes) {
    struct iovec here[MAX_PROBES], there[MAX_PROBES];
    ssize_t wanted = 0;
    if (record->outcome != TAKEN || record->count != probes->arrays || probes->arrays > MAX_ADDRESSES)
        return;
    for (uint64_t i = 0; i < probes->count; i++) {
        size_t length = probes->places[i].length;
        uint64_t address = record->addresses[probes->places[i].array] + probes->places[i].offset;
        here[i] = (struct iovec){probes->found[i], length};
        there[i] = (struct iovec){(void *)address, length};
        wanted += length;
    }
    probes->were_read = wanted == 0 || process_vm_readv(probes->pid, here, probes->count, there,
                                                        probes->count, 0) == wanted;
}

/* What is read as soon as the mark is seen: the output, and what Linux has counted for the runner's
   thread so far. Returns the time: of the mark, or of the reading if that had to wait, which the
   runner's other threads can bring about, by changing its mappings, while they complete the output. */
static int64_t record_mark(struct record *record, struct probes *probes, int schedstat, char *counted,
                       size_t room) {
    int64_t time = now();
    if (probes) {
        read_probes(record, probes);
        int64_t read = now();
        if (read - time > READ_NS)
            time = read;
    }
    ssize_t length = schedstat < 0 ? 0 : pread(schedstat, counted, room - 1, 0);
    counted[length > 0 ? length : 0] = 0;
    return time;
}

/* In the judge: the time at which `mark` was seen, or 0 if it wasn't within `spin_ns` of polling
   and, if `sleep_ns` is given, that long asleep. `probes` (or NULL) are read then, and `counted` gets
   the contents of `schedstat`. */
int64_t wait_for_mark(struct record *record, uint32_t turn, int64_t spin_ns, int64_t sleep_ns,
                      struct probes *probes, int schedstat, char *counted, size_t room) {
    int64_t until = now() + spin_ns;
    do {
        for (int i = 0; i < 64; i++)
            if (load(&record->mark) == turn)
                return record_mark(record, probes, schedstat, counted, room);
        sched_yield();       /* to other judges of the same priority */
    } while (now() < until);
    if (sleep_ns) {
        uint32_t found = load(&record->mark);
        struct timespec timeout = {sleep_ns / 1000000000, sleep_ns % 1000000000};
        if (found != turn)
            syscall(SYS_futex, &record->mark, FUTEX_WAIT, found, &timeout, 0, 0);
        if (load(&record->mark) == turn)
            return record_mark(record, probes, schedstat, counted, room);
    }
    return 0;
}

void set_turn(uint32_t *word, uint32_t turn) { set_and_wake(word, turn); }

/* The two marks of a timed call: one side runs beside the author's code, the other in the judge.

   Nothing of Python runs between the return of the author's code and the mark that says so, so an
   honest answer costs as little as any. See marks.py, which compiles and loads this file.

   The few symbols of CPython that are needed are declared here and found in the interpreter that
   loads us, so that no Python.h has to be installed. */

#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ADDRESSES = 500, MAX_DEPTH = 9, CONSTANTS = 4, SCALARS = 16, MAX_STEPS = 4, MAX_PROBES = 4, PROBE_BYTES = 1024 };
enum { READ_NS = 20000 }; /* the probes are read in a tenth of it, unless that has to wait */
enum { UNKNOWN = 1, TAKEN = 2, RAISED = 3 };
enum { WORDS = 32, DOUBLES = 8 }; /* of a call from C, at most */

extern void *PyObject_Call(void *function, void *arguments, void *keywords);
extern intptr_t PyTuple_Size(void *);
extern void *PyTuple_GetItem(void *, intptr_t);
extern intptr_t PyList_Size(void *);
extern void *PyList_GetItem(void *, intptr_t);
extern int PyDict_Next(void *, intptr_t *, void **, void **);
extern int PyType_IsSubtype(void *, void *);
extern void *PyObject_GetAttr(void *, void *);
extern void *PyObject_GetAttrString(void *, const char *);
extern void PyErr_Clear(void);
extern void Py_DecRef(void *);
extern int PyList_SetItem(void *, intptr_t, void *);

struct record {              /* see `MarkRecord` in record.py */
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

struct known {               /* see `KnownTypes` in known_types.py */
    int64_t type_offset;
    void *tuple_type, *list_type, *dict_type, *float_type;
    int64_t float_offset;    /* of its eight bytes */
    void *constants[CONSTANTS];
    int64_t scalar_offset;   /* of a scalar's bytes */
    void *scalars[SCALARS];  /* their types, as many as there are */
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

static int add_place(struct record *record, void *place) {
    if (record->count == MAX_ADDRESSES)
        return 0;
    record->addresses[record->count++] = (uint64_t)place;
    return 1;
}

static int add_array(struct record *record, void *object, void *type, const struct known *known) {
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
        return add_place(record, place);
    }
    return 0;
}

static int add_addresses(struct record *record, void *output, const struct known *known, int depth);

/* The fields of a dataclass. What they hold is kept by `output`, or a description differs. */
static int add_fields(struct record *record, void *output, void *type, const struct known *known, int depth) {
    void *fields = PyObject_GetAttrString(type, "__dataclass_fields__"), *name, *field;
    int added = fields != 0;
    for (intptr_t at = 0; added && PyDict_Next(fields, &at, &name, &field);) {
        void *value = PyObject_GetAttr(output, name);
        added = value && add_addresses(record, value, known, depth + 1);
        if (value)
            Py_DecRef(value);
    }
    if (fields)
        Py_DecRef(fields);
    if (!added)
        PyErr_Clear();
    return added;
}

/* All of an output that a description may not change. Constants have no bytes here: the judge
   compares them with those of the call before. */
static int add_addresses(struct record *record, void *output, const struct known *known, int depth) {
    void *type = type_of(output, known), *key, *item;
    if (depth > MAX_DEPTH)
        return 0;
    if (type == known->float_type)
        return add_place(record, (char *)output + known->float_offset);
    for (int i = 0; i < CONSTANTS; i++)
        if (type == known->constants[i])
            return 1;
    if (type == known->list_type) {
        for (intptr_t i = 0, size = PyList_Size(output); i < size; i++)
            if (!add_addresses(record, PyList_GetItem(output, i), known, depth + 1))
                return 0;
        return 1;
    }
    if (type == known->dict_type) {
        for (intptr_t at = 0; PyDict_Next(output, &at, &key, &item);)
            if (!add_addresses(record, item, known, depth + 1))
                return 0;
        return 1;
    }
    if (PyType_IsSubtype(type, known->tuple_type)) {  /* named ones too: their items lie alike */
        for (intptr_t i = 0, size = PyTuple_Size(output); i < size; i++)
            if (!add_addresses(record, PyTuple_GetItem(output, i), known, depth + 1))
                return 0;
        return 1;
    }
    for (int i = 0; i < SCALARS && known->scalars[i]; i++)
        if (type == known->scalars[i])
            return add_place(record, (char *)output + known->scalar_offset);
    return add_array(record, output, type, known) || add_fields(record, output, type, known, depth);
}

struct ready { int fd; int64_t size; const char *message; };

struct native {              /* see `_Native` in marks.py: calls of a C function, one after another */
    void *function;
    int64_t calls, words, doubles;
    struct { int64_t words[WORDS]; double doubles[DOUBLES]; } *row;
};

void no_kernel(void) {}

/* A call of a C function whose arguments are known at run time only. Whole numbers and pointers on the
   one side, and doubles on the other, are passed in registers of their own, in their order, and what
   is left of the whole numbers on the stack: so one type of function does for all that have at most
   eight doubles. What is passed beyond a function's own arguments it never reads. */
#if defined(__x86_64__)
enum { REGISTERS = 6 };
#define IN_REGISTERS(w) w[0], w[1], w[2], w[3], w[4], w[5]
#define TYPES int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#elif defined(__aarch64__)
enum { REGISTERS = 8 };
#define IN_REGISTERS(w) w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
#define TYPES int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#endif
#ifdef TYPES
#define FOUR(v, i) v[i], v[i + 1], v[i + 2], v[i + 3]
#define FOUR_OF(type) type, type, type, type

enum { CALLS_FROM_C = 1 };

static void call_from_c(void *function, const int64_t *w, int64_t words, const double *d, int64_t doubles) {
    if (words <= REGISTERS && doubles == 0)
        ((void (*)(TYPES))function)(IN_REGISTERS(w));
    else {
        const int64_t *m = w + REGISTERS; /* a row has room for all of these */
        ((void (*)(TYPES, FOUR_OF(double), FOUR_OF(double), FOUR_OF(int64_t), FOUR_OF(int64_t),
                   FOUR_OF(int64_t), FOUR_OF(int64_t), FOUR_OF(int64_t), FOUR_OF(int64_t)))function)(
            IN_REGISTERS(w), FOUR(d, 0), FOUR(d, 4), FOUR(m, 0), FOUR(m, 4), FOUR(m, 8), FOUR(m, 12),
            FOUR(m, 16), FOUR(m, 20));
    }
}
#else
enum { CALLS_FROM_C = 0 };

static void call_from_c(void *f, const int64_t *w, int64_t words, const double *d, int64_t doubles) {
    (void)f, (void)w, (void)words, (void)d, (void)doubles;
}
#endif

/* How many whole numbers and pointers a function that is called from C may have; 0: none is. */
int64_t most_words(void) {
    return CALLS_FROM_C ? WORDS - 2 : 0;
}

/* In the runner: say `ready`, wait for `go`, make the calls, mark, and wait until the judge has taken
   the output. `rows` (a list of tuples) are the arguments, `returned` (a list as long) gets what the
   calls return; `native` is there instead of a `function` that is called from C. `output` is what the
   calls fill, whose addresses are known before, or NULL for what they return. Without any of both there is nothing between the marks:
   the cheapest answer that there is. Returns 0 if a call raised. */
int call_between_marks(struct record *record, uint32_t turn, const struct ready *ready, void *function,
                       const struct native *native, void *rows, void *returned, void *output,
                       const struct known *known) {
    int64_t calls = native ? native->calls : PyList_Size(rows);
    void *one = returned;
    record->count = 0;
    int located = !(function || native) || (output && add_addresses(record, output, known, 0));
    if (ready && send(ready->fd, ready->message, ready->size, MSG_NOSIGNAL) < 0)
        ready = 0;           /* nobody listens: whoever ends this process will end it now */
    wait_until_set(&record->go, turn);
    int64_t start = now();
    if (native)
        for (int64_t i = 0; i < calls; i++)
            call_from_c(native->function, native->row[i].words, native->words, native->row[i].doubles,
                        native->doubles);
    else if (function)
        for (int64_t i = 0; one && i < calls; i++) {
            one = PyObject_Call(function, PyList_GetItem(rows, i), 0);
            if (one)
                PyList_SetItem(returned, i, one); /* which takes the reference */
        }
    record->end_ns = now();
    record->start_ns = start;
    if (!one)
        record->outcome = RAISED;
    else if (located || (!output && add_addresses(record, returned, known, 0)))
        record->outcome = TAKEN;
    else
        record->outcome = UNKNOWN;
    set_and_wake(&record->mark, turn);
    wait_until_set(&record->describe, turn);
    return one != 0;
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

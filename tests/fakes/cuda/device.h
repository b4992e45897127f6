/* A device without a GPU: what the harness uses of NVIDIA's driver, over the host's memory.

   `memory.c` has allocations, handles that travel between processes, and copies; `work.c` contexts,
   streams, events and kernels, which are time that passes; `sharing.c` what processes notice of each
   other. `fake_*` is for tests and for the
   submissions of tests. Each process has devices of its own; only exported memory is shared. */
#pragma once
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

#ifndef DEVICES
#define DEVICES 1
#endif
enum {
    INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, UNSUPPORTED_LIMIT = 215,
    INVALID_HANDLE = 400, NOT_READY = 600, BROKEN = 700, NOT_SUPPORTED = 801
};

/* Counts a call, lets a virtual clock go on, and says which error it is to return, 0 for none. */
int entered(const char *name);
#define ENTER() do { int wrong = entered(__func__); if (wrong) return wrong; } while (0)

/* A descriptor of a file in the folder of this library; -1 if there is none, or not for us. */
int open_beside(const char *name, int flags);

/* The device whose context is current; the first if none is. */
int current_device(void);
/* An error if a stream isn't of the current device: the harness makes contexts current itself. */
int is_elsewhere(void *stream);

/* The code of work that has failed; 0 if none has. */
int failed(void);
/* That of the device itself. */
int broken(void);

int64_t now_ns(void);
int64_t begins_ns(void);
/* Work of no length on a stream. */
void occupied(void *stream);

enum { CACHE_BYTES = 4 << 20 };
void written(uint64_t address, size_t size);
/* Which memory an address is in, alike in all processes that map it, and where in it. */
uint64_t memory_of(uint64_t address, uint64_t *offset);

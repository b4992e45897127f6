/* A device without a GPU: what the harness uses of NVIDIA's driver, over the host's memory.

   `memory.c` has allocations, handles that travel between processes, and copies; `work.c` contexts,
   streams, events and kernels, which are time that passes. `fake_*` is for tests and for the
   submissions of tests. Each process has a device of its own; only exported memory is shared. */
#pragma once
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

enum { OUT_OF_MEMORY = 2, INVALID_VALUE = 1, NOT_READY = 600, BROKEN = 700, UNSUPPORTED_LIMIT = 215, NOT_SUPPORTED = 801 };

/* Counts a call, lets a virtual clock go on, and says which error it is to return, 0 for none. */
int entered(const char *name);
#define ENTER() do { int wrong = entered(__func__); if (wrong) return wrong; } while (0)

/* A descriptor of a file in the folder of this library; -1 if there is none, or not for us. */
int open_beside(const char *name, int flags);

int64_t now_ns(void);

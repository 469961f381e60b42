/* The C interface to Evenkeel's ids: unique 64-bit ids that ascend with time and spread evenly over tables.
 *
 * Link with -levenkeel_idgen_c (pkg-config: evenkeel_idgen). docs/library.md has a whole program.
 *
 * Threads: after evenkeel_idgen_open, any thread may call the other functions on the handle at the same time,
 * except evenkeel_idgen_close, which must come after the last of them. Calls on different handles do not
 * touch each other. After fork() the child's calls fail: open a handle of its own there.
 *
 * Errors: functions return 0 or one of the codes below, and never throw or abort. What went wrong, in a
 * sentence that says what to do, is in evenkeel_idgen_last_error() of the same thread.
 *
 * ABI: the handle is opaque, structures start with their size, and codes keep their numbers. A structure may
 * grow at its end; the library reads and writes no more of it than the caller's size covers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EVENKEEL_IDGEN_API __attribute__((visibility("default")))
#else
#define EVENKEEL_IDGEN_API
#endif

typedef struct evenkeel_idgen evenkeel_idgen;

enum {
  EVENKEEL_IDGEN_OK = 0,
  EVENKEEL_IDGEN_BAD_ARGUMENT = 1, /* an option or argument is wrong; nothing was changed */
  EVENKEEL_IDGEN_CLOCK = 2,        /* the clock stands where no id can be made safely */
  EVENKEEL_IDGEN_LEASE = 3,        /* the directory, or the right to the worker id */
  EVENKEEL_IDGEN_INTERNAL = 4      /* anything else: memory, a forked child, a defect */
};

/* Fill it from EVENKEEL_IDGEN_OPTIONS and change what is to be different. Strings are copied by open. */
typedef struct evenkeel_idgen_options {
  size_t size;
  /* The key space: processes that make ids for the same tables use the same name and layout, and different
   * worker ids. [a-zA-Z0-9_-]+ */
  const char* name;
  /* classic: milliseconds, 41 bits of time, 10 of worker, 12 of sequence; business, wide, js_safe,
   * js_safe_wide. */
  const char* layout;
  /* Required: a directory of this machine, made when it is missing, that keeps which worker ids are in use
   * and up to what time ids may exist, so that a restart with an earlier clock repeats nothing. Not on a
   * network file system. */
  const char* directory;
  /* This process' worker id; processes on other machines must have others. -1: a free one is leased, which is
   * right when all processes that make such ids share the directory. */
  int64_t worker_id;
  /* Ids are spread evenly over `id mod slots`. */
  uint32_t slots;
  /* The layout's tick 0 in Unix milliseconds; never change it once ids exist. -1: 2024-01-01T00:00:00Z. */
  int64_t epoch_unix_ms;
} evenkeel_idgen_options;

#define EVENKEEL_IDGEN_OPTIONS \
  { sizeof(evenkeel_idgen_options), "default", "classic", NULL, -1, 128, -1 }

/* Takes the worker id and starts the thread that renews it. On success *ids is a handle for
 * evenkeel_idgen_close, else NULL. */
EVENKEEL_IDGEN_API int evenkeel_idgen_open(const evenkeel_idgen_options* options, evenkeel_idgen** ids);

/* One id. Sleeps a little when a time unit's ids are used up or the clock stepped back within the tolerance;
 * an error rather than a sleep of more than 5 seconds. */
EVENKEEL_IDGEN_API int evenkeel_idgen_next(evenkeel_idgen* ids, uint64_t* id);

/* `count` ids, ascending, consecutive as far as they lie within one time unit. All or none. */
EVENKEEL_IDGEN_API int evenkeel_idgen_next_batch(evenkeel_idgen* ids, uint64_t* out, size_t count);

typedef struct evenkeel_idgen_fields {
  size_t size; /* set it before the call: sizeof(evenkeel_idgen_fields) */
  int64_t unix_ms;
  uint64_t tick;
  uint64_t sequence;
  uint32_t worker;
  uint32_t slot; /* id mod slots */
} evenkeel_idgen_fields;

/* The fields of an id of the handle's layout, whoever made it. */
EVENKEEL_IDGEN_API int evenkeel_idgen_decode(const evenkeel_idgen* ids, uint64_t id,
                                             evenkeel_idgen_fields* fields);

/* Gives the worker id back and frees the handle, also when it returns an error: the worker id then stays
 * reserved for a few seconds. NULL is ignored. */
EVENKEEL_IDGEN_API int evenkeel_idgen_close(evenkeel_idgen* ids);

/* Of this thread's last call that failed, in UTF-8; empty when none did. Valid until this thread's next
 * failing call. */
EVENKEEL_IDGEN_API const char* evenkeel_idgen_last_error(void);

/* "0.1.0": the library's, not the header's. */
EVENKEEL_IDGEN_API const char* evenkeel_idgen_version(void);

#ifdef __cplusplus
}
#endif

/* What the libfabric provider uet offers beyond libfabric's own calls. For programs in C and C++;
 * it depends on libfabric's headers only. */
#ifndef UET_FI_EXT_UET_H
#define UET_FI_EXT_UET_H

#include <rdma/fabric.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counters. On a domain or an endpoint of uet:
 *
 *   struct fi_uet_ops_counters *ops;
 *   fi_open_ops(&domain->fid, FI_UET_COUNTERS, 0, (void **) &ops, NULL);
 *   size_t count = 0;
 *   ops->read(&domain->fid, NULL, &count);           // -FI_ETOOSMALL; count is set
 *   struct fi_uet_counter counters[count];
 *   ops->read(&domain->fid, counters, &count);       // 0
 *
 * Counters belong to the domain; an endpoint shows those of its own. They count up from the opening
 * of the domain and are never reset. docs/counters.md says what each one means. */
#define FI_UET_COUNTERS "uet_counters"

struct fi_uet_counter {
  const char *name; /* lives as long as the process */
  uint64_t value;
};

struct fi_uet_ops_counters {
  size_t size; /* of this structure in the provider; later members follow */
  /* Writes all counters of the domain, always in the same order. On entry *count is the room
   * in counters; on return, the number of counters. Returns 0; -FI_ETOOSMALL: too little room,
   * nothing was written; -FI_EINVAL: a null argument, or a fid of another kind;
   * -FI_EOPBADSTATE: in a forked child.
   * Any thread. Takes the domain's lock for about a microsecond; no system call. */
  int (*read)(struct fid *fid, struct fi_uet_counter *counters, size_t *count);
};

/* The same by fi_control, on a domain or an endpoint:
 *
 *   struct fi_uet_counter_list list = {.size = sizeof list, .counters = counters, .count = count};
 *   fi_control(&domain->fid, FI_UET_GET_COUNTERS, &list);
 *
 * Returns 0 and errors as read does; -FI_EINVAL also when `size` is less than that of the
 * structure in the provider. Objects of other kinds do not know the command: -FI_ENOSYS. */
#define FI_UET_GET_COUNTERS 0x55455401 /* "UET", 1 */

struct fi_uet_counter_list {
  size_t size;                     /* of this structure in the program */
  struct fi_uet_counter *counters; /* destination; null: return count only */
  size_t count;                    /* on entry the room; on return the number of counters */
};

#ifdef __cplusplus
}
#endif

#endif

/* The public header in a C program: it compiles, and its calls work from there. */
#include "prov/uet/api/fi_ext_uet.h"

#include <rdma/fi_errno.h>

#include <string.h>

int64_t uet_test_read_from_c(struct fid *fid, const char *name);

/* The value of one counter, or a negative number of what went wrong. */
int64_t uet_test_read_from_c(struct fid *fid, const char *name) {
  struct fi_uet_ops_counters *ops = NULL;
  struct fi_uet_counter counters[512];
  size_t count = sizeof counters / sizeof counters[0];
  int rc = fi_open_ops(fid, FI_UET_COUNTERS, 0, (void **)&ops, NULL);
  if (rc != 0) return rc;
  rc = ops->read(fid, counters, &count);
  if (rc != 0) return rc;
  struct fi_uet_counter_list list = {sizeof list, counters, sizeof counters / sizeof counters[0]};
  rc = fi_control(fid, FI_UET_GET_COUNTERS, &list);
  if (rc != 0 || list.count != count) return rc != 0 ? rc : -FI_EOTHER;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(counters[i].name, name) == 0) return (int64_t)counters[i].value;
  }
  return -FI_ENODATA;
}

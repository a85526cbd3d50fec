/* Writing into another process's memory, with counters instead of completion queues.
 *
 *   rma_put -l 10.0.0.1            offers memory at that address of this host until it is full
 *   rma_put 10.0.0.1               writes it from any host, and waits until all of it is there
 *
 * The target takes no part in the writes: it sleeps on the counter of its memory region. */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, BLOCK_BYTES = 65536, ADDRESS_MAX = 240, PATIENCE_MS = 30000 };
static const char service[] = "712";

/* What the target tells about its memory. */
struct offer {
  uint64_t key;
  uint64_t base;
};

struct node {
  struct fi_info* info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* av;
  struct fid_cntr* sent;     /* our messages and writes that are complete */
  struct fid_cntr* received; /* messages that have come */
  struct fid_ep* ep;
  uint64_t sends;
  uint64_t receives;
};

static void check(int rc, const char* what) {
  if (rc == 0) return;
  fprintf(stderr, "%s: %s\n", what, fi_strerror(-rc));
  exit(1);
}

static void open_node(struct node* n, const char* address, uint64_t flags) {
  struct fi_info* hints = fi_allocinfo();
  if (hints == NULL) check(-FI_ENOMEM, "fi_allocinfo");
  hints->caps = FI_MSG | FI_RMA | FI_RMA_EVENT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE; /* counted when the data is in place */
  hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  hints->fabric_attr->prov_name = strdup("uet");
  check(fi_getinfo(FI_VERSION(1, 17), address, service, flags, hints, &n->info), "fi_getinfo");
  fi_freeinfo(hints);

  struct fi_av_attr av = {.type = FI_AV_TABLE};
  struct fi_cntr_attr cntr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
  check(fi_fabric(n->info->fabric_attr, &n->fabric, NULL), "fi_fabric");
  check(fi_domain(n->fabric, n->info, &n->domain, NULL), "fi_domain");
  check(fi_av_open(n->domain, &av, &n->av, NULL), "fi_av_open");
  check(fi_cntr_open(n->domain, &cntr, &n->sent, NULL), "fi_cntr_open");
  check(fi_cntr_open(n->domain, &cntr, &n->received, NULL), "fi_cntr_open");
  check(fi_endpoint(n->domain, n->info, &n->ep, NULL), "fi_endpoint");
  check(fi_ep_bind(n->ep, &n->av->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(n->ep, &n->sent->fid, FI_SEND | FI_WRITE), "fi_ep_bind");
  check(fi_ep_bind(n->ep, &n->received->fid, FI_RECV), "fi_ep_bind");
  check(fi_enable(n->ep), "fi_enable");
}

static void close_node(struct node* n) {
  check(fi_close(&n->ep->fid), "fi_close");
  check(fi_close(&n->sent->fid), "fi_close");
  check(fi_close(&n->received->fid), "fi_close");
  check(fi_close(&n->av->fid), "fi_close");
  check(fi_close(&n->domain->fid), "fi_close");
  check(fi_close(&n->fabric->fid), "fi_close");
  fi_freeinfo(n->info);
}

/* An operation that failed counts apart: fi_cntr_wait then says -FI_EAVAIL. */
static void await(struct fid_cntr* cntr, uint64_t value, const char* what) {
  check(fi_cntr_wait(cntr, value, PATIENCE_MS), what);
}

static void send_message(struct node* n, const void* data, size_t bytes, fi_addr_t to) {
  ssize_t rc;
  while ((rc = fi_send(n->ep, data, bytes, NULL, to, NULL)) == -FI_EAGAIN) fi_cntr_read(n->sent);
  check((int)rc, "fi_send");
  await(n->sent, ++n->sends, "sending");
}

static void receive_message(struct node* n, void* room, size_t bytes) {
  check((int)fi_recv(n->ep, room, bytes, NULL, FI_ADDR_UNSPEC, NULL), "fi_recv");
  await(n->received, ++n->receives, "receiving");
}

static fi_addr_t insert(struct node* n, const void* address) {
  fi_addr_t result = FI_ADDR_UNSPEC;
  if (fi_av_insert(n->av, address, 1, &result, 0, NULL) != 1) check(-FI_EADDRNOTAVAIL, "insert");
  return result;
}

static uint8_t octet(size_t i) { return (uint8_t)(i * 31 + i / 4096); }

static void offer_memory(struct node* n) {
  static uint8_t memory[BLOCKS * BLOCK_BYTES];
  struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
  struct fid_cntr* written;
  struct fid_mr* region;
  uint8_t address[ADDRESS_MAX];
  check(fi_cntr_open(n->domain, &attr, &written, NULL), "fi_cntr_open");
  check(fi_mr_reg(n->domain, memory, sizeof memory, FI_REMOTE_WRITE, 0, 1,
                  n->info->domain_attr->mr_mode & FI_MR_RMA_EVENT ? FI_RMA_EVENT : 0, &region,
                  NULL),
        "fi_mr_reg");
  check(fi_mr_bind(region, &written->fid, FI_REMOTE_WRITE), "fi_mr_bind");
  if (n->info->domain_attr->mr_mode & FI_MR_RMA_EVENT) check(fi_mr_enable(region), "fi_mr_enable");

  receive_message(n, address, sizeof address);
  const int virtual_address = (n->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const struct offer offer = {fi_mr_key(region), virtual_address ? (uintptr_t)memory : 0};
  send_message(n, &offer, sizeof offer, insert(n, address));

  await(written, BLOCKS, "being written");
  for (size_t i = 0; i < sizeof memory; ++i) {
    if (memory[i] != octet(i)) check(-FI_EIO, "wrong octets");
  }
  printf("%d writes have filled %zu octets\n", BLOCKS, sizeof memory);
  check(fi_close(&region->fid), "fi_close");
  check(fi_close(&written->fid), "fi_close");
}

static void write_memory(struct node* n) {
  static uint8_t data[BLOCKS * BLOCK_BYTES];
  uint8_t address[ADDRESS_MAX];
  size_t bytes = sizeof address;
  struct offer offer;
  for (size_t i = 0; i < sizeof data; ++i) data[i] = octet(i);
  const fi_addr_t target = insert(n, n->info->dest_addr);
  check(fi_getname(&n->ep->fid, address, &bytes), "fi_getname");
  send_message(n, address, bytes, target);
  receive_message(n, &offer, sizeof offer);

  for (size_t block = 0; block < BLOCKS; ++block) {
    const size_t at = block * BLOCK_BYTES;
    ssize_t rc;
    while ((rc = fi_write(n->ep, data + at, BLOCK_BYTES, NULL, target, offer.base + at, offer.key,
                          NULL)) == -FI_EAGAIN) {
      fi_cntr_read(n->sent); /* lets the library work */
    }
    check((int)rc, "fi_write");
  }
  await(n->sent, n->sends + BLOCKS, "writing");
  printf("%d writes of %d octets are in place\n", BLOCKS, BLOCK_BYTES);
}

int main(int argc, char** argv) {
  struct node n = {0};
  const int listens = argc == 3 && strcmp(argv[1], "-l") == 0;
  if (!listens && (argc != 2 || argv[1][0] == '-')) {
    fprintf(stderr, "Usage: %s -l OWN-ADDRESS | %s ADDRESS\n", argv[0], argv[0]);
    return 2;
  }
  open_node(&n, argv[argc - 1], listens ? FI_SOURCE : 0);
  if (listens) {
    printf("waiting at %s\n", argv[2]);
    fflush(stdout);
    offer_memory(&n);
  } else {
    write_memory(&n);
  }
  close_node(&n);
  return 0;
}

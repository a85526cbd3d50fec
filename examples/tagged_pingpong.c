/* A tagged ping-pong between two processes, complete and small enough to copy from.
 *
 *   tagged_pingpong -l 10.0.0.1            on the host with that address: waits for the other
 *   tagged_pingpong 10.0.0.1               on any host: 1000 round trips, then prints the time
 *
 * Plain libfabric: only the provider name in main() belongs to uet. */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 1000, BYTES = 64, ADDRESS_MAX = 256, PATIENCE_MS = 30000 };
static const char service[] = "711"; /* names the waiting endpoint on its host, as a port would */
static const uint64_t hello_tag = 1, ping_tag = 2, pong_tag = 3;

struct peer {
  struct fi_info* info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* av;
  struct fid_cq* cq;
  struct fid_ep* ep;
};

static void check(int rc, const char* what) {
  if (rc == 0) return;
  fprintf(stderr, "%s: %s\n", what, fi_strerror(-rc));
  exit(1);
}

/* `node` is our own address with FI_SOURCE in `flags`, else the peer's. */
static void open_peer(struct peer* p, const char* node, uint64_t flags) {
  struct fi_info* hints = fi_allocinfo();
  if (hints == NULL) check(-FI_ENOMEM, "fi_allocinfo");
  hints->caps = FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("uet");
  check(fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints, &p->info), "fi_getinfo");
  fi_freeinfo(hints);

  struct fi_av_attr av = {.type = FI_AV_TABLE};
  struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};
  check(fi_fabric(p->info->fabric_attr, &p->fabric, NULL), "fi_fabric");
  check(fi_domain(p->fabric, p->info, &p->domain, NULL), "fi_domain");
  check(fi_av_open(p->domain, &av, &p->av, NULL), "fi_av_open");
  check(fi_cq_open(p->domain, &cq, &p->cq, NULL), "fi_cq_open");
  check(fi_endpoint(p->domain, p->info, &p->ep, NULL), "fi_endpoint");
  check(fi_ep_bind(p->ep, &p->av->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(p->ep, &p->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_enable(p->ep), "fi_enable");
}

static void close_peer(struct peer* p) {
  check(fi_close(&p->ep->fid), "fi_close");
  check(fi_close(&p->cq->fid), "fi_close");
  check(fi_close(&p->av->fid), "fi_close");
  check(fi_close(&p->domain->fid), "fi_close");
  check(fi_close(&p->fabric->fid), "fi_close");
  fi_freeinfo(p->info);
}

static fi_addr_t insert(struct peer* p, const void* address) {
  fi_addr_t result = FI_ADDR_UNSPEC;
  if (fi_av_insert(p->av, address, 1, &result, 0, NULL) != 1) check(-FI_EADDRNOTAVAIL, "insert");
  return result;
}

/* The next completion, good or bad; ends the program when none comes. */
static void await(struct peer* p) {
  struct fi_cq_tagged_entry entry;
  const ssize_t got = fi_cq_sread(p->cq, &entry, 1, NULL, PATIENCE_MS);
  if (got == 1) return;
  if (got != -FI_EAVAIL) check((int)got, "fi_cq_sread");
  struct fi_cq_err_entry error = {0};
  fi_cq_readerr(p->cq, &error, 0);
  fprintf(stderr, "failed: %s (%s)\n", fi_strerror(error.err),
          fi_cq_strerror(p->cq, error.prov_errno, error.err_data, NULL, 0));
  exit(1);
}

/* A call that finds a queue full is made again once the library had a chance to work. */
static void send_tagged(struct peer* p, const void* data, size_t bytes, fi_addr_t to,
                        uint64_t tag) {
  ssize_t rc;
  while ((rc = fi_tsend(p->ep, data, bytes, NULL, to, tag, NULL)) == -FI_EAGAIN) {
    fi_cq_read(p->cq, NULL, 0);
  }
  check((int)rc, "fi_tsend");
  await(p);
}

static void post_receive(struct peer* p, void* room, size_t bytes, uint64_t tag) {
  ssize_t rc;
  while ((rc = fi_trecv(p->ep, room, bytes, NULL, FI_ADDR_UNSPEC, tag, 0, NULL)) == -FI_EAGAIN) {
    fi_cq_read(p->cq, NULL, 0);
  }
  check((int)rc, "fi_trecv");
}

static void fill(uint8_t* data, int round) {
  for (int i = 0; i < BYTES; ++i) data[i] = (uint8_t)(round + i);
}

static void serve(struct peer* p) {
  uint8_t address[ADDRESS_MAX], data[BYTES];
  post_receive(p, address, sizeof address, hello_tag);
  await(p);
  const fi_addr_t client = insert(p, address);
  for (int round = 0; round < ROUNDS; ++round) {
    post_receive(p, data, sizeof data, ping_tag);
    await(p);
    send_tagged(p, data, sizeof data, client, pong_tag);
  }
}

static void play(struct peer* p) {
  uint8_t address[ADDRESS_MAX], data[BYTES], back[BYTES];
  size_t bytes = sizeof address;
  struct timespec begin, end;
  const fi_addr_t server = insert(p, p->info->dest_addr);
  check(fi_getname(&p->ep->fid, address, &bytes), "fi_getname");
  send_tagged(p, address, bytes, server, hello_tag);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int round = 0; round < ROUNDS; ++round) {
    fill(data, round);
    post_receive(p, back, sizeof back, pong_tag); /* before the answer can come */
    send_tagged(p, data, sizeof data, server, ping_tag);
    await(p);
    if (memcmp(data, back, sizeof data) != 0) check(-FI_EIO, "wrong octets came back");
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double us = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
                    (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
  printf("%d round trips of %d octets: %.1f us each\n", ROUNDS, BYTES, us / ROUNDS);
}

int main(int argc, char** argv) {
  struct peer p = {0};
  const int listens = argc == 3 && strcmp(argv[1], "-l") == 0;
  if (!listens && (argc != 2 || argv[1][0] == '-')) {
    fprintf(stderr, "Usage: %s -l OWN-ADDRESS | %s ADDRESS\n", argv[0], argv[0]);
    return 2;
  }
  open_peer(&p, argv[argc - 1], listens ? FI_SOURCE : 0);
  if (listens) {
    printf("waiting at %s\n", argv[2]);
    fflush(stdout);
    serve(&p);
  } else {
    play(&p);
  }
  close_peer(&p);
  return 0;
}

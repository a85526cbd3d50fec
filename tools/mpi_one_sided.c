// One-sided operations of MPI whose every result is checked, for tools/mpi_smoke.sh: puts and gets
// between fences and between post and wait, accumulates from everybody at once, a counter that all
// fetch and add, and a lock by compare-and-swap. Prints one line and ends with status 0 when all
// was right.
// Usage: mpirun ... mpi_one_sided [no-cas] (2 ranks or more; no-cas: without compare-and-swap)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 5, kMaxBytes = 1 << 20, kValues = 1000, kAdds = 100, kTurns = 10 };

static int rank_, ranks_;

static void fail(const char* what, long seen, long wanted) {
  fprintf(stderr, "mpi_one_sided: rank %d: %s: %ld, expected %ld\n", rank_, what, seen, wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char octet(int bytes, int round, int rank, int i) {
  return (unsigned char)(bytes * 31 + round * 7 + rank * 101 + i * 13 + (i >> 8));
}

static void expect_octets(const char* what, const unsigned char* in, int bytes, int round,
                          int rank) {
  for (int i = 0; i < bytes; ++i) {
    if (in[i] != octet(bytes, round, rank, i)) fail(what, in[i], octet(bytes, round, rank, i));
  }
}

static void* window(MPI_Aint bytes, int unit, MPI_Win* win) {
  void* base = NULL;
  MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
  return base;
}

// Each rank writes to the next one and reads back from it; sizes around packet limits.
static void put_and_get(void) {
  static const int kSizes[] = {1, 8, 255, 4096, 4097, 65536, 262145, kMaxBytes};
  MPI_Win win;
  unsigned char* mine = window(kMaxBytes, 1, &win);
  unsigned char* out = malloc(kMaxBytes);
  unsigned char* in = malloc(kMaxBytes);
  if (out == NULL || in == NULL) fail("memory", 0, kMaxBytes);
  const int next = (rank_ + 1) % ranks_, before = (rank_ + ranks_ - 1) % ranks_;
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
    const int bytes = kSizes[s];
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < bytes; ++i) out[i] = octet(bytes, round, rank_, i);
      MPI_Win_fence(0, win);
      MPI_Put(out, bytes, MPI_BYTE, next, 0, bytes, MPI_BYTE, win);
      MPI_Win_fence(0, win);
      expect_octets("put", mine, bytes, round, before);
      MPI_Get(in, bytes, MPI_BYTE, next, 0, bytes, MPI_BYTE, win);
      MPI_Win_fence(0, win);
      expect_octets("get", in, bytes, round, rank_);
    }
  }
  free(in);
  free(out);
  MPI_Win_free(&win);
}

// The same toward one neighbour that says when it may begin.
static void post_and_wait(void) {
  enum { kBytes = 10000 };
  static unsigned char mine[kBytes], out[kBytes];
  MPI_Win win;
  MPI_Win_create(mine, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const int next = (rank_ + 1) % ranks_, before = (rank_ + ranks_ - 1) % ranks_;
  MPI_Group world, to, from;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &before, &from);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kBytes; ++i) out[i] = octet(kBytes, round, rank_, i);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(out, kBytes, MPI_BYTE, next, 0, kBytes, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    expect_octets("put between post and wait", mine, kBytes, round, before);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
}

// All add to the values of all.
static void accumulate(void) {
  MPI_Win win;
  long* mine = window(kValues * sizeof(long), sizeof(long), &win);
  static long out[kValues];
  for (int i = 0; i < kValues; ++i) mine[i] = 0;
  MPI_Win_fence(0, win);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kValues; ++i) out[i] = (long)i * (rank_ + 1) + round;
    for (int peer = 0; peer < ranks_; ++peer) {
      MPI_Accumulate(out, kValues, MPI_LONG, peer, 0, kValues, MPI_LONG, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
  }
  const long of_ranks = (long)ranks_ * (ranks_ + 1) / 2, of_rounds = kRounds * (kRounds - 1) / 2;
  for (int i = 0; i < kValues; ++i) {
    const long wanted = i * of_ranks * kRounds + of_rounds * ranks_;
    if (mine[i] != wanted) fail("accumulate", mine[i], wanted);
  }
  MPI_Win_free(&win);
}

// No two ranks may get the same value of the counter of rank 0.
static void fetch_and_add(void) {
  MPI_Win win;
  long* counter = window(sizeof(long), sizeof(long), &win);
  long got[kAdds];
  *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  const long one = 1;
  for (int i = 0; i < kAdds; ++i) {
    MPI_Fetch_and_op(&one, &got[i], MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (i > 0 && got[i] <= got[i - 1]) fail("counter goes back", got[i], got[i - 1] + 1);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const int count = kAdds * ranks_;
  long* all = calloc((size_t)count, sizeof(long));
  char* seen = calloc((size_t)count, 1);
  if (all == NULL || seen == NULL) fail("memory", 0, count);
  MPI_Gather(got, kAdds, MPI_LONG, all, kAdds, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int i = 0; rank_ == 0 && i < count; ++i) {
    if (all[i] < 0 || all[i] >= count || seen[all[i]]++) fail("fetch and add", all[i], -1);
  }
  free(seen);
  free(all);
  MPI_Win_free(&win);
}

// A lock in word 0 of rank 0 guards word 1, which is read and written in two steps.
static void compare_and_swap(void) {
  MPI_Win win;
  long* words = window(2 * sizeof(long), sizeof(long), &win);
  words[0] = words[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  const long is_free = 0, is_taken = rank_ + 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    long was = -1;
    do {
      MPI_Compare_and_swap(&is_taken, &is_free, &was, MPI_LONG, 0, 0, win);
      MPI_Win_flush(0, win);
    } while (was != is_free);
    long value = -1;
    MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    MPI_Compare_and_swap(&is_free, &is_taken, &was, MPI_LONG, 0, 0, win);
    MPI_Win_flush(0, win);
    if (was != is_taken) fail("the lock was somebody else's", was, is_taken);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long value = -1;
  MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
  MPI_Win_flush(0, win);
  MPI_Win_unlock_all(win);
  if (value != (long)kTurns * ranks_) fail("compare and swap", value, (long)kTurns * ranks_);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (ranks_ < 2) fail("number of ranks", ranks_, 2);
  put_and_get();
  post_and_wait();
  accumulate();
  fetch_and_add();
  const int without_cas = argc > 1 && strcmp(argv[1], "no-cas") == 0;
  if (!without_cas) compare_and_swap();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    printf("mpi_one_sided: %d ranks: put, get, accumulate, fetch and add%s correct\n", ranks_,
           without_cas ? "" : ", compare and swap");
  }
  MPI_Finalize();
  return 0;
}

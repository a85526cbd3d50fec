// Ping-pong and allreduce whose every octet is checked, for tools/mpi_smoke.sh. Prints one line and
// ends with status 0 when everything arrived unchanged. Usage: mpirun ... mpi_check (2 ranks or
// more; ranks 0 and 1 play, all reduce)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 20, kMaxBytes = 1 << 20, kValues = 5000 };

static void fail(const char* what, int bytes, int round) {
  fprintf(stderr, "mpi_check: %s differs: %d octets, round %d\n", what, bytes, round);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char octet(int bytes, int round, int rank, int i) {
  return (unsigned char)(bytes * 31 + round * 7 + rank * 101 + i * 13 + (i >> 8));
}

// Rank 0 sends, rank 1 answers with another pattern; sizes around packet limits.
static void ping_pong(int rank) {
  static const int kSizes[] = {0,    1,    8,     255,   256,   257,    4095,   4096,
                               4097, 8192, 16384, 65535, 65536, 262144, 1000003, kMaxBytes};
  unsigned char* out = malloc(kMaxBytes);
  unsigned char* in = malloc(kMaxBytes);
  if (out == NULL || in == NULL) fail("memory", kMaxBytes, 0);
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
    const int bytes = kSizes[s];
    for (int round = 0; round < kRounds; ++round) {
      const int peer = 1 - rank;
      for (int i = 0; i < bytes; ++i) out[i] = octet(bytes, round, rank, i);
      memset(in, 0xEE, (size_t)bytes);
      if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, peer, round, MPI_COMM_WORLD);
      MPI_Status status;
      MPI_Recv(in, kMaxBytes, MPI_BYTE, peer, round, MPI_COMM_WORLD, &status);
      if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, peer, round, MPI_COMM_WORLD);
      int count = -1;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != bytes) fail("length", bytes, round);
      for (int i = 0; i < bytes; ++i) {
        if (in[i] != octet(bytes, round, peer, i)) fail("ping-pong", bytes, round);
      }
    }
  }
  free(in);
  free(out);
}

// Sum and maximum over all ranks, against what arithmetic says they are.
static void allreduce(int rank, int ranks) {
  static long mine[kValues], sum[kValues], most[kValues];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kValues; ++i) mine[i] = (long)i * (rank + 1) + round;
    MPI_Allreduce(mine, sum, kValues, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine, most, kValues, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    const long of_ranks = (long)ranks * (ranks + 1) / 2;
    for (int i = 0; i < kValues; ++i) {
      if (sum[i] != i * of_ranks + (long)round * ranks) fail("sum", i, round);
      if (most[i] != (long)i * ranks + round) fail("maximum", i, round);
    }
  }
}

// Everybody to everybody at once, received in any order.
static void all_to_all(int rank, int ranks) {
  for (int round = 0; round < kRounds; ++round) {
    for (int peer = 0; peer < ranks; ++peer) {
      const int value = rank * 1000 + peer + round;
      MPI_Request request;
      if (peer == rank) continue;
      MPI_Isend(&value, 1, MPI_INT, peer, round, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < ranks; ++i) {
      int value = -1;
      MPI_Status status;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
      if (value != status.MPI_SOURCE * 1000 + rank + round) fail("exchange", value, round);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) fail("number of ranks", ranks, 0);
  if (rank < 2) ping_pong(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  all_to_all(rank, ranks);
  allreduce(rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("mpi_check: %d ranks: ping-pong, exchange and allreduce correct\n", ranks);
  MPI_Finalize();
  return 0;
}

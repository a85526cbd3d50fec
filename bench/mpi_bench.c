// Latency, bandwidth and allreduce as MPI programs see them, for bench/mpi_bench.sh. Rank 0 prints
// a line for each figure: its name, the octets of a message, the value (us, MB/s, us).
// Usage: mpirun ... mpi_bench [TIMES] (2 ranks or more; TIMES the usual number of repetitions)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMaxBytes = 1 << 20, kWindow = 64 };

static int rank_, ranks_;
static double times_ = 1;
static char *out_, *in_;

// The number of repetitions, chosen so that all sizes take about the same time.
static int repetitions(int bytes, int most) {
  const double n = times_ * most / (1.0 + bytes / 8192.0);
  return n < 10 ? 10 : (int)n;
}

static void print(const char* figure, int bytes, double value) {
  if (rank_ == 0) printf("%s %d %.3f\n", figure, bytes, value);
}

// Half a round trip between ranks 0 and 1.
static void latency(int bytes) {
  const int n = repetitions(bytes, 5000), warm_up = n / 10 + 1, peer = 1 - rank_;
  double begin = 0;
  if (rank_ > 1) return;
  for (int i = 0; i < warm_up + n; ++i) {
    if (i == warm_up) begin = MPI_Wtime();
    if (rank_ == 0) MPI_Send(out_, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(in_, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank_ == 1) MPI_Send(out_, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
  print("latency", bytes, (MPI_Wtime() - begin) * 1e6 / n / 2);
}

// From rank 0 to rank 1, kWindow messages at a time, each window answered.
static void bandwidth(int bytes) {
  const int n = repetitions(bytes, 300), warm_up = n / 10 + 1, peer = 1 - rank_;
  MPI_Request requests[kWindow];
  double begin = 0;
  if (rank_ > 1) return;
  for (int i = 0; i < warm_up + n; ++i) {
    if (i == warm_up) begin = MPI_Wtime();
    for (int k = 0; k < kWindow; ++k) {
      if (rank_ == 0) {
        MPI_Isend(out_, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[k]);
      } else {
        MPI_Irecv(in_, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank_ == 0) MPI_Recv(in_, 0, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank_ == 1) MPI_Send(out_, 0, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
  }
  print("bandwidth", bytes, (double)bytes * n * kWindow / (MPI_Wtime() - begin) / 1e6);
}

static void allreduce(int bytes) {
  const int n = repetitions(bytes, 2000), warm_up = n / 10 + 1;
  double begin = 0;
  for (int i = 0; i < warm_up + n; ++i) {
    if (i == warm_up) begin = MPI_Wtime();
    MPI_Allreduce(out_, in_, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  print("allreduce", bytes, (MPI_Wtime() - begin) * 1e6 / n);
}

int main(int argc, char** argv) {
  static const int kSizes[] = {8, 64, 1024, 4096, 65536, kMaxBytes};
  enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  out_ = calloc(kMaxBytes, 1);
  in_ = calloc(kMaxBytes, 1);
  if (argc > 1) times_ = atof(argv[1]);
  if (ranks_ < 2 || out_ == NULL || in_ == NULL || times_ <= 0) {
    fprintf(stderr, "mpi_bench: needs 2 ranks, memory, and TIMES above 0\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  static void (*const kTests[])(int) = {latency, bandwidth, allreduce};
  for (int t = 0; t < 3; ++t) {
    for (int s = 0; s < kSizeCount; ++s) {
      kTests[t](kSizes[s]);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  free(in_);
  free(out_);
  MPI_Finalize();
  return 0;
}

// Drives one FabricEndpoint over one PacketIo, which does all the I/O. One thread at a time.
// [architecture 3, 5]
#pragma once

#include "fep/fabric_endpoint.h"

#include "io/packet_io.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace uet::fep {

class Engine {
 public:
  Engine(std::unique_ptr<FabricEndpoint> fep, std::unique_ptr<io::PacketIo> io);

  FabricEndpoint& fep() { return *fep_; }
  io::PacketIo& io() { return *io_; }

  // One bounded round: kRounds receive and kTxRounds transmit batches at most. Returns true when
  // packets moved in either direction (so the caller may want another round).
  bool progress(Instant now);

  // The first half of progress(): receives and runs timers. Packets to send wait, unless more than
  // a batch arrived.
  bool collect(Instant now);

  // Sends what may go now, bounded; receives nothing. For posts, so that a message leaves at once.
  void transmit(Instant now) { transmit(now, kTxRounds, Lead::payload); }

  // A route carries less than packets that were sent: its MTU in octets of IP packets, and the new
  // payload size; null: the report was ignored. [LF-141]
  struct PathNotice {
    FabricAddress to;
    uint32_t mtu_bytes = 0;  // 0: not known
    const pds::PathChange* change = nullptr;
  };
  // Where notices go, to be logged; from progress() and collect(). A function without an object: a
  // log line needs none.
  void report_paths_to(void (*report)(const PathNotice&)) { report_path_ = report; }

  // When progress() must run again at the latest although nothing arrives.
  Instant next_deadline() const;
  // The backend was full: it says when packets may go again.
  bool is_blocked() const { return !batch_->empty(); }
  // Packets wait that the backend did not take, or more could be sent at once.
  bool has_backlog(Work which = Work::any) const {
    return !batch_->empty() || fep_->has_work(which);
  }

 private:
  static constexpr int kRounds = 4;
  static constexpr int kTxRounds = 16;               // of a stream a batch is one burst
  static constexpr uint32_t kBulkBytes = 16 * 1024;  // of a batch behind which more may wait
  static constexpr uint32_t kAckBytes = 256 * 1024;  // received before ACKs leave at the latest
  // Rounds in a row that end after arrivals, for the application; the next one also looks at errors
  // of paths and news of domains.
  static constexpr uint32_t kArrivalRounds = 8;
  static constexpr uint32_t kBounceBytes = TxBatch::kCapacity * 16 * 1024;

  // See Pds::transmit. False: the backend is full.
  bool transmit(Instant now, int rounds, Lead lead);
  bool flush(Instant now);  // false: packets stayed behind, detached
  static bool is_unreachable(int error);
  void on_path_errors(Instant now);
  void on_domain_news(Instant now);

  std::unique_ptr<FabricEndpoint> fep_;
  std::unique_ptr<io::PacketIo> io_;
  std::unique_ptr<TxBatch> batch_;
  void (*report_path_)(const PathNotice&) = nullptr;
  uint32_t rounds_of_arrivals_ = 0;
  std::vector<std::byte> bounce_;  // empty until a backend is full for the first time
};

}  // namespace uet::fep

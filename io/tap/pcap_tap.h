// A backend that records everything sent and received through it to a pcapng file, under IP and UDP
// (or entropy) headers made up to fit, so that Wireshark and tshark read it. Recording never stops
// the traffic.
#pragma once

#include "io/layer.h"
#include "io/socket.h"
#include "io/tap/pcapng.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uet::io {

// The capture point in the file.
struct CapturedInterface {
  std::string name;
  std::string comment;  // empty: none
};

class PcapTap final : public IoLayer {
 public:
  // Opens the file and takes the backend over. In `path`, %p is replaced by the process ID. A file
  // that another capture is writing is left alone: ours then gets the process ID appended, and a
  // number. Pipes are refused. On failure null, `inner` keeps the backend, and `error` says why.
  static std::unique_ptr<PcapTap> open(std::unique_ptr<PacketIo>& inner, const std::string& path,
                                       const CapturedInterface& interface, std::string* error);
  ~PcapTap() override;
  PcapTap(const PcapTap&) = delete;
  PcapTap& operator=(const PcapTap&) = delete;

  // Records the packets that the backend took. The source port of clear ones is
  // nominal_source_port(), that of sealed ones source_port().
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;

  // Writes the buffer, and records nothing more.
  void finish() override;

  // Writes the buffer. Happens by itself when the buffer fills, within a second of traffic, and at
  // the end.
  void flush();
  const std::string& path() const { return path_; }
  // True after the first failed write, which is reported once on stderr; nothing is recorded after
  // it.
  bool failed() const { return failed_; }

 private:
  static constexpr size_t kBufferBytes = 1 << 20;
  static constexpr size_t kFlushBytes = kBufferBytes - (1 << 17);  // room for any one packet

  using Direction = PcapngPacket::Direction;

  // A datagram without its octets.
  struct Datagram {
    const FabricAddress& from;
    const FabricAddress& to;
    uint8_t dscp;
    Ecn ecn;
    uint32_t bytes;
    Entropy ev;
    Instant at;
    Direction direction;
  };

  PcapTap() = default;
  void begin_packet(const Datagram& d);
  void end_packet();
  void flush_when_due(Instant now);
  bool is_recording() const { return !failed_ && !finished_; }

  Fd file_;
  std::string path_;
  bool failed_ = false;
  bool finished_ = false;
  int64_t wall_offset_ns_ = 0;  // wall clock less monotonic clock, at opening
  Instant flushed_at_;
  std::unique_ptr<std::byte[]> buffer_;
  PcapngWriter blocks_;  // in the buffer
};

}  // namespace uet::io

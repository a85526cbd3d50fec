// What an interface needs for AF_XDP: the program, the memory, and a socket for each receive
// queue. Set up once; moves nothing. [decision 26]
#pragma once

#include "io/host/interfaces.h"
#include "io/xdp/memory.h"
#include "io/xdp/program.h"
#include "io/xdp/queue.h"

#include "base/packet.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace uet::io {

class XdpPort {
 public:
  // Frames that are with the sender; a queue never has more to send.
  static constexpr uint32_t kTxFrames = 1024;
  // Frames that a packet takes at most: room for 8192 octets of payload. Linux 6.6.
  static constexpr uint32_t kPiecesMax = 3;

  struct Settings {
    FabricAddress local;                // packets to this address and port are taken...
    uint8_t ip_protocol = 0;            // ...or, if not 0, of this protocol to this address
    Interface interface;                // that has it
    uint32_t receive_buffer_bytes = 0;  // about, of all queues; 0: kReceiveBytesDefault
    uint32_t send_buffer_bytes = 0;
    bool generic = false;  // the program runs behind the driver, whatever that can
  };

  // See XdpIo.
  static std::string why_refused();
  // On failure false, and `error` is a sentence that names the remedy.
  bool open(const Settings& settings, std::string& error);

  const XdpMemory& memory() const { return memory_; }
  // The first one sends, too: frames below kTxFrames are for that.
  std::span<XdpQueue> queues() { return {queues_.get(), queue_count_}; }
  std::span<const XdpQueue> queues() const { return {queues_.get(), queue_count_}; }
  uint32_t frames_per_queue() const { return frames_per_queue_; }
  // Octets of an IP packet that kPiecesMax frames hold, or one where the system has no more.
  uint32_t packet_bytes_max() const;
  // Frames that one packet may take.
  uint32_t pieces_max() const { return pieces_max_; }
  // The driver sends and receives without a copy.
  bool is_zero_copy() const { return is_zero_copy_; }
  // "in the driver, zero-copy", "generic": for log lines.
  std::string mode_text() const;

 private:
  static constexpr uint32_t kReceiveBytesDefault = 1 << 20;
  static constexpr uint32_t kReceiveBytesMax = 64 << 20;
  static constexpr uint32_t kFramesPerQueueMin = 64;
  static constexpr uint32_t kFramesPerQueueMax = 4096;

  bool count_queues(const Interface& interface, std::string& error);
  int open_queues(const Settings& settings);
  int open_queues(const Settings& settings, uint16_t mode);

  XdpMemory memory_;  // outlives those below
  std::unique_ptr<XdpQueue[]> queues_;
  uint32_t queue_count_ = 0;
  uint32_t frames_per_queue_ = 0;
  uint32_t pieces_max_ = 1;
  uint32_t failed_queue_ = 0;  // the error of open_queues() is about this one
  bool is_zero_copy_ = false;
  XdpProgram program_;  // the first to go
};

}  // namespace uet::io

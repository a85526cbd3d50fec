// Keys from a key agent: a process that listens on a Unix socket and sends the text of a key file,
// at first and whenever it changes. When the agent goes away the keys in use stay in use, and the
// process tries again and again to reach it. docs/key-agent.md
#pragma once

#include "keys/agent_protocol.h"
#include "keys/descriptor.h"
#include "keys/key_source.h"

#include <cstdint>
#include <string>

namespace uet::keys {

class AgentSource final : public KeySource {
 public:
  // Connects and waits for the first keys, at most for the given time in all. Throws KeyFileError
  // when no agent listens, when the agent belongs neither to root nor to our user, when it refuses,
  // and when it breaks the protocol.
  explicit AgentSource(const std::string& path, Duration patience = kPatience);

  // The keys that the agent sent last.
  KeyFile read() override;
  bool has_news(Instant now) override;
  uint64_t losses() const override { return losses_; }

  static constexpr Duration kPatience = Duration::seconds(3);
  // An agent that stays silent in the middle of a frame, or after a request, is given up.
  static constexpr Duration kAnswerTime = Duration::seconds(5);
  // Between two tries to connect: doubled from one to the other.
  static constexpr Duration kRetryMin = Duration::milliseconds(100);
  static constexpr Duration kRetryMax = Duration::seconds(5);
  // After a connection of at least this length, the waits between tries begin at the shortest
  // again.
  static constexpr Duration kGoodTime = Duration::seconds(10);

 private:
  // Octets read in one has_news: limits the time that packets wait for it.
  static constexpr int kReadsMax = 16;

  struct Outcome {
    std::string problem;      // empty: connected
    bool is_lasting = false;  // no use to try again at once
  };
  Outcome connect();
  void await_first(Duration patience);
  void reconnect(Instant now);
  bool read_frames(Instant now);
  bool on_frame(Instant now);
  void lose(const std::string& why, Instant now);
  void try_later(Instant now);
  void complain(const std::string& problem);

  Descriptor socket_;
  FrameReader reader_{FrameReader::Reads::answers};
  SecretText text_;
  std::string problem_;  // to be thrown
  std::string told_;     // was thrown; not a second time before keys come
  Instant answer_by_ = Instant::never();
  Instant good_since_ = Instant::never();  // the first keys of this connection
  Instant retry_at_ = Instant::zero();
  Duration retry_ = kRetryMin;
  uint64_t losses_ = 0;
};

}  // namespace uet::keys

// What a congestion context has to send: octets that were announced and are not sent, and octets
// that are marked to be sent again. Nominal. Receiver credit is asked for it. [CMS-014, CMS-016]
#pragma once

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class Backlog {
 public:
  // `senders`: counts those that have something to send; outlives this object.
  explicit Backlog(uint32_t& senders) : senders_(senders) {}
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  ~Backlog() {
    if (counts()) --senders_;
  }

  uint64_t new_bytes() const { return new_; }
  uint64_t resend_bytes() const { return resend_; }
  uint32_t senders() const { return senders_; }
  // Its requests for credit go unanswered: it does not count as a sender, because a dead peer would
  // reduce what the others are asked for. [CMS-126]
  void set_stalled(bool is_stalled) {
    change([&] { is_stalled_ = is_stalled; });
  }
  bool empty() const { return new_ == 0 && resend_ == 0; }

  void add(uint64_t bytes) {
    change([&] { new_ += bytes; });
  }
  // Sent, or withdrawn. What was never announced is not missed.
  void take(uint64_t bytes) {
    change([&] { new_ -= std::min(bytes, new_); });
  }
  void mark(uint32_t bytes) {
    change([&] { resend_ = (resend_ + bytes) & kMask; });
  }
  void unmark(uint32_t bytes) {
    change([&] { resend_ = (resend_ - std::min<uint64_t>(bytes, resend_)) & kMask; });
  }

 private:
  static constexpr uint64_t kMask = UINT64_MAX >> 1;

  template <class Fn>
  void change(Fn&& fn) {
    const bool has_counted = counts();
    fn();
    if (has_counted != counts()) has_counted ? --senders_ : ++senders_;
  }
  bool counts() const { return !empty() && !is_stalled_; }

  uint64_t new_ = 0;
  uint64_t resend_ : 63 = 0;
  bool is_stalled_ : 1 = false;
  uint32_t& senders_;
};

}  // namespace uet::pds

// Octets that a congestion context has to send: announced and unsent ones (`backlog` of the
// reference), and those marked for resending (`rtx_backlog`). Nominal. Receiver credit is requested
// for them; where none is in use, nothing is announced. Losses counts the marked packets of each
// PDC (`waiting_rtx`), Ccc what is in flight. [CMS-014]
#pragma once

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class Backlog {
 public:
  // `senders`: counts the contexts with octets that they may send; outlives this object.
  explicit Backlog(uint32_t& senders) : senders_(senders) {}
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  ~Backlog() {
    if (counts()) --senders_;
  }

  uint64_t new_bytes() const { return new_; }
  uint64_t resend_bytes() const { return resend_; }
  uint32_t senders() const { return senders_; }
  // Its window or its credit admits no packet, so it does not count as a sender: it leaves the port
  // to others, which then ask for more. [CMS-126]
  void set_held(bool is_held) {
    change([&] { is_held_ = is_held; });
  }
  bool empty() const { return new_ == 0 && resend_ == 0; }

  // New data. [CMS-016]
  void add(uint64_t bytes) {
    change([&] { new_ += bytes; });
  }
  // Octets were sent or withdrawn, perhaps more than were announced. [CMS-018]
  void take(uint64_t bytes) {
    change([&] { new_ -= std::min(bytes, new_); });
  }
  // A packet is to be sent again [CMS-020, CMS-021]; it was, or need not be [CMS-018, CMS-019].
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
  bool counts() const { return !empty() && !is_held_; }

  uint64_t new_ = 0;
  uint64_t resend_ : 63 = 0;
  bool is_held_ : 1 = false;
  uint32_t& senders_;
};

}  // namespace uet::pds

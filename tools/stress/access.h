// Operations on the memory of a peer: writes, reads, and atomics. One process alone uses its area
// there and knows its contents, so each read is checked.
#pragma once

#include "tools/stress/outbox.h"

namespace uet::stress {

// A range of the area that no other operation touches meanwhile.
class Range {
 public:
  // Nothing when a part of it is in use.
  static bool choose(Peer& peer, size_t bytes_max, Rng& rng, Range& range);
  static Range whole(Peer& peer);
  void lock(Peer& peer, bool busy) const;

  size_t offset = 0;
  size_t bytes = 0;
};

class Writing : public Operation {
 public:
  static std::unique_ptr<Operation> make(const Options& options, Node& node, const PeerRef& peer,
                                         uint32_t slot, uint32_t incarnation, Rng& rng);

  ssize_t post(fid_ep* ep) override;
  void on_accepted() override;
  std::unique_ptr<Operation> finish(std::string& defect) override;
  void give_up() override { range_.lock(*peer, false); }
  size_t bytes() const override { return range_.bytes; }
  std::string text() const override;

 private:
  enum class Call : uint8_t {
    write,
    data,
    message,
  };
  explicit Writing(const PeerRef& target) : Operation(Count::written, target) {}

  Range range_;
  MessageId id_;
  Call call_ = Call::message;
  uint64_t flags_ = 0;
  bool is_settled_ = true;  // when it ends, a read finds it
  std::vector<uint8_t> buffer_;
};

class Reading : public Operation {
 public:
  static std::unique_ptr<Operation> make(const Options& options, Node& node, const PeerRef& peer,
                                         Rng& rng);
  static std::unique_ptr<Operation> whole_area(const PeerRef& peer);
  // Data that an earlier run of this process has left there.
  static std::unique_ptr<Operation> learning(const PeerRef& peer);
  // After a write of the same range, which stays locked.
  static std::unique_ptr<Operation> after_write(const PeerRef& peer, const Range& range);

  ssize_t post(fid_ep* ep) override;
  std::unique_ptr<Operation> finish(std::string& defect) override;
  void give_up() override { range_.lock(*peer, false); }
  size_t bytes() const override { return buffer_.size(); }
  std::string text() const override;

 private:
  explicit Reading(const PeerRef& target) : Operation(Count::read, target) {}

  Range range_;
  uint64_t flags_ = 0;
  bool by_message_ = false;
  bool learns_ = false;
  std::vector<uint8_t> buffer_;
};

// Adds to a counter, with or without its old value, or compares and swaps.
class Adding : public Operation {
 public:
  static std::unique_ptr<Operation> make(Node& node, const PeerRef& peer, Rng& rng);

  ssize_t post(fid_ep* ep) override;
  std::unique_ptr<Operation> finish(std::string& defect) override;
  void give_up() override { peer->counter_is_busy[index_] = false; }
  size_t bytes() const override { return sizeof operand_; }
  std::string text() const override;

 private:
  enum class Call : uint8_t {
    fetch,
    swap,
    read,
    add,
  };
  explicit Adding(const PeerRef& target) : Operation(Count::atomics, target) {}

  size_t index_ = 0;
  Call call_ = Call::fetch;
  uint64_t operand_ = 0;
  uint64_t compare_ = 0;
  uint64_t old_ = 0;
};

}  // namespace uet::stress

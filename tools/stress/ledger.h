// Messages that one process has received: which of each stream came, and which must still come.
#pragma once

#include "tools/stress/message.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace uet::stress {

class Ledger {
 public:
  // Where a message lies: in receive order, and within a receive of several.
  using Place = std::pair<uint64_t, size_t>;

  // The message came. is_ordered: messages of its stream keep their order. Returns the error, or
  // nothing.
  std::string record(const MessageId& id, Place place, bool is_ordered);
  // `count` messages were sent on that stream by a process that sends no more. On all its streams
  // together `excused` messages may be missing.
  void expect(uint32_t from, uint32_t incarnation, uint32_t stream, uint32_t count,
              uint32_t excused);
  bool has_all() const;
  std::string missing() const;

 private:
  struct Incoming {
    std::vector<bool> seen;
    uint32_t count = 0;
    uint32_t expected = 0;
    std::map<uint32_t, Place> recent;  // by sequence number
  };

  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Incoming> incoming_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> excused_;
};

}  // namespace uet::stress

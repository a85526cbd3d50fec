// The records of one FabricEndpoint in a recording, in the order in which things happen.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/file.h"
#include "sim/recording/memory_book.h"

#include "base/time.h"

#include <cstdint>

namespace uet::recording {

class Tape {
 public:
  // `writer` outlives this; null: nothing is recorded, and only is_on() may be called.
  explicit Tape(Writer* writer) : writer_(writer) {}

  bool is_on() const { return writer_ != nullptr; }
  // The FabricEndpoint is about to be made.
  void begin() { number_ = writer_->next_endpoint(); }

  template <class Body>
  void write(Kind kind, const Body& body) {
    writer_->append(kind, number_, encoded(body));
  }
  void write(const MemoryBook::News& news) {
    for (const Block& block : news.blocks) write(Kind::block, block);
    for (const Content& content : news.contents) write(Kind::content, content);
  }
  void returned(uint64_t value = 0, Instant deadline = Instant::zero()) {
    write(Kind::returned, Returned{0, value, deadline});
  }
  // Records the call, makes it, and records its result.
  template <class Body, class Call>
  auto recorded(Kind kind, const Body& body, Call call) {
    write(kind, body);
    auto result = call();
    write(Kind::returned, returned_of(result));
    return result;
  }

  // The time of the progress under way.
  Instant now() const { return now_; }
  void note_now(Instant now) { now_ = now; }

 private:
  Writer* const writer_;
  uint32_t number_ = 0;
  Instant now_;
};

}  // namespace uet::recording

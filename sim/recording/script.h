// The records of a recording in their order, compared with the replay. The first difference ends
// it, because later ones follow from it.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/file.h"

#include <cstdint>
#include <optional>
#include <string>

namespace uet::recording {

// Where a replay left the recording.
struct Difference {
  size_t record = 0;  // its number in the file, from 1 on
  uint32_t endpoint = 0;
  Instant at;       // the time of the call, by the clock of its endpoint
  size_t call = 0;  // number of the call's record
  Record recorded;  // kind end: the recording ends here
  Kind kind{};      // what happened instead
  Octets body;
};

class Script {
 public:
  explicit Script(const Recording& recording) : recording_(recording) {}

  // The next call; null: none, or it is over.
  const Record* next_call();
  void call_is_at(Instant at) { at_ = at; }

  // An output of the endpoint: it must be the next record.
  void said(uint32_t endpoint, Kind kind, const Octets& body);
  template <class Body>
  void said(uint32_t endpoint, Kind kind, const Body& body) {
    said(endpoint, kind, encoded(body));
  }
  // The end of a call. A difference in the deadline alone does not end the script: an effect of it
  // shows in later packets.
  void returned(uint32_t endpoint, const Returned& returned);
  // An input that the endpoint asks for: the next record, if it is one of these. False: it is not,
  // and `out` is in its initial state.
  template <class Body>
  bool asked(uint32_t endpoint, Kind kind, Body& out) {
    const Record* const record = peek(endpoint, kind);
    if (record == nullptr) {
      differ(endpoint, kind, {});
    } else if (!decode(record->body, out)) {
      fail("broken");
    } else {
      ++next_;
      return true;
    }
    out = Body{};
    return false;
  }
  // The next record of the endpoint, if it is of that kind and all is well.
  const Record* peek(uint32_t endpoint, Kind kind) const;
  // Something else happens than the next record says.
  void differ(uint32_t endpoint, Kind kind, Octets body);

  // The recording is not one that can be replayed.
  void fail(const std::string& problem);

  bool is_over() const { return difference_.has_value() || !problem_.empty(); }
  const std::optional<Difference>& difference() const { return difference_; }
  // Calls after which the next deadline is another one, and the first of them.
  uint64_t deadlines() const { return deadlines_; }
  const std::optional<Difference>& deadline() const { return deadline_; }
  const std::string& problem() const { return problem_; }

 private:
  Difference difference(uint32_t endpoint, Kind kind, Octets body) const;

  const Recording& recording_;
  size_t next_ = 0;
  size_t call_ = 0;
  Instant at_;
  std::optional<Difference> difference_;
  std::optional<Difference> deadline_;
  uint64_t deadlines_ = 0;
  std::string problem_;
};

}  // namespace uet::recording

// Steps through the records.
#include "sim/recording/script.h"

#include <algorithm>

namespace uet::recording {

const Record* Script::next_call() {
  if (is_over() || next_ == recording_.records.size()) return nullptr;
  call_ = next_;
  return &recording_.records[next_++];
}

const Record* Script::peek(uint32_t endpoint, Kind kind) const {
  if (is_over() || next_ == recording_.records.size()) return nullptr;
  const Record& record = recording_.records[next_];
  return record.kind == kind && record.endpoint == endpoint ? &record : nullptr;
}

void Script::said(uint32_t endpoint, Kind kind, const Octets& body) {
  const Record* const record = peek(endpoint, kind);
  if (record != nullptr && std::ranges::equal(record->body, body)) {
    ++next_;
  } else {
    differ(endpoint, kind, body);
  }
}

void Script::differ(uint32_t endpoint, Kind kind, Octets body) {
  if (is_over()) return;
  Difference d;
  d.record = next_ + 1;
  d.endpoint = endpoint;
  d.at = at_;
  d.call = call_ + 1;
  if (next_ != recording_.records.size()) d.recorded = recording_.records[next_];
  d.kind = kind;
  d.body = std::move(body);
  difference_ = std::move(d);
}

void Script::fail(const std::string& problem) {
  if (is_over()) return;
  problem_ = "record " + std::to_string(std::max<size_t>(next_, 1)) + ": " + problem;
}

}  // namespace uet::recording

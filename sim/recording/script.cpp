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

void Script::returned(uint32_t endpoint, const Returned& returned) {
  const Record* const record = peek(endpoint, Kind::returned);
  Returned recorded;
  const bool is_like = record != nullptr && decode(record->body, recorded) &&
                       recorded.error == returned.error && recorded.value == returned.value;
  if (!is_like || recorded.deadline == returned.deadline) {
    return said(endpoint, Kind::returned, encoded(returned));
  }
  ++deadlines_;
  if (!deadline_) deadline_ = difference(endpoint, Kind::returned, encoded(returned));
  ++next_;
}

void Script::differ(uint32_t endpoint, Kind kind, Octets body) {
  if (!is_over()) difference_ = difference(endpoint, kind, std::move(body));
}

Difference Script::difference(uint32_t endpoint, Kind kind, Octets body) const {
  Difference d;
  d.record = next_ + 1;
  d.endpoint = endpoint;
  d.at = at_;
  d.call = call_ + 1;
  if (next_ != recording_.records.size()) d.recorded = recording_.records[next_];
  d.kind = kind;
  d.body = std::move(body);
  return d;
}

void Script::fail(const std::string& problem) {
  if (is_over()) return;
  problem_ = "record " + std::to_string(std::max<size_t>(next_, 1)) + ": " + problem;
}

}  // namespace uet::recording

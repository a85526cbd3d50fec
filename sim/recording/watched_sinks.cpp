// Writes down completions and questions for room; see watched_sinks.h.
#include "sim/recording/watched_sinks.h"

#include "base/assert.h"

#include <optional>

namespace uet::recording {

Sink WatchedSinks::shape_of(const ses::CompletionSink& sink) {
  return {sink.reserve != nullptr, sink.release != nullptr, sink.carries_data, sink.all_remote};
}

ses::CompletionSink WatchedSinks::watched(const ses::CompletionSink& sink) {
  UET_ASSERT(sink.complete != nullptr);
  WatchedSink& w = sinks_.emplace_back();
  w.all = this;
  w.number = static_cast<uint32_t>(sinks_.size() - 1);
  w.sink = sink;
  ses::CompletionSink out = sink;
  out.owner = &w;
  out.complete = on_complete;
  if (sink.reserve != nullptr) out.reserve = on_reserve;
  if (sink.release != nullptr) out.release = on_release;
  return out;
}

void WatchedSinks::on_complete(void* owner, const ses::Completion& c) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  RecordedNames& names = w.all->names_;
  Completed out = completed(w.number, c);
  out.context.op = names.number(c.context.op);
  out.context.user = c.context.user;
  if (const Pieces* const post = names.post_of(out.context)) {
    const auto at = c.buffer == nullptr ? std::nullopt : names.memory().offset_of(*post, c.buffer);
    out.buffer = at ? *at + 1 : 0;
    out.digest = names.memory().digest_of(*post, at.value_or(0), c.bytes);
  }
  w.all->tape_.write(Kind::completed, out);
  w.sink.complete(w.sink.owner, c);
}

bool WatchedSinks::on_reserve(void* owner) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  const bool answer = w.sink.reserve(w.sink.owner);
  w.all->tape_.write(Kind::reserved, Reserved{w.number, answer});
  return answer;
}

void WatchedSinks::on_release(void* owner) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  w.all->tape_.write(Kind::released, Released{w.number});
  w.sink.release(w.sink.owner);
}

}  // namespace uet::recording

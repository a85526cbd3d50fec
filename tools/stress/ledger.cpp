// Finds messages that came twice, out of order or not at all.
#include "tools/stress/ledger.h"

#include <iterator>

namespace uet::stress {
namespace {

constexpr size_t kRecent = 4096;

}  // namespace

std::string Ledger::record(const MessageId& id, Place place, bool is_ordered) {
  Incoming& in = incoming_[{id.from, id.incarnation, id.stream}];
  if (id.seq >= in.seen.size()) {
    if (id.seq > in.seen.size() + (1u << 20)) {
      return id.text() + " is far ahead of what was sent";
    }
    in.seen.resize(id.seq + 1);
  }
  if (in.seen[id.seq]) return id.text() + " came twice";
  in.seen[id.seq] = true;
  ++in.count;
  if (id.stream == kWritten || !is_ordered) return {};
  // Of two messages, the later one has taken the later receive, or the later place in one; two may
  // lie at the same place there when the first is empty.
  const auto here = in.recent.emplace(id.seq, place).first;
  const auto next = std::next(here);
  const bool is_wrong = (here != in.recent.begin() && place < std::prev(here)->second) ||
                        (next != in.recent.end() && next->second < place);
  if (in.recent.size() > kRecent) in.recent.erase(in.recent.begin());
  return is_wrong ? id.text() + " came out of order" : std::string();
}

void Ledger::expect(uint32_t from, uint32_t incarnation, uint32_t stream, uint32_t count,
                    uint32_t excused) {
  incoming_[{from, incarnation, stream}].expected = count;
  excused_[{from, incarnation}] = excused;
}

bool Ledger::has_all() const {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> excused = excused_;
  for (const auto& [key, in] : incoming_) {
    if (in.count >= in.expected) continue;
    uint32_t& left = excused[{std::get<0>(key), std::get<1>(key)}];
    const uint32_t missing = in.expected - in.count;
    if (missing > left) return false;
    left -= missing;
  }
  return true;
}

std::string Ledger::missing() const {
  std::string text;
  for (const auto& [key, in] : incoming_) {
    if (in.count >= in.expected) continue;
    const auto& [from, incarnation, stream] = key;
    text += "; of " + std::to_string(in.expected) + " messages of stream " +
            std::to_string(stream) + " from " + std::to_string(from) + "." +
            std::to_string(incarnation) + " are missing " + std::to_string(in.expected - in.count) +
            ":";
    uint32_t named = 0;
    for (uint32_t seq = 0; seq < in.expected && named < 8; ++seq) {
      if (seq < in.seen.size() && in.seen[seq]) continue;
      text += " " + std::to_string(seq);
      ++named;
    }
  }
  return text;
}

}  // namespace uet::stress

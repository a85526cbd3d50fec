// The file of `uet_ctl record`: a JSON object a line, so that written lines count however the
// recording ends. docs/howto/uet_ctl.md has the form. Limited in contexts and octets.
#pragma once

#include "tools/ctl/members.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace uet::tools {

// The numbers of a congestion context in a sample, in the order of the file.
enum class Column : uint8_t {
  window_bytes,  // 0: no window, credit alone decides
  inflight_bytes,
  waiting_bytes,  // to be sent, and to be sent again
  rtt_ns,         // 0: not known
  base_rtt_ns,    // 0: not known
  acks,           // since the context exists
  marked,
  evs,
  evs_resting,
  evs_excluded,
  credit_bytes,  // 0 without credit
};
inline constexpr std::array<const char*, 11> kColumns = {
    "window_bytes", "inflight_bytes", "waiting_bytes", "rtt_ns",
    "base_rtt_ns",  "acks",           "marked",        "evs",
    "evs_resting",  "evs_excluded",   "credit_bytes"};
using Numbers = std::array<int64_t, kColumns.size()>;
constexpr int64_t at(const Numbers& numbers, Column column) {
  return numbers[static_cast<size_t>(column)];
}

// The members that identify a context: members of the answer to `paths`, in this order.
inline constexpr std::array<const char*, 9> kNames = {
    "pid", "program", "domain", "address", "peer", "tc", "kind", "lane", "algorithm"};

inline constexpr int kRecordVersion = 1;
inline constexpr const char* kRecordMark = "uet_ctl_record";  // the first member of the first line

class Recorder {
 public:
  // `out` stays the caller's. bytes_max: of the file; contexts_max: of all domains together.
  Recorder(std::FILE* out, uint64_t bytes_max, uint32_t contexts_max)
      : out_(out), bytes_max_(bytes_max), contexts_max_(contexts_max) {}

  void begin(int64_t unix_ms, int64_t interval_ms);
  // One sample: answers to `paths`. at_us: since begin(). A new context is left out when
  // contexts_max are known. A sample that does not fit is not written at all.
  void add(int64_t at_us, const std::vector<json>& domains);
  // The last line. reason: a word.
  void end(const char* reason);

  bool is_full() const { return is_full_; }
  bool has_failed() const { return has_failed_; }  // errno says why
  uint64_t samples() const { return samples_; }
  uint64_t bytes() const { return bytes_; }
  size_t contexts() const { return indices_.size(); }
  uint64_t left_out() const { return left_out_; }  // most in one sample

 private:
  static constexpr uint64_t kEndBytes = 200;  // room that the last line needs

  void write(const std::string& lines);

  std::FILE* out_;
  uint64_t bytes_max_;
  uint32_t contexts_max_;
  std::map<std::string, uint32_t> indices_;  // by the names
  uint64_t samples_ = 0;
  uint64_t bytes_ = 0;
  uint64_t left_out_ = 0;
  bool is_full_ = false;
  bool has_failed_ = false;
};

}  // namespace uet::tools

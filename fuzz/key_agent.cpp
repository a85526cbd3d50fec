// Frames of key agents, and the key files in them. The first octet: whether the frames are those of
// processes or of agents (bit 0), and in which pieces they arrive (the rest). Then the stream.
// Frames assembled from pieces equal those of the whole; an accepted key file has the same contents
// when it is written and read again.
#include "fuzz/target.h"

#include "base/assert.h"
#include "keys/agent_protocol.h"
#include "keys/key_file.h"

#include <algorithm>
#include <string_view>

namespace {

using namespace uet;
using namespace uet::keys;

struct Stream {
  std::string_view rest;
  bool is_request = false;

  uint64_t number(size_t octets) const {
    uint64_t value = 0;
    for (size_t i = 0; i < octets; ++i) value = value << 8 | static_cast<unsigned char>(rest[i]);
    return value;
  }
  // By docs/key-agent.md, from all octets at once. 0: no frame follows.
  size_t body_max(uint64_t kind) const {
    if (is_request) return kind == 1 ? 65 : 0;
    return kind == 2 ? size_t{4} << 20 : kind == 3 ? 512 : 0;
  }
  bool has_head() const { return rest.size() >= 5; }
  bool is_broken() const {
    const uint64_t length = number(4), most = body_max(static_cast<unsigned char>(rest[4]));
    return most == 0 || length == 0 || length - 1 > most;
  }
  bool is_whole() const { return rest.size() - 4 >= number(4); }
};

void read_keys(std::string_view text) {
  std::string once;
  try {
    once = text_of(parse_key_file(text, "fuzz"));
  } catch (const KeyFileError&) {
    return;
  }
  UET_ASSERT(text_of(parse_key_file(once, "fuzz")) == once);
}

// The frame that was read is the next one of the stream.
void compare(Stream& stream, const Frame& frame) {
  UET_ASSERT(stream.has_head() && !stream.is_broken() && stream.is_whole());
  const uint64_t length = stream.number(4);
  UET_ASSERT(static_cast<uint8_t>(frame.kind) == static_cast<uint8_t>(stream.rest[4]));
  UET_ASSERT(frame.body.view() == stream.rest.substr(5, length - 1));
  stream.rest.remove_prefix(4 + length);
  if (frame.kind == FrameKind::keys) read_keys(frame.body.view());
  if (frame.kind == FrameKind::subscribe) {
    const auto parsed = parse_subscription(frame.body.view());
    UET_ASSERT(parsed.has_value() == !frame.body.view().empty());
    UET_ASSERT(!parsed || printable(parsed->process_name) == parsed->process_name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view octets(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t piece = 1 + (data[0] >> 1);
  Stream stream{octets, (data[0] & 1) != 0};
  FrameReader reader(stream.is_request ? FrameReader::Reads::requests
                                       : FrameReader::Reads::answers);
  auto progress = FrameReader::Progress::more;
  while (!octets.empty() && progress != FrameReader::Progress::broken) {
    const std::span<char> room = reader.room();
    const size_t bytes = std::min({piece, room.size(), octets.size()});
    UET_ASSERT(bytes > 0);
    std::copy_n(octets.begin(), bytes, room.begin());
    octets.remove_prefix(bytes);
    progress = reader.took(bytes);
    if (progress == FrameReader::Progress::whole) compare(stream, reader.take());
  }
  const bool is_broken = stream.has_head() && stream.is_broken();
  UET_ASSERT(is_broken == (progress == FrameReader::Progress::broken));
  UET_ASSERT(is_broken || !stream.has_head() || !stream.is_whole());
  return 0;
}

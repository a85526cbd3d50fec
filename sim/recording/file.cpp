// Writes and reads the frames of records. Their contents: calls.h, posts.h, events.h.
#include "sim/recording/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace uet::recording {
namespace {

constexpr std::array<char, 6> kMagic = {'u', 'e', 't', 'r', 'e', 'c'};
constexpr size_t kHeadBytes = kMagic.size() + 2;

struct Count {
  uint64_t records = 0;
  template <class A>
  void fields(A& a) {
    a.number(records);
  }
};

std::string parse_record(Decoder& in, Record& record) {
  const uint8_t kind = in.octet();
  in.number(record.endpoint);
  record.body = in.bytes();
  if (!in.ok()) return "it ends in the middle of a record";
  if (kind >= kKindCount) return "a record is of no kind that there is";
  record.kind = Kind{kind};
  return {};
}

std::string at_record(size_t number, const std::string& problem) {
  return "record " + std::to_string(number) + ": " + problem;
}

}  // namespace

const char* name(Kind kind) {
  constexpr const char* kNames[] = {
      "end",           "create",         "use_engine", "block",       "content",     "open_shared",
      "open_endpoint", "close_endpoint", "find_peer",  "keep_peer",   "add_region",  "send",
      "rma",           "atomic",         "receive",    "cancel",      "close_all",   "progress",
      "datagrams",     "transmit",       "on_sent",    "advance",     "unreachable", "too_long",
      "destroy",       "packets",        "fates",      "path_errors", "route_mtu",   "reserved",
      "released",      "completed",      "returned",   "ended"};
  static_assert(std::size(kNames) == kKindCount);
  return kNames[static_cast<size_t>(kind)];
}

std::unique_ptr<Writer> Writer::create(const std::string& path, const About& about,
                                       std::string& problem) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    problem = path + ": " + std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<Writer> writer(new Writer(path, file));
  Octets head(kHeadBytes);
  std::memcpy(head.data(), kMagic.data(), kMagic.size());
  head[kMagic.size()] = std::byte{kFormatVersion & 0xFF};
  head[kMagic.size() + 1] = std::byte{kFormatVersion >> 8};
  writer->write(head);
  Encoder framed;
  framed.octets(encoded(about));
  writer->write(framed.written());
  return writer;
}

Writer::~Writer() {
  if (file_ != nullptr) std::fclose(file_);
}

void Writer::write(const Octets& octets) {
  if (octets.empty()) return;
  failed_ |= std::fwrite(octets.data(), 1, octets.size(), file_) != octets.size();
}

void Writer::append(Kind kind, uint32_t endpoint, const Octets& body) {
  head_.clear();
  head_.number(static_cast<uint8_t>(kind));
  head_.number(endpoint);
  head_.number(body.size());
  write(head_.written());
  write(body);
  ++records_;
}

std::string Writer::finish() {
  append(Kind::end, 0, encoded(Count{records_}));
  failed_ |= std::fclose(file_) != 0;
  file_ = nullptr;
  return failed_ ? path_ + ": could not be written" : std::string();
}

std::string parse(Recording& out) {
  const std::span<const std::byte> octets(out.octets);
  if (octets.size() < kHeadBytes || std::memcmp(octets.data(), kMagic.data(), kMagic.size()) != 0) {
    return "it is not a recording";
  }
  const auto low = static_cast<unsigned>(octets[kMagic.size()]);
  const unsigned version = low | static_cast<unsigned>(octets[kMagic.size() + 1]) << 8;
  if (version != kFormatVersion) {
    return "its format is version " + std::to_string(version) + ", this program knows version " +
           std::to_string(kFormatVersion);
  }
  Decoder in(octets.subspan(kHeadBytes));
  if (!decode(in.bytes(), out.about)) return "its first lines are not those of a recording";
  out.records.clear();
  Count count;
  for (;;) {
    if (in.is_at_end()) return "it ends before its last record";
    Record record;
    const std::string problem = parse_record(in, record);
    if (!problem.empty()) return at_record(out.records.size() + 1, problem);
    if (record.kind == Kind::end) {
      if (!decode(record.body, count)) return "its last record is broken";
      break;
    }
    out.records.push_back(record);
  }
  if (count.records != out.records.size()) return "it has lost records";
  if (!in.is_at_end()) return "something follows its last record";
  return {};
}

std::string read(const std::string& path, Recording& out) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::strerror(errno);
  out.octets.clear();
  std::array<std::byte, 65536> part{};
  for (size_t got = 1; got != 0;) {
    got = std::fread(part.data(), 1, part.size(), file);
    out.octets.insert(out.octets.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(got));
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? "it cannot be read" : parse(out);
}

}  // namespace uet::recording

// The file of a recording: "uetrec", the version of the format (two octets, the low one first),
// what it is a recording of, and records up to the last one, which has their number. A record is
// its kind (an octet), the number of the FabricEndpoint, and the length of what follows.
#pragma once

#include "sim/recording/codec.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace uet::recording {

// Changes whenever a record changes, so that no program misreads another one's file.
inline constexpr uint16_t kFormatVersion = 1;

enum class Kind : uint8_t {
  end,  // of the recording
  // Calls, and memory as a call finds it.
  create,
  use_engine,
  block,
  content,
  open_shared,
  open_endpoint,
  close_endpoint,
  find_peer,
  keep_peer,
  add_region,
  send,
  rma,
  atomic,
  receive,
  cancel,
  close_all,
  progress,   // of the Engine
  datagrams,  // to the FabricEndpoint; inside progress the packets of the Engine
  transmit,
  on_sent,
  advance,
  unreachable,
  too_long,
  destroy,
  // Inside calls.
  packets,
  fates,
  path_errors,
  route_mtu,
  reserved,
  released,
  completed,
  returned,
  ended,
};
inline constexpr uint8_t kKindCount = static_cast<uint8_t>(Kind::ended) + 1;
const char* name(Kind kind);

struct About {
  std::string source;  // the program that made it
  std::string name;    // of the run: "seed 17", the name of a case
  uint64_t seed = 0;
  template <class A>
  void fields(A& a) {
    a.text(source);
    a.text(name);
    a.word(seed);
  }
};

struct Record {
  Kind kind{};
  uint32_t endpoint = 0;
  std::span<const std::byte> body;  // in Recording::octets
};

class Writer {
 public:
  // Makes the file. Null, and why: that failed.
  static std::unique_ptr<Writer> create(const std::string& path, const About& about,
                                        std::string& problem);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The number of a new FabricEndpoint.
  uint32_t next_endpoint() { return endpoints_++; }
  void append(Kind kind, uint32_t endpoint, const Octets& body);
  // Writes the last record. Returns why the file is not whole, or nothing.
  std::string finish();

 private:
  Writer(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void write(const Octets& octets);

  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
  uint32_t endpoints_ = 0;
  uint64_t records_ = 0;
  Encoder head_;
};

struct Recording {
  About about;
  Octets octets;  // of the file
  std::vector<Record> records;
};

// Reads a file. Returns the error, or nothing.
std::string read(const std::string& path, Recording& out);
// The same of the octets in `out`.
std::string parse(Recording& out);

}  // namespace uet::recording

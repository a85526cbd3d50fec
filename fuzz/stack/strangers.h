// Many addresses that knock at once, and what those of them answer that hear what is sent to them.
// The others are forged: they get no more than three times the octets that came in their name.
// [T-01, PDS-251, PDS-252]
#pragma once

#include "fuzz/stack/ledger.h"
#include "fuzz/stack/program.h"
#include "fuzz/stack/wire.h"

#include "wire/pds.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace uet::fuzz {

class Strangers {
 public:
  static constexpr uint32_t kFirst = 16;  // their addresses
  static constexpr uint32_t kCount = 64;
  static constexpr uint32_t kEvery = 8;  // one of so many hears us

  // A burst of packets like each other, from addresses next to each other: first packets of
  // messages, Close commands, or ACKs for nobody.
  std::vector<WirePacket> knock(Program& program, Instant now);
  // A packet that an end sent. Counts what goes to the forged ones, and lets the others answer.
  void hear(const WirePacket& packet, Instant now);
  // What they have answered since the last call.
  std::vector<WirePacket> answers() { return std::exchange(answers_, {}); }

 private:
  struct Account {
    uint64_t came = 0;
    uint64_t went = 0;
  };
  static bool is_real(uint32_t number) { return number % kEvery == 0; }
  WirePacket request(uint32_t number, const FabricAddress& to, const wire::Request& h,
                     Instant now) const;
  void follow(const WirePacket& packet, const wire::Request& h, Instant now);

  std::map<uint32_t, Account> accounts_;  // of the forged ones, by number
  std::vector<WirePacket> answers_;
};

}  // namespace uet::fuzz

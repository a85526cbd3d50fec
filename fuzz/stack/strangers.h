// A flood from many addresses. Most are forged; the others receive packets and answer them. Checks
// that a forged address gets at most three times the octets that came from it, in the clear. [T-01,
// PDS-251, PDS-252]
#pragma once

#include "fuzz/stack/ledger.h"
#include "fuzz/stack/program.h"

#include "sim/world/datagram.h"
#include "wire/pds.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace uet::fuzz {

class Strangers {
 public:
  // `is_sealed`: the sender has the key of its address, and is proven.
  explicit Strangers(bool is_sealed) : is_sealed_(is_sealed) {}

  static constexpr uint32_t kFirst = 16;  // their addresses
  static constexpr uint32_t kCount = 64;
  static constexpr uint32_t kEvery = 8;  // one in this many is real

  // A burst of equal packets from consecutive addresses: SYNs with a message, Close commands, or
  // ACKs without a PDC.
  std::vector<sim::Datagram> knock(Program& program, Instant now);
  // A packet that an endpoint sent: counted if its receiver is forged, answered if it is real.
  void hear(const sim::Datagram& packet, Instant now);
  // Takes the answers since the last call.
  std::vector<sim::Datagram> answers() { return std::exchange(answers_, {}); }

 private:
  struct Account {
    uint64_t came = 0;
    uint64_t went = 0;
  };
  static bool is_real(uint32_t number) { return number % kEvery == 0; }
  sim::Datagram request(uint32_t number, const FabricAddress& to, const wire::Request& h,
                        Instant now) const;
  void follow(const sim::Datagram& packet, const wire::Request& h, Instant now);

  bool is_sealed_;
  std::map<uint32_t, Account> accounts_;  // of the forged ones, by number
  std::vector<sim::Datagram> answers_;
};

}  // namespace uet::fuzz

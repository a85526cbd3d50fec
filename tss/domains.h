// The secure domains of one end (the SDKDB), and their common state: ready keys, sources, the
// budget for deriving keys. One for each engine, like all of the stack. [TSS-106]
#pragma once

#include "tss/domain.h"

#include <optional>
#include <span>

namespace uet::tss {

struct DomainsConfig {
  uint32_t domains = 256;                   // [TSS-106]
  uint32_t ready_keys = 4096;               // contexts, about 1.3 KiB each [TSS-106]
  uint32_t sources = 4096;                  // sources with a known epoch
  uint32_t replay_packets = kReplayBits;    // window of a source; a power of two [TSS-071]
  uint32_t members = 4096;                  // of all lists of members together
  uint32_t clients = 4096;                  // of all lists of clients together [TSS-147]
  uint32_t derivations_per_second = 20000;  // that received packets may cause [T-14]
  uint32_t derivations_at_once = 1000;
  bool operator==(const DomainsConfig&) const = default;
};

// Derivations that received packets may still cause. Those of authentic packets are returned.
// [T-14]
class DerivationBudget {
 public:
  void create(uint32_t per_second, uint32_t at_once);
  [[nodiscard]] bool take(Instant now);
  void give_back();

 private:
  int64_t per_second_ = 0;
  int64_t room_ns_ = 0;  // of at_once derivations
  int64_t left_ns_ = 0;  // a derivation costs a second / per_second
  Instant filled_;
};

class Domains {
 public:
  // A set-up act. `secrets` are two for each domain, zero, and outlive this object. The ciphers are
  // tried on known vectors: Errc::unsupported when they give something else. [TSS-133]
  Result<void> create(Arena& arena, const DomainsConfig& config, std::span<KeySecret> secrets,
                      uint64_t seed);

  // Errc::invalid: problem_of() says why; Errc::exists; Errc::again: the table is full.
  Result<SecureDomain*> add(const DomainTerms& terms, wire::IpFamily family);
  // Overwrites its keys and forgets it.
  void remove(uint32_t sdi);
  // Null: there is no such domain.
  SecureDomain* find(uint32_t sdi);

  // A key with a unique serial number. Errc::not_found without the domain.
  Result<void> install(const Key& key, Instant now, Instant expires = Instant::never());
  // A source that a domain with has_members takes. Errc::again: no room. It is removed with the
  // domain. [TSS-088]
  Result<void> add_member(uint32_t sdi, const Identity& source);
  bool is_member(uint32_t sdi, const Identity& source) const;

  // The client with this address in a domain of mode server with SSI: packets to it carry its SSI,
  // and packets from it must. Errc::exists: the address has one already; Errc::again: no room. It
  // is removed with the domain. [TSS-147]
  Result<void> add_client(uint32_t sdi, const wire::IpAddress& address, uint32_t ssi);
  std::optional<uint32_t> client_of(uint32_t sdi, const wire::IpAddress& address) const;

  // Overwrites expired keys.
  void run(Instant now);
  Instant deadline();

  KeyCache& keys() { return keys_; }
  Sources& sources() { return sources_; }
  DerivationBudget& budget() { return budget_; }
  // Counters of packets without a domain.
  void count(Count c) { port_counts_.add(c); }
  const Counts& port_counts() const { return port_counts_; }
  // Counters of the port and all domains, including removed ones.
  Counts total_counts();

 private:
  struct Member {
    uint32_t sdi;
    Identity source;
    bool operator==(const Member&) const = default;
    friend uint64_t hash_of(const Member& m, uint64_t seed) {
      return hash64(hash_of(m.source, seed), m.sdi, seed);
    }
  };

  template <class Map>
  static void forget(Map& map, uint32_t sdi);

  std::span<KeySecret> secrets_;
  KeyCache keys_;
  Sources sources_;
  Slab<SecureDomain> domains_;
  HashMap<uint32_t, SecureDomain*> by_sdi_;
  HashMap<Member, bool> members_;
  HashMap<Member, uint32_t> clients_;  // by their addresses
  DerivationBudget budget_;
  Counts port_counts_;
  Counts removed_counts_;
  SecureDomain* last_ = nullptr;
  uint32_t next_serial_ = 1;
};

}  // namespace uet::tss

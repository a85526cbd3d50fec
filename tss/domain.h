// A secure domain at this end: its terms, its two keys and their rollover, its counters. Keys come
// from outside, and so does every number that may be used with them. [TSS-045..053]
#pragma once

#include "tss/counts.h"
#include "tss/epoch.h"
#include "tss/kdf.h"
#include "tss/key.h"
#include "tss/key_cache.h"
#include "tss/sources.h"
#include "tss/tx_counter.h"

#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace uet::tss {

// Reaction to many forged packets in one second. [TSS-107]
enum class ForgeryAction : uint8_t {
  alarm,
  latch,  // refuse every packet until reset; a sender of forged packets can then stop the domain
};

// The parameters that both ends agree on, apart from the keys; both must have the same mode and
// use_ssi.
struct DomainTerms {
  uint32_t sdi = 0;  // 1 to 2^24 - 1
  Mode mode = Mode::cluster;
  bool use_ssi = false;         // the header has an SSI [TSS-017]
  uint32_t ssi = 0;             // our SSI; mode server has none [TSS-033]
  bool shares_address = false;  // other processes also send from our address [TSS-042]
  bool rejects_late = true;     // epoch_based_rejection [TSS-054]
  uint16_t epoch_lifetime_max = kEpochLifetimeMax;
  uint64_t counter_end = kCounterMax;  // invoke_fatal_threshold: this counter value is not used
                                       // [TSS-041]
  bool strict_direction = false;    // mode server with SSI: refuse counters of our half [TSS-044]
  bool has_clients = false;         // mode server with SSI: of Domains::add_client [TSS-147]
  bool has_members = false;         // only sources of the list are taken [TSS-088]
  bool is_multi_counter = false;    // a source may count several times: no replay check [TSS-071]
  bool checks_all_replays = false;  // of packets with a PDC, too [TSS-071]
  uint32_t forgeries_max = 1000;    // auth_fail_threshold, in a second [TSS-105]
  ForgeryAction forgery_action = ForgeryAction::alarm;
  Duration guard = Duration::seconds(60);   // time for which both keys open packets [TSS-047]
  Duration closing = Duration::seconds(5);  // time for started operations to end after the domain
                                            // is removed
  Duration lifetime = Duration::seconds(24 * 60 * 60);  // rotate after that [TSS-051]
};

// Why a domain cannot be had with these terms on an address of that family; null: it can.
// [TSS-015, TSS-016, TSS-042]
const char* problem_of(const DomainTerms& terms, wire::IpFamily family);

// The secret part of a key, and the counters that may be used with it. Must lie in locked memory
// that is left out of core dumps and is zero in forked children: zero counters seal nothing.
// [TSS-043, TSS-136]
struct KeySecret {
  std::array<std::byte, kSdkBytes> secret{};
  std::array<std::byte, kIvMaskBytes> iv_mask{};
  TxCounter counter;
};

// One of the two keys.
struct KeySlot {
  uint32_t serial = 0;  // of this installation; 0: no key
  Key key;              // without its secret and IV mask
  KeySecret* secret = nullptr;
  Kdf kdf;                        // cluster and server: of the master
  uint16_t epoch = 0;             // of what we send
  std::optional<uint16_t> floor;  // epochs of sources that nothing is known of are judged by it
  Instant installed;
  Instant retires = Instant::never();  // after the guard time
  Instant expires = Instant::never();  // by its own terms
  Instant ends() const { return std::min(retires, expires); }

  bool is_live(Instant now) const { return serial != 0 && now < ends(); }
};

// Why a key should be replaced. [TSS-051]
enum class Rotation : uint8_t {
  not_due,
  age,      // older than the lifetime
  packets,  // 2^47 packets, or 2^32 under one derived key
  used_up,  // no counter is left
};

class SecureDomain {
 public:
  // `secrets`: of AN 0 and AN 1. The caches outlive the domain. Fails like Aead::create.
  Result<void> create(const DomainTerms& terms, std::span<KeySecret, 2> secrets, KeyCache& keys,
                      Sources& sources);

  // Puts a key in the free slot of its AN; it is good for receiving at once, and for transmitting
  // after transmit_with(). Errc::invalid: of another domain or mode; Errc::exists: that AN has a
  // key; Errc::io: the cipher library failed. `serial` is new for each installation. [TSS-045]
  Result<void> install(const Key& key, uint32_t serial, Instant now,
                       Instant expires = Instant::never());
  // Packets are sealed with the key of this AN from now on; the other key stays valid for receiving
  // during the guard time. Errc::not_found without such a key. [TSS-046..048]
  Result<void> transmit_with(bool an, Instant now);
  // A key that is installed is good until then, if its guard time is not over before.
  void expire(bool an, Instant at) { slot(an).expires = at; }
  // Overwrites a key at once.
  void remove(bool an);
  // Overwrites expired keys. [TSS-048]
  void retire_due(Instant now);
  Instant deadline() const;

  // The first counters of a new key are these; see TxCounter. A grant with `from` where the last
  // one ended extends it. [TSS-043]
  void grant(bool an, uint64_t from, uint64_t until);
  // The first epoch of a key that has sent nothing. Errors as below. [TSS-052]
  Result<void> start_epoch(bool an, uint16_t epoch);
  // This end left and joined again with the same key, says its key manager. Epochs only advance.
  // Errc::invalid for an older one, and for a client, whose key is for one epoch. [TSS-052,
  // TSS-053]
  Result<void> advance_epoch(bool an, uint16_t epoch);
  // Sources that nothing is known of are judged as if this epoch were theirs; none: all of their
  // epochs are good. [TSS-055]
  void set_epoch_floor(bool an, std::optional<uint16_t> epoch);
  Rotation rotation_due(Instant now) const;

  // For Sealer and Opener.
  const DomainTerms& terms() const { return terms_; }
  KeySlot& slot(bool an) { return slots_[an ? 1 : 0]; }
  // The key to transmit with; null: there is none.
  KeySlot* tx_slot(Instant now);
  void count(Count c) { counts_.add(c); }
  const Counts& counts() const { return counts_; }

  // A packet with a wrong ICV came. [TSS-107]
  void on_forgery(Instant now);
  bool is_latched() const { return is_latched_; }
  bool is_alarmed() const { return is_alarmed_; }
  void reset_alarm() { is_alarmed_ = is_latched_ = false; }

 private:
  // Forgeries of this second and of the one before.
  struct Forgeries {
    Instant second;
    uint32_t before = 0;
    uint32_t now = 0;
  };

  uint64_t first_counter() const;
  uint64_t counter_end() const;
  bool make_ready(KeySlot& slot);

  DomainTerms terms_;
  std::array<KeySlot, 2> slots_;
  KeyCache* keys_ = nullptr;
  Sources* sources_ = nullptr;
  bool has_tx_ = false;
  bool tx_an_ = false;
  bool is_alarmed_ = false;
  bool is_latched_ = false;
  Forgeries forgeries_;
  Counts counts_;
};

}  // namespace uet::tss

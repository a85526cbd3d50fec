// Keeps the secure domains of a running end as its key file or key agent states them: installs and
// removes keys after a reload, and grants counters from the file of marks. Connects the sources of
// keys with tss.
#pragma once

#include "keys/changes.h"
#include "keys/counter_marks.h"
#include "keys/key_file.h"
#include "keys/key_source.h"

#include "tss/domains.h"
#include "tss/policy.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::keys {

struct KeyringPaths {
  std::string counters;  // of this host
  std::string log;       // key log; empty: none
};

// The present, by both scales: keys expire by the calendar.
struct Present {
  Instant now;
  int64_t unix_seconds = 0;
};

// A change of a whole domain. [TSS-146]
struct DomainEvent {
  enum class Kind : uint8_t {
    closing,  // it is named no more; its keys stay for DomainTerms::closing
    gone,     // its keys are overwritten
    back,     // it is named (again)
  };
  Kind kind;
  uint32_t sdi = 0;
  Duration left;  // closing: until it is gone
  bool operator==(const DomainEvent&) const = default;
};

class Keyring {
 public:
  // Makes the domains that the source names. `own` is the address that packets leave with. Throws
  // KeyFileError; `domains`, which outlives this object, is to be thrown away then.
  Keyring(std::unique_ptr<KeySource> source, const KeyringPaths& paths, const wire::IpAddress& own,
          tss::Domains& domains, Present present);

  // Whether reload() is due: KeySource::has_news.
  bool has_news(Instant now) { return source_->has_news(now); }

  // Reads the keys again, applies the differences, and grants counters as run() does. Throws
  // KeyFileError if the keys cannot be read or are wrong: then nothing was changed, and the old
  // keys stay in use. Also if a change is not possible, such as one domain too many: all other
  // changes were made. A domain that is not named any more goes when its time to close is over;
  // run() ends it.
  std::vector<Change> reload(Present present);

  // Overwrites expired keys, and grants counters where less than half of a grant is left: call it
  // regularly, several times a second under load. Throws KeyFileError when a mark cannot be
  // written; counters granted before may still be used.
  void run(Instant now);

  // Changes since the last call, oldest first.
  std::vector<DomainEvent> take_events() { return std::exchange(events_, {}); }
  // When run() is due.
  Instant deadline() const;

  const KeyFile& file() const { return file_; }
  const KeySource& source() const { return *source_; }

 private:
  // A domain that is named no more, with its keys: counters are still granted.
  struct Closing {
    DomainEntry entry;
    Instant until;
  };

  void apply(const Change& change, const KeyFile& before, Present present);
  void make_anew(const DomainEntry& entry, Present present);
  void begin_closing(const DomainEntry& entry, Instant now);
  void end_closing(const Closing& over);
  void grant(const DomainEntry& entry);
  void transmit(const DomainEntry& entry, Present present);
  void set_epochs(const DomainEntry& entry, bool an);
  void move_expiry(const DomainEntry& entry, bool an, Present present);
  static Instant expiry_of(const KeyEntry& key, Present present);
  void add_domain(const DomainEntry& entry);
  void add_key(const DomainEntry& entry, bool an, Present present);
  void grant(tss::SecureDomain& domain, const KeyEntry& key);
  void log(const tss::Key& key) const;
  std::string source_of(const tss::DomainTerms& terms) const;

  std::unique_ptr<KeySource> source_;
  KeyringPaths paths_;
  wire::IpAddress own_;
  tss::Domains& domains_;
  CounterMarks marks_;
  KeyFile file_;
  std::vector<Closing> closing_;
  std::vector<DomainEvent> events_;
};

// Binds the jobs of all domains of the file; a domain without jobs gets all that no domain lists.
// Other jobs may not talk, whether in the clear or not. Errors of JobTable::bind; Errc::exists,
// too: two domains are without jobs. [TSS-074, TSS-077]
Result<void> bind_jobs(const KeyFile& file, tss::JobTable& jobs);

// Appends a line to a key log: with one write, to a file that only its owner may read. Throws
// KeyFileError. docs/reference/key-file.md
void append_to_key_log(const std::string& path, const tss::Key& key);

}  // namespace uet::keys

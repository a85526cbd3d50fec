// Address vector: the libfabric object around AvTables. It reads addresses, resolves names, agrees
// on payloads with peers and says how insertions ended. FI_AV_MAP uses indices too. [LF-012..016]
#pragma once

#include "prov/uet/address/address.h"
#include "prov/uet/address/av_keys.h"
#include "prov/uet/address/av_tables.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/domain/domain.h"

#include "ses/types.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::prov {

class EventQueue;
class PeerReceives;

class AddressVector {
 public:
  using Link = FidLink<fid_av, AddressVector>;
  static fi_ops* fid_ops();

  // The domain's av_open operation.
  static int open(Domain& domain, fi_av_attr* attr, fid_av** fid, void* context);
  ~AddressVector();
  // -FI_EBUSY while an endpoint is bound to it.
  int close();
  int bind(struct fid* fid, uint64_t flags);

  Domain& domain() { return domain_; }
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

  // The table of its entries for endpoints of that engine; the lock of the engine is held.
  AvTable& table(const DomainEngine& engine) { return tables_.of(engine); }
  // The keys of a domain with FI_AV_AUTH_KEY; other domains have none here. [LF-019]
  AvKeys& keys() { return keys_; }

  // Called after each insertion. Set-up lock held.
  std::vector<PeerReceives*>& listeners() { return listeners_; }

  // The operations behind struct fi_ops_av.
  int insert(const void* addresses, size_t count, fi_addr_t* out, uint64_t flags, void* context);
  int insert_named(const char* node, size_t node_count, const char* service, size_t service_count,
                   fi_addr_t* out, uint64_t flags, void* context);
  int remove(const fi_addr_t* addresses, size_t count, uint64_t flags);
  int lookup(fi_addr_t address, void* data, size_t* length);
  const char* to_text(const void* address, char* buf, size_t* length) const;
  int insert_auth_key(const void* key, size_t bytes, fi_addr_t* out, uint64_t flags);
  int lookup_auth_key(fi_addr_t address, void* key, size_t* bytes);
  int set_user_id(fi_addr_t address, fi_addr_t id, uint64_t flags);

 private:
  // Where the outcome of an insertion call goes.
  struct Insertion {
    fi_addr_t* out = nullptr;
    uint64_t flags = 0;
    void* context = nullptr;  // with FI_SYNC_ERR an array of int
  };

  AddressVector(Domain& domain, const fi_av_attr& attr, void* context);
  int check(const Insertion& insertion) const;
  template <class Next>
  int insert_all(const Insertion& insertion, size_t count, Next&& next);
  Result<fi_addr_t> add(const UetAddress& address, JobId job, const fi_addr_t* user_id);
  Result<ses::Destination> reach(const UetAddress& address, JobId job, const DomainEngine& engine);
  void fail(const Insertion& insertion, size_t position, Errc why);
  int report(const Insertion& insertion, size_t good);
  int remove_one(fi_addr_t address);
  int remove_key(fi_addr_t key);

  Link link_;
  Domain& domain_;
  EventQueue* eq_ = nullptr;
  const bool has_events_;  // FI_EVENT: insertions end in an event
  const bool has_ids_;     // FI_AV_USER_ID: addresses get names of the application later
  std::atomic<uint32_t> refs_{0};
  const uint32_t addr_format_;
  AvTables tables_;
  AvKeys keys_;
  std::vector<PeerReceives*> listeners_;
};

}  // namespace uet::prov

// The authorization keys of an address vector: the JobIDs of its addresses, and of the endpoints
// and regions that use it. Used by domains that were opened with FI_AV_AUTH_KEY. [LF-019]
#pragma once

#include "prov/uet/api/compat.h"

#include "base/packet.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::prov {

// auth_key_size of a domain whose keys are in its address vectors: FI_AV_AUTH_KEY. [LF-108]
inline constexpr size_t kKeysFromAv = SIZE_MAX;
// The fi_addr_t beside it is a key's: FI_AUTH_KEY.
inline constexpr uint64_t kAuthKeyFlag = 1ULL << 57;
// Keys of one address vector, and so of one endpoint: max_ep_auth_key.
inline constexpr size_t kKeysMax = 64;

class AvKeys {
 public:
  // Errc::again: as many as are possible are there. The same job twice is two keys.
  Result<fi_addr_t> add(JobId job);
  // -FI_EINVAL: no such key; -FI_EBUSY: an endpoint was enabled with it.
  int remove(fi_addr_t key);
  // The JobID of a key, or null.
  const JobId* find(fi_addr_t key) const;
  // The first key of that job, or FI_ADDR_NOTAVAIL.
  fi_addr_t of(JobId job) const;
  // The present keys.
  std::vector<JobId> jobs() const;

  // hold() returns all present keys, for an endpoint that is enabled with them; none of them can be
  // removed until the endpoint releases the same ones.
  std::vector<fi_addr_t> hold();
  void release(const std::vector<fi_addr_t>& held);

 private:
  // This bit distinguishes a key from an address: fi_av_lookup_auth_key takes either.
  static constexpr fi_addr_t kIsKey = fi_addr_t{1} << 40;

  struct Key {
    JobId job;
    uint32_t endpoints = 0;
    bool live = false;
  };
  Key* at(fi_addr_t key);
  const Key* at(fi_addr_t key) const;

  std::vector<Key> keys_;
};

}  // namespace uet::prov

// Takes the packets that a FabricEndpoint sends and hands them on as octets, for tests that are the
// network between endpoints.
#pragma once

#include "fep/fabric_endpoint.h"

#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace uet::fep::test {

class Outbox {
 public:
  // Calls deliver(const TxPacket&, std::vector<std::byte>& octets) for each packet that `from`
  // sends now, at most `batches` batches of them. deliver() may call receive() of another endpoint.
  template <class Deliver>
  void empty(FabricEndpoint& from, Instant now, int batches, Deliver&& deliver) {
    for (int i = 0; i < batches && from.transmit(*batch_, now) != 0; ++i) {
      for (TxPacket& p : batch_->packets()) {
        std::vector<std::byte> octets(p.header, p.header + p.header_bytes);
        for (uint32_t s = 0; s < p.slice_count; ++s) {
          octets.insert(octets.end(), p.slices[s].data, p.slices[s].data + p.slices[s].length);
        }
        p.fate = TxFate::sent;
        deliver(p, octets);
      }
      batch_->compact();
    }
  }

 private:
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
};

}  // namespace uet::fep::test

// Asks for the memory that packets will need, for a caller that knows which ones come soon: with
// thousands of endpoints in a process the state of each is in no cache by its turn. Each function
// follows addresses in what the one before has asked for, so there is to be some time between them.
#pragma once

#include "pds/pds.h"

#include <cstddef>
#include <span>

namespace uet::pds {

class Fetch {
 public:
  explicit Fetch(const Pds& pds) : parts_(pds.parts_) {}

  // What every packet needs.
  void sublayer() const;
  // Where the PDC is found that a datagram is most likely for; nothing has been checked yet.
  void id(std::span<const std::byte> datagram) const;
  // That PDC.
  void pdc(std::span<const std::byte> datagram) const;
  // What it points to.
  void rest(std::span<const std::byte> datagram) const;
  // The message that it sends; 0: none.
  MessageHandle sending(std::span<const std::byte> datagram) const;

 private:
  const Parts& parts_;
};

}  // namespace uet::pds

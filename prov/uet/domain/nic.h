// fi_info.nic: a deep-copied description of the network interface that copies and frees itself.
// [LF-087, ABI-025]
#pragma once

#include "prov/uet/api/shim.h"

#include "io/host/interfaces.h"

#include <cstddef>
#include <string>

namespace uet::prov {

// The fid and all it points to, in one object.
class Nic {
 public:
  using Link = FidLink<fid_nic, Nic>;

  // `backend`: the text for the name of the driver.
  Nic(const io::Interface& interface, std::string backend);
  Nic(const Nic& other);
  Nic& operator=(const Nic&) = delete;

  fid_nic* fid() { return &link_.fid; }

  int close();
  // FI_DUP: a copy to the fid_nic* at `arg`.
  int control(int command, void* arg) const;
  // For fi_tostr() and so for fi_info -v: appends to the text in `buf`, which has room for `room`
  // more octets.
  static int print(const fid_nic& nic, char* buf, size_t room);

 private:
  void connect();

  Link link_;
  std::string name_;
  std::string driver_;
  std::string mac_;
  std::string network_type_;
  fi_device_attr device_attr_{};
  fi_bus_attr bus_attr_{};
  fi_link_attr link_attr_{};
};

}  // namespace uet::prov

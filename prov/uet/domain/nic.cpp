// fi_info.nic; see nic.h.
#include "prov/uet/domain/nic.h"

#include "prov/uet/api/tables.h"
#include "prov/uet/domain/backend.h"
#include "prov/uet/domain/info.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace uet::prov {
namespace {

std::string mac_text(const io::Interface& interface) {
  char text[18];
  const auto& m = interface.mac;
  snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
  return text;
}

}  // namespace

Nic::Nic(const io::Interface& interface, std::string backend)
    : name_(interface.name),
      driver_(std::move(backend)),
      mac_(mac_text(interface)),
      network_type_("Ethernet") {
  link_attr_.mtu = interface.mtu_bytes;
  link_attr_.speed = interface.speed_bps;
  link_attr_.state = FI_LINK_UP;  // only interfaces that are up are offered
  connect();
}

Nic::Nic(const Nic& other)
    : name_(other.name_),
      driver_(other.driver_),
      mac_(other.mac_),
      network_type_(other.network_type_),
      link_attr_(other.link_attr_) {
  connect();
}

int Nic::close() {
  delete this;
  return 0;
}

int Nic::control(int command, void* arg) const {
  if (command != FI_DUP || arg == nullptr) return -FI_ENOSYS;
  *static_cast<fid_nic**>(arg) = std::make_unique<Nic>(*this).release()->fid();
  return 0;
}

int Nic::print(const fid_nic& nic, char* buf, size_t room) {
  char* const end = buf + std::strlen(buf);
  snprintf(end, room,
           "    nic:\n"
           "        fi_device_attr:\n"
           "            name: %s\n"
           "            driver: %s\n"
           "        fi_link_attr:\n"
           "            address: %s\n"
           "            mtu: %zu\n"
           "            speed: %zu\n"
           "            state: FI_LINK_UP\n"
           "            network_type: %s\n",
           nic.device_attr->name, nic.device_attr->driver, nic.link_attr->address,
           nic.link_attr->mtu, nic.link_attr->speed, nic.link_attr->network_type);
  return 0;
}

void Nic::connect() {
  link_.owner = this;
  link_.fid.fid.fclass = FI_CLASS_NIC;
  link_.fid.fid.ops = &nic_fid_ops;
  link_.fid.device_attr = &device_attr_;
  link_.fid.bus_attr = &bus_attr_;
  link_.fid.link_attr = &link_attr_;
  device_attr_.name = name_.data();
  device_attr_.driver = driver_.data();
  bus_attr_.bus_type = FI_BUS_UNKNOWN;
  link_attr_.address = mac_.data();
  link_attr_.network_type = network_type_.data();
}

fid_nic* make_nic(const io::Interface& interface, IoChoice choice) {
  Nic* nic = new (std::nothrow) Nic(interface, backend_text(choice, interface));
  return nic != nullptr ? nic->fid() : nullptr;
}

}  // namespace uet::prov

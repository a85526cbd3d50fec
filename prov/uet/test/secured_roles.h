// Roles with keys: each is a process with its own settings, and all find their files in one folder.
// Keys are written as text, as an administrator sees them.
#pragma once

#include "prov/uet/test/roles.h"

#include "keys/counter_marks.h"
#include "keys/test/temporary_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace uet::prov::test {

// A key of 32 octets with one digit.
inline std::string key_text(int an, char digit) {
  return "[[domain.key]]\nan = " + std::to_string(an) + "\nsecret = \"" + std::string(64, digit) +
         "\"\n";
}
inline std::string domain_text(const std::string& keys, const std::string& terms = "") {
  return "[[domain]]\nsdi = 7\nmode = \"cluster\"\n" + terms + keys;
}

class SecuredRolesTest : public RolesTest {
 protected:
  SecuredRolesTest() {
    keys::CounterMarks::create(path("counters"));
    write_keys("keys", domain_text(key_text(0, '1')));
  }

  std::string path(const std::string& name) const { return folder_.path(name); }
  // Replaces a key file at once.
  void write_keys(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string made = path(name + ".new");
    std::ofstream(made, std::ios::trunc) << text;
    ASSERT_EQ(chmod(made.c_str(), mode), 0);
    std::filesystem::rename(made, path(name));
  }
  // Settings of a secured process; `more` wins.
  Settings secured(const Settings& more = {}, const std::string& keys = "keys") {
    Settings all = {{"FI_UET_TSS", "file"}, {"FI_UET_SHM", "off"}, {"FI_UET_IO", "udp"}};
    all.push_back({"FI_UET_TSS_KEYS", kept(path(keys))});
    all.push_back({"FI_UET_TSS_COUNTERS", kept(path("counters"))});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Text that lives as long as the test.
  const char* kept(const std::string& text) {
    return texts_.emplace_back(std::make_unique<std::string>(text))->c_str();
  }

  // A process whose domain does not open.
  static void cannot_open(const Line&) {
    fi_info* const hints = fi_allocinfo();
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("uet");
    fi_info* info = nullptr;
    ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), "127.0.48.2", nullptr, FI_SOURCE, hints, &info), 0);
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
    EXPECT_EQ(fi_domain(fabric, info, &domain, nullptr), -FI_ENOKEY);
  }

  static std::vector<uint8_t> octets_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  const keys::TemporaryFolder folder_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

// A packet of a capture of raw IPv4, as FI_UET_PCAP writes it.
struct Captured {
  std::vector<uint8_t> source, destination;  // 4 octets
  uint16_t source_port = 0, destination_port = 0;
  std::vector<uint8_t> payload;  // of UDP
};

inline uint32_t little_endian(const uint8_t* at) {
  return at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24;
}

// The packets of a pcapng file: blocks of type 6, whose data begins behind 28 octets.
inline std::vector<Captured> read_capture(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<uint8_t> octets{std::istreambuf_iterator<char>(in), {}};
  std::vector<Captured> all;
  for (size_t at = 0; at + 12 <= octets.size();) {
    const uint32_t size = little_endian(&octets[at + 4]);
    if (size < 12 || at + size > octets.size()) break;
    if (little_endian(&octets[at]) == 6) {
      const uint8_t* const ip = &octets[at + 28];
      const uint8_t* const end = ip + little_endian(&octets[at + 20]);
      Captured c;
      c.source.assign(ip + 12, ip + 16);
      c.destination.assign(ip + 16, ip + 20);
      c.source_port = static_cast<uint16_t>(ip[20] << 8 | ip[21]);
      c.destination_port = static_cast<uint16_t>(ip[22] << 8 | ip[23]);
      c.payload.assign(ip + 28, end);
      all.push_back(c);
    }
    at += size;
  }
  return all;
}

}  // namespace uet::prov::test

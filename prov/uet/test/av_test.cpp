// Address vectors through libfabric. Expected answers are from fi_av(3).
#include "prov/uet/test/domain_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

class AvTest : public test::DomainFixture {
 protected:
  // A domain with that address format, and a vector in it.
  void open_av(uint32_t format, uint64_t flags = 0, fi_av_type type = FI_AV_TABLE) {
    open([&](fi_info& h) { h.addr_format = format; });
    fi_av_attr attr{};
    attr.type = type;
    attr.count = 16;
    attr.flags = flags;
    ASSERT_EQ(fi_av_open(domain, &attr, &av_, nullptr), 0);
  }
  void TearDown() override {
    if (av_ != nullptr) {
      EXPECT_EQ(fi_close(&av_->fid), 0);
    }
    DomainFixture::TearDown();
  }
  static sockaddr_in sin(const char* ip, uint16_t port) {
    sockaddr_in sa{};
    sa.sin_family = AF_INET;
    sa.sin_port = htons(port);
    inet_pton(AF_INET, ip, &sa.sin_addr);
    return sa;
  }
  // Inserts the string form; FI_ADDR_NOTAVAIL when it was refused.
  fi_addr_t insert(const char* text) {
    fi_addr_t out = 0;
    const int good = fi_av_insert(av_, &text, 1, &out, 0, nullptr);
    EXPECT_EQ(good, out == FI_ADDR_NOTAVAIL ? 0 : 1);
    return out;
  }
  std::string looked_up(fi_addr_t address) {
    char text[128] = "";
    size_t length = sizeof text;
    if (fi_av_lookup(av_, address, text, &length) != 0) return "none";
    EXPECT_EQ(length, strlen(text) + 1);
    return text;
  }

  fid_av* av_ = nullptr;
};

// [LF-012]
TEST_F(AvTest, AddressesGetTheLowestFreeIndex) {
  open_av(FI_ADDR_STR);
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/1/1/1"), 0u);
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/2/1/2"), 1u);
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/3/1/3"), 2u);
  fi_addr_t gone[] = {1, 0};
  ASSERT_EQ(fi_av_remove(av_, gone, 2, 0), 0);
  EXPECT_EQ(looked_up(0), "none");
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/4/1/4"), 0u);
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/5/1/5"), 1u);
  EXPECT_EQ(insert("fi_addr_uet://127.0.0.2/6/1/6"), 3u);
}

TEST_F(AvTest, LookUpReturnsTheInsertedAddress) {
  open_av(FI_ADDR_STR);
  const char* text = "fi_addr_uet://127.0.0.2:16400/291/2/77?mtu=4096";
  EXPECT_EQ(looked_up(insert(text)), text);
  EXPECT_EQ(looked_up(99), "none");
}

TEST_F(AvTest, LookUpInASmallBufferTellsTheSize) {
  open_av(FI_ADDR_STR);
  const fi_addr_t address = insert("fi_addr_uet://127.0.0.2/1/1/1");
  char text[4] = {'x', 'x', 'x', 'x'};
  size_t length = 2;
  ASSERT_EQ(fi_av_lookup(av_, address, text, &length), 0);
  EXPECT_EQ(length, sizeof "fi_addr_uet://127.0.0.2/1/1/1");
  EXPECT_EQ(std::string(text, 4), "fixx");
}

// [LF-015]
TEST_F(AvTest, DuplicatesAreSeparateEntries) {
  open_av(FI_ADDR_STR);
  const char* text = "fi_addr_uet://127.0.0.2/1/1/1";
  EXPECT_EQ(insert(text), 0u);
  EXPECT_EQ(insert(text), 1u);
  fi_addr_t gone = 0;
  ASSERT_EQ(fi_av_remove(av_, &gone, 1, 0), 0);
  EXPECT_EQ(looked_up(1), text);
}

// [LF-013] Other family, no address, multicast, and no address at all.
TEST_F(AvTest, UnusableAddressesAreRefusedOneByOne) {
  open_av(FI_ADDR_STR);
  const char* list[] = {"fi_addr_uet://127.0.0.2/1/1/1",
                        "fi_addr_uet://[fd00::1]/1/1/1",
                        "fi_addr_uet://0.0.0.0/1/1/1",
                        "fi_addr_uet://224.0.0.1/1/1/1",
                        "127.0.0.2",
                        "fi_addr_uet://127.0.0.3/1/1/1"};
  std::array<fi_addr_t, 6> out{};
  std::array<int, 6> errors{};
  EXPECT_EQ(fi_av_insert(av_, list, 6, out.data(), FI_SYNC_ERR, errors.data()), 2);
  EXPECT_EQ(out, (std::array<fi_addr_t, 6>{0, FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL,
                                           FI_ADDR_NOTAVAIL, 1}));
  EXPECT_EQ(errors, (std::array<int, 6>{0, FI_EINVAL, FI_EINVAL, FI_EINVAL, FI_EINVAL, 0}));
}

// [LF-006] The form that fi_getname gives: an array of 40 octets each.
TEST_F(AvTest, OwnFormIsAnArrayOf40Octets) {
  open_av(FI_FORMAT_UNSPEC);
  std::vector<uint8_t> octets(80);
  memcpy(octets.data(), info->src_addr, 40);
  memcpy(octets.data() + 40, info->src_addr, 40);
  octets[79 - 20] = 9;  // last octet of the second FA: 127.0.0.9
  fi_addr_t out[2];
  ASSERT_EQ(fi_av_insert(av_, octets.data(), 2, out, 0, nullptr), 2);
  char text[64];
  size_t length = sizeof text;
  EXPECT_STREQ(fi_av_straddr(av_, octets.data() + 40, text, &length),
               "fi_addr_uet://127.0.0.9/*/*/*");
  EXPECT_EQ(length, sizeof "fi_addr_uet://127.0.0.9/*/*/*");
}

TEST_F(AvTest, StringIsCutToTheBuffer) {
  open_av(FI_FORMAT_UNSPEC);
  char text[8];
  size_t length = sizeof text;
  EXPECT_STREQ(fi_av_straddr(av_, info->src_addr, text, &length), "fi_addr");
  EXPECT_EQ(length, sizeof "fi_addr_uet://127.0.0.1/*/*/*");
}

// [LF-012, LF-008]
TEST_F(AvTest, SocketAddressesAreTaken) {
  open_av(FI_SOCKADDR_IN, 0, FI_AV_MAP);
  const sockaddr_in list[] = {sin("127.0.0.2", 9228), sockaddr_in{}, sin("127.0.0.3", 1)};
  fi_addr_t out[3];
  EXPECT_EQ(fi_av_insert(av_, list, 3, out, 0, nullptr), 2);
  EXPECT_EQ(out[1], FI_ADDR_NOTAVAIL);
  sockaddr_in back{};
  size_t length = sizeof back;
  ASSERT_EQ(fi_av_lookup(av_, out[0], &back, &length), 0);
  EXPECT_EQ(memcmp(&back, &list[0], sizeof back), 0);
}

TEST_F(AvTest, FirstIndexesNeedNoOutput) {
  open_av(FI_SOCKADDR_IN);
  const sockaddr_in one = sin("127.0.0.2", 5);
  EXPECT_EQ(fi_av_insert(av_, &one, 1, nullptr, 0, nullptr), 1);
  sockaddr_in back{};
  size_t length = sizeof back;
  EXPECT_EQ(fi_av_lookup(av_, 0, &back, &length), 0);
}

TEST_F(AvTest, NodeAndServiceAreResolved) {
  open_av(FI_ADDR_STR);
  fi_addr_t out = FI_ADDR_NOTAVAIL;
  EXPECT_EQ(fi_av_insertsvc(av_, "127.0.0.4", "4099", &out, 0, nullptr), 1);
  EXPECT_EQ(looked_up(out), "fi_addr_uet://127.0.0.4/3/2/4099");
  EXPECT_EQ(fi_av_insertsvc(av_, "127.0.0.4", "x", &out, 0, nullptr), 0);
  EXPECT_EQ(out, FI_ADDR_NOTAVAIL);
}

TEST_F(AvTest, SymmetricInsertCountsServicesFirst) {
  open_av(FI_ADDR_STR);
  std::array<fi_addr_t, 4> out{};
  EXPECT_EQ(fi_av_insertsym(av_, "127.0.0.4", 2, "10", 2, out.data(), 0, nullptr), 4);
  EXPECT_EQ(looked_up(out[0]), "fi_addr_uet://127.0.0.4/10/1/10");
  EXPECT_EQ(looked_up(out[1]), "fi_addr_uet://127.0.0.4/11/1/11");
  EXPECT_EQ(looked_up(out[2]), "fi_addr_uet://127.0.0.5/10/1/10");
  EXPECT_EQ(looked_up(out[3]), "fi_addr_uet://127.0.0.5/11/1/11");
}

TEST_F(AvTest, InsertionsReportToABoundQueue) {
  open_av(FI_SOCKADDR_IN, FI_EVENT);
  const sockaddr_in list[] = {sin("127.0.0.2", 5), sockaddr_in{}};
  fi_addr_t out[2];
  EXPECT_EQ(fi_av_insert(av_, list, 1, out, 0, nullptr), -FI_ENOEQ);
  fid_eq* eq = nullptr;
  fi_eq_attr attr{};
  ASSERT_EQ(fi_eq_open(fabric, &attr, &eq, nullptr), 0);
  ASSERT_EQ(fi_av_bind(av_, &eq->fid, 0), 0);
  int context = 0;
  EXPECT_EQ(fi_av_insert(av_, list, 2, out, 0, &context), 0);
  EXPECT_NE(out[0], FI_ADDR_NOTAVAIL);
  EXPECT_EQ(out[1], FI_ADDR_NOTAVAIL);
  fi_eq_entry entry{};
  uint32_t event = 0;
  EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof entry, 0), -FI_EAVAIL);
  fi_eq_err_entry error{};
  ASSERT_EQ(fi_eq_readerr(eq, &error, 0), static_cast<ssize_t>(sizeof error));
  EXPECT_EQ(error.fid, &av_->fid);
  EXPECT_EQ(error.context, &context);
  EXPECT_EQ(error.data, 1u);
  EXPECT_GT(error.err, 0);
  ASSERT_EQ(fi_eq_read(eq, &event, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
  EXPECT_EQ(event, static_cast<uint32_t>(FI_AV_COMPLETE));
  EXPECT_EQ(entry.data, 1u);
  EXPECT_EQ(entry.context, &context);
  EXPECT_EQ(fi_close(&av_->fid), 0);
  av_ = nullptr;
  EXPECT_EQ(fi_close(&eq->fid), 0);
}

// [LF-012] The application gets the error.
TEST_F(AvTest, UnspecifiedTypeIsATable) {
  open_av(FI_ADDR_STR);
  fi_av_attr attr{};
  fid_av* other = nullptr;
  ASSERT_EQ(fi_av_open(domain, &attr, &other, nullptr), 0);
  EXPECT_EQ(attr.type, FI_AV_TABLE);
  EXPECT_EQ(fi_close(&other->fid), 0);
}

// An address that states a port asks for that block. [decision 3, LF-010]
TEST_F(AvTest, DomainOpensOnTheStatedPort) {
  open([](fi_info& h) { h.addr_format = FI_ADDR_STR; });
  free(info->src_addr);
  info->src_addr = strdup("fi_addr_uet://127.0.0.1:20464/9/1/9");
  info->src_addrlen = strlen("fi_addr_uet://127.0.0.1:20464/9/1/9") + 1;
  fid_domain* other = nullptr;
  ASSERT_EQ(fi_domain(fabric, info, &other, nullptr), 0);
  fid_ep* ep = nullptr;
  ASSERT_EQ(fi_endpoint(other, info, &ep, nullptr), 0);
  char name[128] = "";
  size_t length = sizeof name;
  EXPECT_EQ(fi_getname(&ep->fid, name, &length), 0);
  EXPECT_EQ(std::string(name).substr(0, info->src_addrlen - 1),
            "fi_addr_uet://127.0.0.1:20464/9/1/9");
  EXPECT_EQ(fi_close(&ep->fid), 0);
  EXPECT_EQ(fi_close(&other->fid), 0);
}

// The peer table grows with the vector. [decision 15]
TEST_F(AvTest, MoreAddressesThanForeseenAreTaken) {
  open_av(FI_SOCKADDR_IN);
  std::vector<sockaddr_in> list;
  for (uint32_t i = 0; i < 5000; ++i) {
    sockaddr_in sa = sin("127.0.0.0", 1);
    sa.sin_addr.s_addr = htonl(0x7F010000 + i);
    list.push_back(sa);
  }
  std::vector<fi_addr_t> out(list.size());
  EXPECT_EQ(fi_av_insert(av_, list.data(), list.size(), out.data(), 0, nullptr), 5000);
  EXPECT_EQ(out.back(), 4999u);
}

TEST_F(AvTest, NamesFlagsAndBadIndicesAreRefused) {
  open_av(FI_ADDR_STR);
  fi_av_attr attr{};
  attr.name = "shared";
  fid_av* other = nullptr;
  EXPECT_EQ(fi_av_open(domain, &attr, &other, nullptr), -FI_ENOSYS);
  attr = {};
  attr.flags = FI_PEEK;
  EXPECT_EQ(fi_av_open(domain, &attr, &other, nullptr), -FI_EBADFLAGS);
  fi_addr_t none = 7;
  EXPECT_EQ(fi_av_remove(av_, &none, 1, 0), -FI_EINVAL);
  EXPECT_EQ(fi_av_remove(av_, &none, 0, FI_PEEK), -FI_EBADFLAGS);
  const char* text = "fi_addr_uet://127.0.0.2/1/1/1";
  EXPECT_EQ(fi_av_insert(av_, &text, 1, &none, FI_PEEK, nullptr), -FI_EBADFLAGS);
}

}  // namespace
}  // namespace uet::prov

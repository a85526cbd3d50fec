// The recorder: a file checked octet by octet against one written by hand from the pcapng and IP
// specifications, and read back by tshark where that is installed.
#include "io/tap/pcap_tap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace uet::io {
namespace {

FabricAddress ipv4(uint8_t host, uint16_t port = kUetPort) {
  return FabricAddress::v4(0x0A000000U | host, port);
}
FabricAddress ipv6(uint8_t host, uint16_t port = kUetPort) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv6;
  a.ip = {0x20, 0x01, 0x0d, 0xb8};
  a.ip[15] = host;
  a.port = port;
  return a;
}

// Takes every packet except those in `refuse_`; delivers the packets of the test.
class FakeIo final : public PacketIo {
 public:
  explicit FakeIo(const FabricAddress& local) : local_(local) {}
  IoCaps caps() const override { return {.ip_protocol = ip_protocol_}; }
  FabricAddress local_address() const override { return local_; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& p : packets) p.fate = p.cookie == refuse_ ? TxFate::later : TxFate::sent;
  }
  std::span<RxDatagram> receive() override { return inbox_; }
  int wait_fd() const override { return 7; }

  FabricAddress local_;
  uint8_t ip_protocol_ = 0;
  uint32_t refuse_ = UINT32_MAX;
  std::vector<RxDatagram> inbox_;
};

class PcapTapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/uet_pcap_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/t.pcapng";
  }
  void TearDown() override {
    tap_.reset();
    const std::string command = "rm -r " + folder_;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  void open(const FabricAddress& local) {
    auto fake = std::make_unique<FakeIo>(local);
    fake_ = fake.get();
    std::unique_ptr<PacketIo> inner = std::move(fake);
    std::string error;
    tap_ = PcapTap::open(inner, path_, {"eth7", comment_}, &error);
    ASSERT_TRUE(tap_) << error;
    EXPECT_EQ(inner, nullptr);
  }
  void send(const FabricAddress& to, std::string header, std::string payload, uint16_t ev,
            uint32_t cookie = 0) {
    const IoSlice slice{reinterpret_cast<std::byte*>(payload.data()), payload.size()};
    TxPacket p;
    p.header = reinterpret_cast<std::byte*>(header.data());
    p.header_bytes = static_cast<uint16_t>(header.size());
    p.slices = &slice;
    p.slice_count = payload.empty() ? 0 : 1;
    p.payload_bytes = static_cast<uint32_t>(payload.size());
    p.to = to;
    p.ev = Entropy(ev);
    p.dscp = 8;
    p.ecn = Ecn::ect0;
    p.cookie = cookie;
    tap_->send({&p, 1});
  }
  void receive(const FabricAddress& from, std::string text, Duration after = Duration::zero()) {
    RxDatagram d;
    d.bytes = {reinterpret_cast<std::byte*>(text.data()), text.size()};
    d.from = from;
    d.dscp = 46;
    d.ecn = Ecn::ce;
    d.at = monotonic_now() + after;
    fake_->inbox_ = {d};
    EXPECT_EQ(tap_->receive().size(), 1u);
    fake_->inbox_.clear();
  }
  static std::string file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string hex(const std::string& octets) {
    std::string out;
    char two[4];
    for (const char c : octets) {
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
      out += two;
    }
    return out;
  }

  static std::string without_blanks(std::string text) {
    std::erase(text, ' ');
    return text;
  }

  std::string folder_, path_, comment_;
  FakeIo* fake_ = nullptr;
  std::unique_ptr<PcapTap> tap_;
};

// Little-endian machine, as every one this runs on; checksums summed by hand.
TEST_F(PcapTapTest, TheFileFollowsTheFormat) {
  timespec before{};
  ::clock_gettime(CLOCK_REALTIME, &before);
  open(ipv4(1));
  send(ipv4(2), "a", "bc", 0x1234);
  tap_.reset();
  const std::string got = file(path_);
  const std::string want = without_blanks(
      // Section header: type, 28, magic, 1.0, length -1, 28
      "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
      // Interface: type 1, 40, link type 101, snap length 0, if_name "eth7", if_tsresol 9, end, 40
      "01000000 28000000 6500 0000 00000000"
      "0200 0400 65746837 0900 0100 09000000 0000 0000 28000000"
      // Packet: type 6, 76, interface 0, time (checked below), 31 octets captured of 31
      "06000000 4c000000 00000000 TTTTTTTTTTTTTTTT 1f000000 1f000000"
      // IPv4: 45, DSCP 8 and ECT(0), 31, id 0, DF, TTL 64, UDP, checksum, 10.0.0.1, 10.0.0.2
      "45 22 001f 0000 4000 40 11 26aa 0a000001 0a000002"
      // UDP: source port is the EV, 4793, 11, checksum; "abc", one octet of padding
      "1234 12b9 000b 0286 616263 00"
      // epb_flags outbound, end, 76
      "0200 0400 02000000 0000 0000 4c000000");
  std::string shown = hex(got);
  ASSERT_EQ(shown.size(), want.size());
  const size_t at = want.find("TTTT");
  uint32_t high = 0, low = 0;
  std::memcpy(&high, got.data() + at / 2, 4);
  std::memcpy(&low, got.data() + at / 2 + 4, 4);
  shown.replace(at, 16, "TTTTTTTTTTTTTTTT");
  EXPECT_EQ(shown, want);
  const auto stamp = static_cast<int64_t>(uint64_t{high} << 32 | low);
  const int64_t start = int64_t{before.tv_sec} * 1'000'000'000 + before.tv_nsec;
  EXPECT_GE(stamp, start - 1'000'000);
  EXPECT_LT(stamp, start + 60'000'000'000);
}

TEST_F(PcapTapTest, TheInterfaceMayHaveAComment) {
  comment_ = "prog7";
  open(ipv4(1));
  tap_.reset();
  // Type 1, 52, link type 101, if_name "eth7", if_tsresol 9, comment of 5 octets, end, 52
  EXPECT_EQ(hex(file(path_)).substr(2 * 28),
            without_blanks("01000000 34000000 6500 0000 00000000 0200 0400 65746837"
                           "0900 0100 09000000 0100 0500 70726f67 37000000 0000 0000 34000000"));
}

TEST_F(PcapTapTest, OnlyPacketsThatLeftAreRecorded) {
  open(ipv4(1));
  fake_->refuse_ = 5;
  send(ipv4(2), "later", "", 0, 5);
  tap_.reset();
  EXPECT_EQ(file(path_).size(), 28u + 40u);
}

TEST_F(PcapTapTest, TheProcessIdTakesItsPlaceInTheName) {
  path_ = folder_ + "/a%p.b%p";
  open(ipv4(1));
  const std::string id = std::to_string(::getpid());
  EXPECT_EQ(tap_->path(), folder_ + "/a" + id + ".b" + id);
  tap_.reset();
  EXPECT_EQ(::access((folder_ + "/a" + id + ".b" + id).c_str(), R_OK), 0);
}

TEST_F(PcapTapTest, AFileInUseIsNotClobbered) {
  open(ipv4(1));
  const std::unique_ptr<PcapTap> first = std::move(tap_);
  open(ipv4(1));
  const std::unique_ptr<PcapTap> second = std::move(tap_);
  open(ipv4(1));
  const std::string id = std::to_string(::getpid());
  EXPECT_EQ(first->path(), path_);
  EXPECT_EQ(second->path(), path_ + "." + id);
  EXPECT_EQ(tap_->path(), path_ + "." + id + ".1");
}

TEST_F(PcapTapTest, AnOldFileIsOverwritten) {
  std::ofstream(path_) << std::string(10'000, 'x');
  open(ipv4(1));
  tap_.reset();
  EXPECT_EQ(file(path_).size(), 68u);
}

TEST_F(PcapTapTest, AFailureToOpenLeavesTheBackend) {
  std::unique_ptr<PacketIo> inner = std::make_unique<FakeIo>(ipv4(1));
  std::string error;
  EXPECT_EQ(PcapTap::open(inner, folder_ + "/no/such/folder", {"x", ""}, &error), nullptr);
  EXPECT_NE(inner, nullptr);
  EXPECT_NE(error.find("No such file"), std::string::npos) << error;
}

TEST_F(PcapTapTest, AFullDiskStopsTheRecordingAndNotTheTraffic) {
  path_ = "/dev/full";
  open(ipv4(1));
  ::testing::internal::CaptureStderr();
  tap_->flush();
  EXPECT_TRUE(tap_->failed());
  send(ipv4(2), "x", "", 0);
  receive(ipv4(2), "y");
  tap_->flush();
  tap_.reset();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "uet: capture to /dev/full ends here: No space left on device\n");
}

TEST_F(PcapTapTest, TheFileIsAtMostASecondBehind) {
  open(ipv4(1));
  receive(ipv4(2), "x");
  EXPECT_EQ(file(path_), "");
  receive(ipv4(2), "y", Duration::seconds(2));
  // 1 + 28 octets make 29, padded to 32; 44 around them.
  EXPECT_EQ(file(path_).size(), 68u + 2 * (32u + 44u));
}

TEST_F(PcapTapTest, ManyLargePacketsAreAllWritten) {
  open(ipv4(1));
  for (int i = 0; i < 100; ++i) send(ipv4(2), "h", std::string(60'000, 'p'), 0);
  tap_.reset();
  // 60,001 + 28 octets make 60,029, padded to 60,032; 44 around them.
  EXPECT_EQ(file(path_).size(), 68u + 100u * (60'032u + 44u));
}

// [WIRE-009, WIRE-013] Without UDP: IP, entropy header, packet.
TEST_F(PcapTapTest, PacketsWithoutUdpHaveAnEntropyHeader) {
  open(ipv4(1));
  fake_->ip_protocol_ = 253;
  send(ipv4(2), "a", "bc", 0x1234);
  receive(ipv4(2), "odd");
  tap_.reset();
  const std::string shown = hex(file(path_));
  // 45, DSCP 8 and ECT(0), 27, id 0, DF, TTL 64, 253, checksum, addresses; EV, 0; "abc".
  EXPECT_NE(shown.find("4522001b0000400040fd25c20a0000010a000002"
                       "12340000"
                       "616263"),
            shown.npos);
  EXPECT_NE(shown.find("0a0000020a000001"
                       "00000000"
                       "6f6464"),
            shown.npos);
}

TEST_F(PcapTapTest, TsharkReadsEveryField) {
  if (std::system("tshark --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "tshark is not installed";
  }
  for (const bool v6 : {false, true}) {
    const auto a = v6 ? ipv6(1, 16384) : ipv4(1, 16384);
    open(a);
    send(v6 ? ipv6(2) : ipv4(2), std::string(3, 'h'), std::string(4096, 'p'), 0xfff7);
    receive(v6 ? ipv6(2, 40000) : ipv4(2, 40000), "odd");
    tap_.reset();
    const std::string family = v6 ? "ipv6" : "ip";
    const std::string command =
        "tshark -r " + path_ +
        " -o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields -E separator=,"
        " -e frame.interface_name -e frame.packet_flags_direction -e " +
        family + ".src -e " + family +
        ".dst -e udp.srcport -e udp.dstport -e udp.length -e udp.checksum.status -e " +
        (v6 ? "ipv6.tclass" : "ip.dsfield") + " 2>/dev/null";
    FILE* const pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string out;
    char line[512];
    while (std::fgets(line, sizeof line, pipe) != nullptr) out += line;
    EXPECT_EQ(::pclose(pipe), 0);
    // Versions differ in how they show the direction.
    for (size_t at = out.find("eth7,0x0000000"); at != out.npos; at = out.find("eth7,0x0000000")) {
      out.erase(at + 5, 9);
    }
    const std::string one = v6 ? "2001:db8::1" : "10.0.0.1";
    const std::string two = v6 ? "2001:db8::2" : "10.0.0.2";
    const std::string first_tos = v6 ? "0x00000022" : "0x22";
    const std::string second_tos = v6 ? "0x000000bb" : "0xbb";
    EXPECT_EQ(out, "eth7,2," + one + "," + two + ",16391,4793,4107,1," + first_tos + "\n" +
                       "eth7,1," + two + "," + one + ",40000,16384,11,1," + second_tos + "\n");
  }
}

}  // namespace
}  // namespace uet::io

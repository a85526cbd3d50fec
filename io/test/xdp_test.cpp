// The AF_XDP backend between two hosts.
#include "io/xdp/xdp_io.h"

#include "io/test/frame_testing.h"

namespace uet::io {
namespace {

class XdpTest : public FrameIoTest {
 protected:
  static std::unique_ptr<XdpIo> open_xdp(const UdpOptions& options) {
    std::string error;
    std::unique_ptr<XdpIo> io = XdpIo::open(options, &error);
    EXPECT_NE(io, nullptr) << error;
    return io;
  }
};

TEST_F(XdpTest, First) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  printf("%s\n", a->mode_text().c_str());
  for (int i = 0; i < 5; ++i) {
    Outbox out;
    out.add(b->local_address(), "four octets of header", 3, 11, Ecn::ect1);
    a->send(out.packets());
    EXPECT_EQ(out.fates(), "s");
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u);
    usleep(6000);
  }
  a->report_counters([](const char* n, uint64_t v) { if (v) printf("a %s %lu\n", n, v); });
  b->report_counters([](const char* n, uint64_t v) { if (v) printf("b %s %lu\n", n, v); });
}

}  // namespace
}  // namespace uet::io

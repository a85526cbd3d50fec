// The named tag formats of API 2.0. The test requests API 2.0 of the fabric, so it runs with every
// libfabric. Expected answers are from fi_endpoint(3) of 2.1, "mem_tag_format".
#include "prov/uet/test/node.h"

#include <vector>

namespace uet::prov::test {
namespace {

constexpr uint64_t kMpi = 1;                         // FI_TAG_MPI
constexpr uint64_t kCcl = 2;                         // FI_TAG_CCL
constexpr uint64_t kIgnoreTag = 0xFFFF'FFFF;         // FI_MPI_IGNORE_TAG
constexpr uint64_t kIgnorePayload = 0xFF'0000'0000;  // FI_MPI_IGNORE_PAYLOAD

constexpr uint64_t mpi_tag(uint32_t tag, uint8_t payload) { return uint64_t{payload} << 32 | tag; }

class TagFormatTest : public PairTest {
 protected:
  void open_with(uint64_t format, uint32_t api_version = FI_VERSION(2, 0)) {
    NodeOptions options;
    options.tag_format = format;
    options.api_version = api_version;
    open(options, options);
  }
  ssize_t receive(uint64_t tag, uint64_t ignore) {
    return fi_trecv(b->ep, kept(0), 1, nullptr, FI_ADDR_UNSPEC, tag, ignore, nullptr);
  }
  // The tag of the message that arrives next.
  uint64_t arrival() { return next(b->rx_cq).tag; }
  void send(uint64_t tag) {
    ASSERT_EQ(fi_tsend(a->ep, kept(1), 1, nullptr, to_b, tag, nullptr), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
  }
};

// [LF-065] Bits 31 to 0 are the message tag, bits 39 to 32 the payload identifier.
TEST_F(TagFormatTest, MpiIgnoresWholeFieldsOnly) {
  open_with(kMpi);
  for (const uint64_t mask :
       {uint64_t{1}, uint64_t{0x7FFF'FFFF}, uint64_t{0xFFFF'FFFE}, uint64_t{1} << 32,
        uint64_t{0x7F} << 32, kIgnoreTag | uint64_t{0xF} << 32, kIgnorePayload | 0xFFFF}) {
    EXPECT_EQ(receive(0, mask), -FI_EINVAL) << mask;
  }
  for (const uint64_t mask :
       {uint64_t{0}, kIgnoreTag, kIgnorePayload, kIgnoreTag | kIgnorePayload, UINT64_MAX}) {
    EXPECT_EQ(receive(mpi_tag(1, 1), mask), 0) << mask;
  }
}

TEST_F(TagFormatTest, MpiMatchesTheFieldThatIsNotIgnored) {
  open_with(kMpi);
  ASSERT_EQ(receive(mpi_tag(5, 3), kIgnoreTag), 0);
  send(mpi_tag(5, 4));  // another payload: waits
  send(mpi_tag(77, 3));
  EXPECT_EQ(arrival(), mpi_tag(77, 3));
  ASSERT_EQ(receive(mpi_tag(5, 0), kIgnorePayload), 0);
  EXPECT_EQ(arrival(), mpi_tag(5, 4));
}

// [LF-066] Nothing is ignored: the tag is a payload identifier and matches exactly.
TEST_F(TagFormatTest, CclIgnoresNothing) {
  open_with(kCcl);
  for (const uint64_t mask :
       {uint64_t{1}, uint64_t{0xFF}, kIgnoreTag, kIgnorePayload, UINT64_MAX}) {
    EXPECT_EQ(receive(0, mask), -FI_EINVAL) << mask;
  }
  ASSERT_EQ(receive(9, 0), 0);
  send(8);
  send(9);
  EXPECT_EQ(arrival(), 9u);
}

TEST_F(TagFormatTest, AQuestionIsHeldToTheSame) {
  open_with(kCcl);
  fi_msg_tagged message{};
  message.addr = FI_ADDR_UNSPEC;
  message.ignore = 1;
  EXPECT_EQ(fi_trecvmsg(b->ep, &message, FI_PEEK), -FI_EINVAL);
}

// [LF-067, LF-069] The same numbers are masks of bits for an older application, and every mask is
// taken with FI_TAG_BITS.
TEST_F(TagFormatTest, OlderApplicationsHaveBits) {
  open_with(kMpi, FI_VERSION(1, 17));
  EXPECT_EQ(receive(0, 0x7FFF'FFFF), 0);
}

TEST_F(TagFormatTest, BitsAreIgnoredOneByOne) {
  open_with(0xAAAA'AAAA'AAAA'AAAA);
  ASSERT_EQ(receive(0b1010, 0b0001), 0);
  send(0b1000);
  send(0b1011);
  EXPECT_EQ(arrival(), 0b1011u);
}

}  // namespace
}  // namespace uet::prov::test

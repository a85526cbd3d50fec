// Behaviour that depends on the version of libfabric: its headers at compile time, the
// application's API version at run time. Runs against the installed libfabric; scripts/debian13.sh
// runs it with 2.1. Sizes and releases are those of docs/reference/provider-abi.md, section 3.
#include "prov/uet/api/compat.h"
#include "prov/uet/test/getinfo.h"
#include "prov/uet/test/node.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

namespace uet::prov::test {
namespace {

// [ABI-027, LF-104] Each macro of compat.h against the headers at hand: the release is right when
// the member is there exactly then. Enumerators cannot be asked for; those of one release came with
// its members.
#define UET_HAS_MEMBER(name, member)    \
  template <class T>                    \
  constexpr bool name = requires(T t) { \
    t.member;                           \
  }
UET_HAS_MEMBER(kHasAuthKeyInsertion, insert_auth_key);
UET_HAS_MEMBER(kHasErrorSource, src_addr);
UET_HAS_MEMBER(kHasDmabuf, dmabuf);
UET_HAS_MEMBER(kHasBaseMr, base_mr);
UET_HAS_MEMBER(kHasGroupId, max_group_id);
UET_HAS_MEMBER(kHasMaxCounter, max_cntr_value);
UET_HAS_MEMBER(kHasEndpointKeys, max_ep_auth_key);
UET_HAS_MEMBER(kHasPageSize, page_size);
static_assert(kHasAuthKeyInsertion<fi_ops_av> == bool{UET_HAVE_AV_AUTH_KEY});
static_assert(kHasEndpointKeys<fi_domain_attr> == bool{UET_HAVE_AV_AUTH_KEY});
static_assert(kHasErrorSource<fi_cq_err_entry> == bool{UET_HAVE_CQ_ERR_SRC});
static_assert(kHasDmabuf<fi_mr_attr> == bool{UET_HAVE_MR_DMABUF});
static_assert(kHasPageSize<fi_mr_attr> == bool{UET_HAVE_SIZE_OPTS});
static_assert(kHasBaseMr<fi_mr_attr> == bool{UET_HAVE_BASE_MR});
static_assert(kHasGroupId<fi_domain_attr> == bool{UET_HAVE_GROUP_ID});
static_assert(kHasMaxCounter<fi_domain_attr> == bool{UET_HAVE_MAX_CNTR_VALUE});

// [LF-102] One size for all releases of a layout class, another one in the next.
constexpr size_t by_class(size_t first, size_t since_1_20, size_t since_2_0, size_t since_2_5) {
  if (kApiHeaders >= FI_VERSION(2, 5)) return since_2_5;
  if (kApiHeaders >= FI_VERSION(2, 0)) return since_2_0;
  return kApiHeaders >= FI_VERSION(1, 20) ? since_1_20 : first;
}
static_assert(sizeof(fi_domain_attr) == by_class(192, 200, 208, 224));
static_assert(sizeof(fi_cq_err_entry) == by_class(80, 88, 88, 88));
static_assert(sizeof(fi_ops_av) == by_class(64, 88, 88, 88));
static_assert(sizeof(fi_mr_attr) == 80 || kApiHeaders >= FI_VERSION(1, 19));
static_assert(sizeof(fi_mr_attr) == 112 || kApiHeaders < FI_VERSION(2, 0));
static_assert(sizeof(fi_info) == 120 && sizeof(fi_ep_attr) == 96 && sizeof(fi_fabric_attr) == 32);
static_assert(sizeof(fi_tx_attr) == 80 && sizeof(fi_rx_attr) == 64);

// [LF-113, LF-110] Own constants are equal to the headers', where those have them.
#if UET_HAVE_BASE_MR
static_assert(kTagBits == FI_TAG_BITS && kTagMpi == FI_TAG_MPI && kTagCcl == FI_TAG_CCL);
static_assert(kTagFormats == FI_TAG_MAX_FORMAT);
#endif
static_assert(kProgressUnified == FI_PROGRESS_MANUAL + 1);  // [LF-111]

// [LF-102]
TEST(VersionsTest, OlderLayoutsAreNotLoadedInto) {
  struct Case {
    uint32_t built, running;
    bool can;
  };
  const Case cases[] = {
      {FI_VERSION(1, 17), FI_VERSION(1, 17), true},  {FI_VERSION(1, 17), FI_VERSION(1, 19), true},
      {FI_VERSION(1, 17), FI_VERSION(2, 6), true},   {FI_VERSION(1, 19), FI_VERSION(1, 17), true},
      {FI_VERSION(1, 20), FI_VERSION(1, 19), false}, {FI_VERSION(1, 22), FI_VERSION(1, 20), true},
      {FI_VERSION(2, 0), FI_VERSION(1, 22), false},  {FI_VERSION(2, 4), FI_VERSION(2, 0), true},
      {FI_VERSION(2, 5), FI_VERSION(2, 4), false},   {FI_VERSION(2, 6), FI_VERSION(2, 5), true},
      {FI_VERSION(2, 6), FI_VERSION(1, 17), false},  {FI_VERSION(2, 1), FI_VERSION(2, 7), true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(can_load_into(c.running, c.built), c.can)
        << "built for " << FI_MAJOR(c.built) << '.' << FI_MINOR(c.built) << ", running "
        << FI_MAJOR(c.running) << '.' << FI_MINOR(c.running);
  }
}

// [LF-159] Providers that share objects were built for the same layout of them.
TEST(VersionsTest, PeersHaveTheSameLayout) {
  struct Case {
    uint32_t built, running;
    bool same;
  };
  const Case cases[] = {
      {FI_VERSION(1, 17), FI_VERSION(1, 18), true}, {FI_VERSION(1, 17), FI_VERSION(1, 19), false},
      {FI_VERSION(1, 19), FI_VERSION(1, 22), true}, {FI_VERSION(1, 22), FI_VERSION(2, 0), false},
      {FI_VERSION(2, 0), FI_VERSION(2, 2), true},   {FI_VERSION(2, 2), FI_VERSION(2, 3), false},
      {FI_VERSION(2, 3), FI_VERSION(2, 6), true},   {FI_VERSION(1, 17), FI_VERSION(2, 6), false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(has_same_peers(c.running, c.built), c.same)
        << "built for " << FI_MAJOR(c.built) << '.' << FI_MINOR(c.built) << ", running "
        << FI_MAJOR(c.running) << '.' << FI_MINOR(c.running);
  }
}

// Later additions to a domain's attributes. [LF-108, LF-116]
TEST(VersionsTest, NewerLimitsAreReported) {
  const Answer answer = ask(make_hints().get(), "127.0.0.1", nullptr, FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  [[maybe_unused]] const fi_domain_attr& domain = *answer.info->domain_attr;
#if UET_HAVE_AV_AUTH_KEY
  EXPECT_EQ(domain.max_ep_auth_key, 1u);
#endif
#if UET_HAVE_GROUP_ID
  EXPECT_EQ(domain.max_group_id, 0u);
#endif
#if UET_HAVE_MAX_CNTR_VALUE
  EXPECT_EQ(domain.max_cntr_value, UINT64_MAX);
  EXPECT_EQ(domain.max_err_cntr_value, UINT64_MAX);
#endif
  // FI_PEER and FI_AV_USER_ID are only granted on request. [LF-159, LF-160]
  EXPECT_EQ(domain.caps & ~(FI_LOCAL_COMM | FI_REMOTE_COMM), 0u);
  EXPECT_EQ(answer.info->caps & (FI_PEER | FI_AV_USER_ID), 0u);
}

#if UET_HAVE_GROUP_ID
// [LF-108, LF-116, ABI-024] Wishes in members that an older application does not have are noise.
TEST(VersionsTest, NewerMembersAreReadForNewerApplicationsOnly) {
  const Info hints = make_hints();
  const auto result = [&](uint32_t version) {
    return ask(hints.get(), "127.0.0.1", nullptr, FI_SOURCE, version).result;
  };
  hints->domain_attr->max_ep_auth_key = 2;
  EXPECT_EQ(result(FI_VERSION(1, 19)), 0);
  EXPECT_EQ(result(FI_VERSION(1, 20)), -FI_ENODATA);
  hints->domain_attr->max_ep_auth_key = 1;
  EXPECT_EQ(result(FI_VERSION(1, 20)), 0);
  hints->domain_attr->max_group_id = 1;
  EXPECT_EQ(result(FI_VERSION(1, 22)), 0);
  EXPECT_EQ(result(FI_VERSION(2, 0)), -FI_ENODATA);
}
#endif

// [LF-126] FI_XPU (bit 44), whatever the headers call it.
TEST(VersionsTest, CapabilitiesOfLaterReleasesAreRefused) {
  for (const unsigned bit : {44u, 45u, 46u, 48u, 53u}) {
    const Answer answer = ask_with([&](fi_info& h) { h.caps = FI_MSG | 1ULL << bit; }, "127.0.0.1",
                                   nullptr, FI_SOURCE);
    EXPECT_EQ(answer.result, -FI_ENODATA) << bit;
  }
}

// [LF-124] Flags of fi_getinfo that came later (FI_RESCAN) change nothing: the interfaces are read
// every time.
TEST(VersionsTest, UnknownFlagsOfGetinfoAreIgnored) {
  const Answer plain = ask(make_hints().get(), "127.0.0.1", nullptr, FI_SOURCE);
  ASSERT_EQ(plain.result, 0);
  for (unsigned bit = 40; bit < 57; ++bit) {
    const Answer flagged = ask(make_hints().get(), "127.0.0.1", nullptr, FI_SOURCE | 1ULL << bit);
    ASSERT_EQ(flagged.result, 0) << bit;
    EXPECT_STREQ(flagged.info->domain_attr->name, plain.info->domain_attr->name) << bit;
  }
}

class VersionsNodeTest : public PairTest {
 protected:
  void open_as(uint32_t api_version) {
    NodeOptions options;
    options.api_version = api_version;
    open(options, options);
  }
  // An error entry read into octets that say which of them were written: a cancelled receive.
  std::array<uint8_t, 128> error_entry() {
    std::array<uint8_t, 128> octets;
    octets.fill(0x5A);
    auto* const entry = reinterpret_cast<fi_cq_err_entry*>(octets.data());
    entry->err_data_size = 0;
    int context = 0;
    EXPECT_EQ(fi_recv(b->ep, kept(0), 1, nullptr, FI_ADDR_UNSPEC, &context), 0);
    EXPECT_EQ(fi_cancel(&b->ep->fid, &context), 0);
    // As the inline function of 1.17 does; later headers write the source themselves.
    EXPECT_TRUE(run_until([&] { return b->rx_cq->ops->readerr(b->rx_cq, entry, 0) == 1; }));
    EXPECT_EQ(entry->err, FI_ECANCELED);
    return octets;
  }
};

// [LF-107, LF-109, ABI-024] The entry of an application of 1.17 has 80 octets; nothing is written
// behind them, whatever this was built with.
TEST_F(VersionsNodeTest, NothingIsWrittenBehindAnOldErrorEntry) {
  open_as(FI_VERSION(1, 17));
  const std::array<uint8_t, 128> octets = error_entry();
  for (size_t i = 80; i < octets.size(); ++i) EXPECT_EQ(octets[i], 0x5A) << i;
}

// The source at octet 80 is for applications of 1.20, where the headers have it.
TEST_F(VersionsNodeTest, ANewErrorEntryHasItsSource) {
  open_as(FI_VERSION(1, 20));
  const std::array<uint8_t, 128> octets = error_entry();
  for (size_t i = 88; i < octets.size(); ++i) EXPECT_EQ(octets[i], 0x5A) << i;
#if UET_HAVE_CQ_ERR_SRC
  uint64_t source = 0;
  std::memcpy(&source, octets.data() + 80, 8);
  EXPECT_NE(source, 0x5A5A'5A5A'5A5A'5A5Au);
#else
  for (size_t i = 80; i < 88; ++i) EXPECT_EQ(octets[i], 0x5A) << i;
#endif
}

// [LF-117, LF-119] Flags of fi_mr_regattr that came later and are not offered: FI_MR_DMABUF (bit
// 40) and FI_MR_SINGLE_USE (bit 41). Memory is given by mr_iov.
TEST_F(VersionsNodeTest, RegistrationsOfLaterReleases) {
  open();
  std::array<uint8_t, 64> memory{};
  iovec iov{memory.data(), memory.size()};
  fi_mr_attr attr{};
  attr.mr_iov = &iov;
  attr.iov_count = 1;
  attr.access = FI_REMOTE_WRITE;
  fid_mr* region = nullptr;
  for (const unsigned bit : {40u, 41u}) {
    EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 1ULL << bit, &region), -FI_EBADFLAGS) << bit;
  }
#if UET_HAVE_SIZE_OPTS
  attr.page_size = 1 << 21;  // a hint [LF-118]
#endif
  attr.requested_key = 1;
  ASSERT_EQ(fi_mr_regattr(b->domain, &attr, 0, &region), 0);
#if UET_HAVE_BASE_MR
  // In an application of an earlier API the member does not exist.
  fid_mr* part = nullptr;
  attr.base_mr = region;
  attr.requested_key = 2;
  ASSERT_EQ(fi_mr_regattr(b->domain, &attr, 0, &part), 0);
#endif
  EXPECT_EQ(fi_close(&region->fid), 0);
#if UET_HAVE_BASE_MR
  EXPECT_EQ(fi_close(&part->fid), 0);
#endif
}

#if UET_HAVE_BASE_MR
// [LF-119] A region within a region has its own key, lies within the other, and is closed first.
TEST_F(VersionsNodeTest, PartsOfRegions) {
  NodeOptions options;
  options.api_version = FI_VERSION(2, 0);
  PairTest::open(options, options);
  std::array<uint8_t, 64> memory{};
  iovec iov{memory.data() + 8, 48};
  fi_mr_attr attr{};
  attr.mr_iov = &iov;
  attr.iov_count = 1;
  attr.access = FI_REMOTE_READ;
  attr.requested_key = 1;
  fid_mr* whole = nullptr;
  ASSERT_EQ(fi_mr_regattr(b->domain, &attr, 0, &whole), 0);
  attr.base_mr = whole;
  attr.access = FI_REMOTE_WRITE;
  attr.iface = FI_HMEM_CUDA;  // the iface of `whole` counts
  attr.requested_key = 2;
  fid_mr* part = nullptr;
  const iovec outside[] = {{memory.data() + 7, 8}, {memory.data() + 50, 7}, {memory.data(), 64}};
  for (const iovec& other : outside) {
    iov = other;
    EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 0, &part), -FI_EINVAL);
  }
  iov = {memory.data() + 50, 6};
  ASSERT_EQ(fi_mr_regattr(b->domain, &attr, 0, &part), 0);
  const uint8_t octet = 7;
  ASSERT_EQ(fi_write(a->ep, &octet, 1, nullptr, to_b, 0, fi_mr_key(part), nullptr), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(memory[50], 7);
  EXPECT_EQ(fi_close(&whole->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&part->fid), 0);
  EXPECT_EQ(fi_close(&whole->fid), 0);
}
#endif

// [LF-122] Options by their numbers: 10 FI_OPT_CUDA_API_PERMITTED (1.18), 11
// FI_OPT_SHARED_MEMORY_PERMITTED (1.21), 12 to 14 the largest message, tagged message and RMA, 16
// to 18 the same of inject (1.22). If the headers lack one, an application cannot use it.
TEST_F(VersionsNodeTest, OptionsOfLaterReleasesNeedTheirHeaders) {
  open();
  const bool off = false;
  const auto set = [&](int name) {
    return fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, name, &off, sizeof off);
  };
  EXPECT_EQ(set(10), UET_HAVE_CUDA_OPT ? -FI_EINVAL : -FI_ENOPROTOOPT);
  // An endpoint cannot be excluded from resources that its domain shares. [LF-142]
  EXPECT_EQ(set(11), UET_HAVE_SHM_OPT ? -FI_EOPNOTSUPP : -FI_ENOPROTOOPT);
  EXPECT_EQ(set(99), -FI_ENOPROTOOPT);
  for (const int name : {12, 13, 14, 16, 17, 18}) {
    size_t value = 0;
    size_t length = sizeof value;
    const int result = fi_getopt(&a->ep->fid, FI_OPT_ENDPOINT, name, &value, &length);
    ASSERT_EQ(result, UET_HAVE_SIZE_OPTS ? 0 : -FI_ENOPROTOOPT) << name;
    if (result == 0) {
      const size_t inject = a->info->tx_attr->inject_size;
      EXPECT_EQ(value, name < 16 ? a->info->ep_attr->max_msg_size : inject) << name;
    }
  }
}

#if UET_HAVE_AV_AUTH_KEY
// [LF-108] Without FI_AV_AUTH_KEY.
TEST_F(VersionsNodeTest, AddressesCarryNoKeys) {
  open();
  fi_addr_t address = 0;
  size_t size = 0;
  uint32_t job = 7;
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, sizeof job, &address, 0), -FI_ENOSYS);
  EXPECT_EQ(fi_av_lookup_auth_key(a->av, 0, &job, &size), -FI_ENOSYS);
  EXPECT_EQ(fi_av_set_user_id(a->av, 0, 0, 0), -FI_EINVAL);  // nor names [LF-160]
}
#endif

}  // namespace
}  // namespace uet::prov::test

// Every member of the hints, one by one: supported values are granted and reported, others are
// refused. Expected answers are from fi_getinfo(3), fi_endpoint(3), fi_domain(3) and fi_fabric(3).
// [ABI-033]
#include "prov/uet/test/getinfo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

constexpr uint64_t kHuge = UINT64_MAX;
constexpr size_t kMessage = 4294967294;

Answer ask_loopback(const fi_info& hints, uint32_t version = FI_VERSION(1, 17)) {
  return ask(&hints, "127.0.0.1", nullptr, FI_SOURCE, version);
}

using Member = std::function<uint64_t(const fi_info&)>;
using Setter = std::function<void(fi_info&, uint64_t)>;

// A number in the hints.
struct Row {
  const char* member;
  Setter set;
  Member get;                     // of the answer
  std::vector<uint64_t> granted;  // and reported as they are, or as more
  std::vector<uint64_t> refused;
  enum class Report {
    same,      // exactly the requested value
    at_least,  // a limit: the present value
  } report;
};

// A member of the hints, and the same of the answer.
#define UET_MEMBER(attr, member) \
#attr "." #member,                                                                       \
      [](fi_info& i, uint64_t v) {                                                         \
        i.attr->member = static_cast<std::remove_reference_t<decltype(i.attr->member)>>(v); \
      },                                                                                   \
      [](const fi_info& i) { return static_cast<uint64_t>(i.attr->member); }

constexpr auto kSame = Row::Report::same;
constexpr auto kAtLeast = Row::Report::at_least;
const std::vector<Row> kRows = {
    {UET_MEMBER(tx_attr, caps),
     {FI_MSG, FI_ATOMIC | FI_WRITE, FI_TAGGED | FI_SEND, FI_RMA | FI_WRITE | FI_READ},
     {FI_COLLECTIVE, FI_RECV, FI_REMOTE_READ, kHuge, 1ULL << 63},
     kSame},
    {UET_MEMBER(tx_attr, op_flags),
     {FI_COMPLETION, FI_INJECT, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE,
      FI_MATCH_COMPLETE},
     {FI_COMMIT_COMPLETE, FI_MULTI_RECV, FI_CLAIM, kHuge},
     kSame},
    {UET_MEMBER(tx_attr, msg_order),
     {FI_ORDER_SAS, FI_ORDER_RAW | FI_ORDER_WAW},
     {1ULL << 16, 1ULL << 31, 1ULL << 40, kHuge},
     kSame},
    {UET_MEMBER(tx_attr, comp_order), {0}, {1, 1ULL << 16, kHuge}, kSame},
    {UET_MEMBER(tx_attr, inject_size), {0, 1, 8192}, {8193, kHuge}, kAtLeast},
    {UET_MEMBER(tx_attr, size), {1, 64, 16384}, {16385, kHuge}, kAtLeast},
    {UET_MEMBER(tx_attr, iov_limit), {1, 64}, {65, kHuge}, kAtLeast},
    {UET_MEMBER(tx_attr, rma_iov_limit), {1, 64}, {65, kHuge}, kAtLeast},
    {UET_MEMBER(tx_attr, tclass),
     {FI_TC_UNSPEC, FI_TC_LOW_LATENCY, FI_TC_DSCP | 46},
     {1, 0x300, 0xFFFFFFFF, FI_TC_DSCP | 16},
     kSame},
    {UET_MEMBER(rx_attr, caps),
     {FI_MSG, FI_ATOMIC | FI_REMOTE_READ, FI_TAGGED | FI_RECV, FI_RMA | FI_REMOTE_WRITE},
     {FI_COLLECTIVE, FI_SEND, FI_WRITE, kHuge},
     kSame},
    {UET_MEMBER(rx_attr, op_flags),
     {FI_COMPLETION, FI_MULTI_RECV},
     {FI_INJECT, FI_DELIVERY_COMPLETE, kHuge},
     kSame},
    {UET_MEMBER(rx_attr, msg_order), {FI_ORDER_SAS}, {1ULL << 16, kHuge}, kSame},
    {UET_MEMBER(rx_attr, comp_order), {0}, {1, kHuge}, kSame},
    {UET_MEMBER(rx_attr, total_buffered_recv), {0}, {1, kHuge}, kSame},
    {UET_MEMBER(rx_attr, size), {1, 64, 16384}, {16385, kHuge}, kAtLeast},
    {UET_MEMBER(rx_attr, iov_limit), {1, 64}, {65, kHuge}, kAtLeast},
    {UET_MEMBER(ep_attr, type), {FI_EP_RDM, FI_EP_DGRAM}, {FI_EP_MSG, 99}, kSame},
    {UET_MEMBER(ep_attr, protocol), {0x80554554}, {FI_PROTO_UDP, FI_PROTO_SHM, 0x80554555}, kSame},
    {UET_MEMBER(ep_attr, protocol_version), {1}, {2, 0xFFFFFFFF}, kSame},
    {UET_MEMBER(ep_attr, max_msg_size), {1, kMessage}, {kMessage + 1, kHuge}, kAtLeast},
    {UET_MEMBER(ep_attr, msg_prefix_size), {0}, {1, kHuge}, kSame},
    {UET_MEMBER(ep_attr, tx_ctx_cnt), {0, 1}, {2, kHuge}, kAtLeast},
    // kHuge is FI_SHARED_CONTEXT. [LF-077]
    {UET_MEMBER(ep_attr, rx_ctx_cnt), {0, 1, kHuge}, {2, kHuge - 1}, kAtLeast},
    {UET_MEMBER(domain_attr, threading),
     {FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT},
     {6, 99},
     kSame},
    {UET_MEMBER(domain_attr, control_progress),
     {FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL},
     {4, 99},
     kSame},
    {UET_MEMBER(domain_attr, data_progress),
     {FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL},
     {4, 99},
     kSame},
    {UET_MEMBER(domain_attr, resource_mgmt), {FI_RM_DISABLED, FI_RM_ENABLED}, {3, 99}, kAtLeast},
    {UET_MEMBER(domain_attr, av_type), {FI_AV_MAP, FI_AV_TABLE}, {3, 99}, kSame},
    {UET_MEMBER(domain_attr, mr_key_size), {1, 6, 8}, {9, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, cq_data_size), {1, 4, 8}, {9, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, cq_cnt), {1, 65536}, {65537, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, ep_cnt), {1, 4095}, {4096, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, tx_ctx_cnt), {1, 4095}, {4096, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, rx_ctx_cnt), {1, 4095}, {4096, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, max_ep_tx_ctx), {1}, {2, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, max_ep_rx_ctx), {1}, {2, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, max_ep_stx_ctx), {0}, {1, kHuge}, kSame},
    {UET_MEMBER(domain_attr, max_ep_srx_ctx), {0, 1, 4095}, {4096, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, cntr_cnt), {1, 65536}, {65537, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, mr_iov_limit), {1, 64}, {65, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, caps),
     {FI_LOCAL_COMM, FI_REMOTE_COMM | FI_LOCAL_COMM},
     {FI_SHARED_AV, FI_MSG, kHuge},
     kAtLeast},
    {UET_MEMBER(domain_attr, max_err_data), {1, 64}, {1 << 20, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, mr_cnt), {1, 65536}, {65537, kHuge}, kAtLeast},
    {UET_MEMBER(domain_attr, tclass),
     {FI_TC_BULK_DATA, FI_TC_DSCP | 10},
     {1, 0xFFFFFFFF, FI_TC_DSCP | 18},
     kSame},
    // The core fills the answer's prov_version with ours.
    {UET_MEMBER(fabric_attr, prov_version),
     {FI_VERSION(0, 1)},
     {FI_VERSION(0, 2), 0xFFFFFFFF},
     kAtLeast},
};

TEST(GetinfoHintsTest, SupportedHintsAreGrantedAndReported) {
  for (const Row& row : kRows) {
    for (const uint64_t value : row.granted) {
      const Info hints = make_hints();
      row.set(*hints, value);
      const Answer answer = ask_loopback(*hints);
      ASSERT_EQ(answer.result, 0) << row.member << " = " << value;
      if (value == 0) continue;
      const uint64_t got = row.get(*answer.info);
      if (row.report == Row::Report::same) {
        EXPECT_EQ(got, value) << row.member;
      } else {
        EXPECT_GE(got, value) << row.member;
      }
    }
  }
}

TEST(GetinfoHintsTest, UnsupportedHintsAreRefused) {
  for (const Row& row : kRows) {
    for (const uint64_t value : row.refused) {
      const Info hints = make_hints();
      row.set(*hints, value);
      EXPECT_EQ(ask_loopback(*hints).result, -FI_ENODATA) << row.member << " = " << value;
    }
  }
}

// [LF-047] Each remote segment is a message of the queue.
TEST(GetinfoHintsTest, ShortQueuesTakeFewerRemoteSegments) {
  const Info hints = make_hints();
  hints->tx_attr->size = 16;
  const Answer answer = ask_loopback(*hints);
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.info->tx_attr->rma_iov_limit, 16u);
  hints->tx_attr->rma_iov_limit = 17;
  EXPECT_EQ(ask_loopback(*hints).result, -FI_ENODATA);
}

// [LF-090] A size of ordered data asks for that order; without RMA it means nothing.
TEST(GetinfoHintsTest, OrderSizesBringTheirOrder) {
  const struct {
    const char* name;
    size_t fi_ep_attr::*size;
    uint64_t order;
    uint64_t other;
    size_t most;
  } cases[] = {
      {"raw", &fi_ep_attr::max_order_raw_size, FI_ORDER_RAW, FI_ORDER_WAR | FI_ORDER_WAW, kMessage},
      {"war", &fi_ep_attr::max_order_war_size, FI_ORDER_WAR, FI_ORDER_RAW | FI_ORDER_WAW, 16},
      {"waw", &fi_ep_attr::max_order_waw_size, FI_ORDER_WAW, FI_ORDER_RAW | FI_ORDER_WAR, kMessage},
  };
  for (const auto& c : cases) {
    const Info hints = make_hints();
    hints->ep_attr->*c.size = c.most;
    for (const uint64_t other : {uint64_t{0}, c.other}) {
      hints->tx_attr->msg_order = hints->rx_attr->msg_order = other;
      const Answer brought = ask_loopback(*hints);
      ASSERT_EQ(brought.result, 0) << c.name;
      EXPECT_EQ(brought.info->tx_attr->msg_order, c.order | other) << c.name;
      EXPECT_EQ(brought.info->rx_attr->msg_order, c.order | other) << c.name;
      EXPECT_EQ(brought.info->ep_attr->*c.size, c.most) << c.name;
    }
    hints->rx_attr->msg_order = 0;
    hints->tx_attr->msg_order = c.order;
    const Answer answer = ask_loopback(*hints);
    ASSERT_EQ(answer.result, 0) << c.name;
    EXPECT_EQ(answer.info->ep_attr->*c.size, c.most) << c.name;
    hints->ep_attr->*c.size = c.most + 1;
    EXPECT_EQ(ask_loopback(*hints).result, -FI_ENODATA) << c.name;
    hints->caps = FI_MSG;
    hints->tx_attr->msg_order = 0;
    const Answer without = ask_loopback(*hints);
    ASSERT_EQ(without.result, 0) << c.name;
    EXPECT_EQ(without.info->tx_attr->msg_order, 0u) << c.name;
  }
}

// [LF-067, LF-069, LF-113] Of the named tag formats of API 2.0 the three are
// granted by their numbers (FI_TAG_BITS 0, FI_TAG_MPI 1, FI_TAG_CCL 2), names to come are not; a
// bit mask always is, and before 2.0 everything is a bit mask.
TEST(GetinfoHintsTest, TagFormats) {
  constexpr uint64_t kAllBits = 0xAAAA'AAAA'AAAA'AAAA;
  const struct {
    uint64_t asked;
    uint64_t before;  // reported below API 2.0
    uint64_t since;   // from 2.0 on; 0: refused
  } cases[] = {
      {0, kAllBits, kAllBits},
      {1, kAllBits, 1},
      {2, kAllBits, 2},
      {3, kAllBits, 0},
      {0xFFFF, kAllBits, 0},
      {0x1'0000, kAllBits, kAllBits},
      {kHuge, kAllBits, kAllBits},
      {kAllBits, kAllBits, kAllBits},
  };
  for (const auto& c : cases) {
    const Info hints = make_hints();
    hints->ep_attr->mem_tag_format = c.asked;
    const Answer before = ask_loopback(*hints);
    ASSERT_EQ(before.result, 0) << c.asked;
    EXPECT_EQ(before.info->ep_attr->mem_tag_format, c.before) << c.asked;
    // A core of 1.x does not let an application of 2.0 in.
    if (FI_VERSION_LT(fi_version(), FI_VERSION(2, 0))) continue;
    const Answer since = ask_loopback(*hints, FI_VERSION(2, 0));
    ASSERT_EQ(since.result, c.since != 0 ? 0 : -FI_ENODATA) << c.asked;
    if (c.since == 0) continue;
    EXPECT_EQ(since.info->ep_attr->mem_tag_format, c.since) << c.asked;
  }
}

void set_key(uint8_t*& key, size_t& size, uint32_t job, size_t bytes) {
  key = static_cast<uint8_t*>(calloc(1, 8));
  std::memcpy(key, &job, 4);
  size = bytes;
}

uint32_t job_of(const uint8_t* key, size_t bytes) {
  uint32_t job = 0;
  if (bytes == 4) std::memcpy(&job, key, 4);
  return job;
}

// [LF-017] A key is four octets with a JobID of 24 bits, or FI_AV_AUTH_KEY (all ones) asks for keys
// in the address vector, which an application of 1.17 cannot mean. [LF-108]
TEST(GetinfoHintsTest, AKeyIsAJobIdInFourOctets) {
  const struct {
    uint32_t job;
    size_t bytes;
    int result;
  } cases[] = {
      {1, 4, 0},           {0xFF'FFFF, 4, 0},   {0, 4, -FI_ENODATA}, {0x100'0000, 4, -FI_ENODATA},
      {1, 3, -FI_ENODATA}, {1, 1, -FI_ENODATA}, {1, 8, -FI_ENODATA},
  };
  for (const auto& c : cases) {
    const Info of_domain = make_hints();
    set_key(of_domain->domain_attr->auth_key, of_domain->domain_attr->auth_key_size, c.job,
            c.bytes);
    EXPECT_EQ(ask_loopback(*of_domain).result, c.result) << c.job << ", " << c.bytes << " octets";
    const Info of_endpoint = make_hints();
    set_key(of_endpoint->ep_attr->auth_key, of_endpoint->ep_attr->auth_key_size, c.job, c.bytes);
    EXPECT_EQ(ask_loopback(*of_endpoint).result, c.result) << c.job << ", " << c.bytes << " octets";
  }
  const Info in_av = make_hints();
  in_av->domain_attr->auth_key_size = SIZE_MAX;  // no octets behind it
  EXPECT_EQ(ask_loopback(*in_av).result, -FI_ENODATA);
}

// [LF-084] Each key comes back in its place; the endpoint has the domain's key unless it has
// another.
TEST(GetinfoHintsTest, KeysComeBack) {
  const struct {
    uint32_t domain, endpoint;  // asked for; 0: none
    uint32_t got_endpoint;      // the domain gets the requested one
  } cases[] = {{0, 0, 0}, {7, 0, 7}, {0, 9, 9}, {7, 9, 9}};
  for (const auto& c : cases) {
    const Info hints = make_hints();
    fi_domain_attr& domain = *hints->domain_attr;
    fi_ep_attr& ep = *hints->ep_attr;
    if (c.domain != 0) set_key(domain.auth_key, domain.auth_key_size, c.domain, 4);
    if (c.endpoint != 0) set_key(ep.auth_key, ep.auth_key_size, c.endpoint, 4);
    const Answer answer = ask_loopback(*hints);
    ASSERT_EQ(answer.result, 0);
    const fi_info& info = *answer.info;
    EXPECT_EQ(job_of(info.domain_attr->auth_key, info.domain_attr->auth_key_size), c.domain);
    EXPECT_EQ(job_of(info.ep_attr->auth_key, info.ep_attr->auth_key_size), c.got_endpoint);
  }
}

// No endpoint here comes from a connection request. [LF-159, LF-160] On request, in either place;
// lnx passes the answer on.
TEST(GetinfoHintsTest, PeerCapabilitiesAreOnlyGrantedOnRequest) {
  for (const uint64_t wanted :
       {uint64_t{FI_PEER}, uint64_t{FI_AV_USER_ID}, uint64_t{FI_PEER | FI_AV_USER_ID}}) {
    for (const bool of_domain : {true, false}) {
      const Answer answer = ask_with(
          [&](fi_info& h) {
            h.caps = FI_TAGGED;
            (of_domain ? h.domain_attr->caps : h.caps) |= wanted;
          },
          "127.0.0.1", nullptr, FI_SOURCE);
      ASSERT_EQ(answer.result, 0);
      constexpr uint64_t kBoth = FI_PEER | FI_AV_USER_ID;
      EXPECT_EQ(answer.info->caps & kBoth, wanted);
      EXPECT_EQ(answer.info->domain_attr->caps & kBoth, wanted);
      EXPECT_EQ((answer.info->tx_attr->caps | answer.info->rx_attr->caps) & kBoth, 0u);
      const bool is_peer = (wanted & FI_PEER) != 0;
      EXPECT_EQ(answer.info->rx_attr->iov_limit, is_peer ? 4u : 64u);
      EXPECT_EQ(answer.info->tx_attr->rma_iov_limit, is_peer ? 4u : 64u);
#if UET_HAVE_AV_AUTH_KEY
      EXPECT_EQ(answer.info->domain_attr->max_ep_auth_key, is_peer ? 0u : 1u);
#endif
    }
  }
}

// [LF-159, LF-160] A helper thread would ask at any time, and a datagram or a key has no such name.
TEST(GetinfoHintsTest, PeersDoNotGoWithEverything) {
  const auto result = [](uint64_t caps, const std::function<void(fi_info&)>& change) {
    return ask_with(
               [&](fi_info& h) {
                 h.caps = FI_MSG | caps;
                 change(h);
               },
               "127.0.0.1", nullptr, FI_SOURCE)
        .result;
  };
  const auto automatic = [](fi_info& h) { h.domain_attr->data_progress = FI_PROGRESS_AUTO; };
  const auto datagram = [](fi_info& h) { h.ep_attr->type = FI_EP_DGRAM; };
  EXPECT_EQ(result(FI_PEER, automatic), -FI_ENODATA);
  EXPECT_EQ(result(FI_AV_USER_ID, automatic), 0);
  EXPECT_EQ(result(FI_PEER, datagram), -FI_ENODATA);
  EXPECT_EQ(result(FI_AV_USER_ID, datagram), -FI_ENODATA);
  const auto buffers = [](fi_info& h) { h.rx_attr->iov_limit = 10; };
  EXPECT_EQ(result(FI_PEER, buffers), 0);
}

TEST(GetinfoHintsTest, AHandleIsRefused) {
  fid any{};
  const Info hints = make_hints();
  hints->handle = &any;
  EXPECT_EQ(ask_loopback(*hints).result, -FI_ENODATA);
}

// [fi_fabric, fabric attributes] An open fabric in the hints restricts the answer to itself; the
// answer names the open fabric.
TEST(GetinfoHintsTest, AnOpenFabricIsAFilterAndIsReported) {
  const Answer first = ask_loopback(*make_hints());
  ASSERT_EQ(first.result, 0);
  EXPECT_EQ(first.info->fabric_attr->fabric, nullptr);
  fid_fabric* fabric = nullptr;
  fid_fabric* second = nullptr;
  ASSERT_EQ(fi_fabric(first.info->fabric_attr, &fabric, nullptr), 0);
  ASSERT_EQ(fi_fabric(first.info->fabric_attr, &second, nullptr), 0);
  const auto of = [](fid_fabric* which) {
    return [which](fi_info& h) { h.fabric_attr->fabric = which; };
  };

  const Answer told = ask_loopback(*make_hints());
  ASSERT_EQ(told.result, 0);
  EXPECT_EQ(told.info->fabric_attr->fabric, fabric) << "the first that was opened";
  for (fid_fabric* const wanted : {fabric, second}) {
    const Answer all = ask_with(of(wanted));
    ASSERT_EQ(all.result, 0);
    for (const fi_info* info = all.info.get(); info != nullptr; info = info->next) {
      EXPECT_STREQ(info->fabric_attr->name, "UET-lo");
      EXPECT_EQ(info->fabric_attr->fabric, wanted);
    }
  }
  const auto with_name = [&](const char* name) {
    return ask_with([&](fi_info& h) {
             h.fabric_attr->fabric = fabric;
             h.fabric_attr->name = strdup(name);
           })
        .result;
  };
  EXPECT_EQ(with_name("uet-lo"), 0);
  EXPECT_EQ(with_name("UET"), -FI_ENODATA);
  EXPECT_EQ(ask_with(of(fabric), "::1", nullptr, FI_SOURCE).result, -FI_ENODATA) << "UET6-lo";

  EXPECT_EQ(fi_close(&fabric->fid), 0);
  EXPECT_EQ(ask_with(of(fabric)).result, -FI_ENODATA) << "it is not open any more";
  EXPECT_EQ(ask_loopback(*make_hints()).info->fabric_attr->fabric, second);
  EXPECT_EQ(fi_close(&second->fid), 0);
  EXPECT_EQ(ask_loopback(*make_hints()).info->fabric_attr->fabric, nullptr);
}

// Hints at random: whatever is answered keeps every wish, and nothing else is answered than yes and
// no. The seed is printed by a failure.
TEST(GetinfoHintsTest, AnAnswerKeepsEveryWish) {
  uint32_t granted = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Info hints = make_hints();
    std::vector<std::pair<const Row*, uint64_t>> wishes;
    for (const Row& row : kRows) {
      if (random() % 8 != 0) continue;
      const std::vector<uint64_t>& values = random() % 24 == 0 ? row.refused : row.granted;
      const uint64_t value = values[random() % values.size()];
      row.set(*hints, value);
      wishes.emplace_back(&row, value);
    }
    if (random() % 4 == 0) hints->caps = random() & random() & random() & random();
    const Answer answer = ask_loopback(*hints);
    if (answer.result != 0) {
      ASSERT_EQ(answer.result, -FI_ENODATA) << "seed " << seed;
      continue;
    }
    ++granted;
    EXPECT_EQ(answer.info->caps & hints->caps, hints->caps) << "seed " << seed;
    for (const auto& [row, value] : wishes) {
      if (value == 0) continue;
      const uint64_t got = row->get(*answer.info);
      EXPECT_TRUE(row->report == Row::Report::same ? got == value : got >= value)
          << "seed " << seed << ": " << row->member << " = " << value << ", got " << got;
    }
  }
  EXPECT_GT(granted, 300u) << "too few answers to say anything";
}

}  // namespace
}  // namespace uet::prov

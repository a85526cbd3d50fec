// Hints compared with libfabric's tcp provider: programs are written against it, so uet accepts the
// hints that tcp accepts. The reverse is not tested. Rows that differ state the reason. [ABI-033,
// LF-152]
#include "prov/uet/test/getinfo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

// The first answer of that provider for an endpoint of type RDM on loopback.
Answer ask_of(const char* provider, const std::function<void(fi_info&)>& change) {
  Info hints(fi_allocinfo(), &fi_freeinfo);
  hints->fabric_attr->prov_name = strdup(provider);
  hints->ep_attr->type = FI_EP_RDM;
  change(*hints);
  return ask(hints.get(), "127.0.0.1", nullptr, FI_SOURCE, fi_version());
}

struct Row {
  const char* what;
  std::function<void(fi_info&)> change;
  const char* reason = nullptr;  // why uet refuses what tcp takes; null: it does not
};

constexpr uint64_t kMessages = FI_MSG | FI_TAGGED;
// Values of the hints, supported or not.
const std::vector<Row> kRows = {
    {"nothing", [](fi_info&) {}},
    {"messages", [](fi_info& h) { h.caps = FI_MSG; }},
    {"tagged messages", [](fi_info& h) { h.caps = FI_TAGGED; }},
    {"messages and RMA", [](fi_info& h) { h.caps = kMessages | FI_RMA; }},
    {"sends alone", [](fi_info& h) { h.caps = FI_MSG | FI_SEND; }},
    {"writes alone", [](fi_info& h) { h.caps = FI_RMA | FI_WRITE; }},
    {"directed receives", [](fi_info& h) { h.caps = kMessages | FI_DIRECTED_RECV; }},
    {"sources", [](fi_info& h) { h.caps = kMessages | FI_SOURCE; }},
    {"multi-receive", [](fi_info& h) { h.caps = FI_MSG | FI_MULTI_RECV; }},
    {"RMA events", [](fi_info& h) { h.caps = FI_MSG | FI_RMA | FI_RMA_EVENT; }},
    {"local and remote peers",
     [](fi_info& h) { h.caps = kMessages | FI_LOCAL_COMM | FI_REMOTE_COMM; }},
    {"every mode", [](fi_info& h) { h.mode = ~0ULL; }},
    {"a prefix of no octets",
     [](fi_info& h) {
       h.mode = FI_MSG_PREFIX;
       h.ep_attr->msg_prefix_size = 0;
     }},
    // Registration
    {"no registration mode", [](fi_info& h) { h.domain_attr->mr_mode = 0; }},
    {"FI_MR_BASIC", [](fi_info& h) { h.domain_attr->mr_mode = 1 << 0; }},
    {"FI_MR_SCALABLE", [](fi_info& h) { h.domain_attr->mr_mode = 1 << 1; }},
    {"FI_MR_BASIC in bits",
     [](fi_info& h) {
       h.domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
     }},
    {"every bit of registration", [](fi_info& h) { h.domain_attr->mr_mode = 0x7FC; }},
    {"FI_MR_LOCAL", [](fi_info& h) { h.domain_attr->mr_mode = FI_MR_LOCAL; }},
    {"FI_MR_PROV_KEY", [](fi_info& h) { h.domain_attr->mr_mode = FI_MR_PROV_KEY; }},
    {"FI_MR_ENDPOINT", [](fi_info& h) { h.domain_attr->mr_mode = FI_MR_ENDPOINT; }},
    {"keys of 64 bits", [](fi_info& h) { h.domain_attr->mr_key_size = 8; }},
    // Order
    {"the default order",
     [](fi_info& h) {
       h.tx_attr->msg_order = 0;
       h.rx_attr->msg_order = 0;
     }},
    {"SAS", [](fi_info& h) { h.tx_attr->msg_order = h.rx_attr->msg_order = FI_ORDER_SAS; }},
    {"every order of sends and RMA",
     [](fi_info& h) {
       h.tx_attr->msg_order = h.rx_attr->msg_order =
           FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAW |
           FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW |
           FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAW;
     }},
    {"RMA_RAW and RMA_WAW",
     [](fi_info& h) {
       h.caps = FI_RMA;
       h.tx_attr->msg_order = FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW;
     }},
    {"sizes of ordered RMA, with the order",
     [](fi_info& h) {
       h.caps = FI_RMA;
       h.tx_attr->msg_order = FI_ORDER_RAW | FI_ORDER_WAW;
       h.ep_attr->max_order_raw_size = 4096;
       h.ep_attr->max_order_waw_size = 4096;
     }},
    {"sizes of ordered RMA, without the order",
     [](fi_info& h) {
       h.caps = FI_RMA;
       h.ep_attr->max_order_raw_size = 4096;
       h.ep_attr->max_order_waw_size = 4096;
     }},
    {"sizes of ordered RMA, without RMA",
     [](fi_info& h) {
       h.caps = FI_MSG;
       h.ep_attr->max_order_raw_size = h.ep_attr->max_order_waw_size = 4096;
     }},
    // Operations
    {"every completion level but one",
     [](fi_info& h) {
       h.tx_attr->op_flags = FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
                             FI_DELIVERY_COMPLETE | FI_COMPLETION;
     }},
    {"FI_COMMIT_COMPLETE", [](fi_info& h) { h.tx_attr->op_flags = FI_COMMIT_COMPLETE; },
     "there is no persistent memory here; tcp takes the flag and does nothing for it [LF-056]"},
    {"multi-receive by default", [](fi_info& h) { h.rx_attr->op_flags = FI_MULTI_RECV; }},
    {"injects of 64 octets", [](fi_info& h) { h.tx_attr->inject_size = 64; }},
    {"queues of 2,048", [](fi_info& h) { h.tx_attr->size = h.rx_attr->size = 2048; }},
    {"queues of 65,536", [](fi_info& h) { h.tx_attr->size = h.rx_attr->size = 65536; },
     "an endpoint takes the memory of its queues when it is enabled; 16,384 is the maximum"},
    {"four buffers a call", [](fi_info& h) { h.tx_attr->iov_limit = h.rx_attr->iov_limit = 4; }},
    {"messages of 1 GiB", [](fi_info& h) { h.ep_attr->max_msg_size = size_t{1} << 30; }},
    {"messages of 8 GiB", [](fi_info& h) { h.ep_attr->max_msg_size = size_t{8} << 30; },
     "a message has a length of 32 bits on the wire [SES-012, LF-073]"},
    {"64 bits of tag", [](fi_info& h) { h.ep_attr->mem_tag_format = UINT64_MAX; }},
    {"a context each", [](fi_info& h) { h.ep_attr->tx_ctx_cnt = h.ep_attr->rx_ctx_cnt = 1; }},
    // Domain
    {"automatic progress",
     [](fi_info& h) {
       h.domain_attr->control_progress = h.domain_attr->data_progress = FI_PROGRESS_AUTO;
     }},
    {"manual progress",
     [](fi_info& h) {
       h.domain_attr->control_progress = h.domain_attr->data_progress = FI_PROGRESS_MANUAL;
     }},
    {"no locks", [](fi_info& h) { h.domain_attr->threading = FI_THREAD_DOMAIN; }},
    {"every lock", [](fi_info& h) { h.domain_attr->threading = FI_THREAD_SAFE; }},
    {"managed resources", [](fi_info& h) { h.domain_attr->resource_mgmt = FI_RM_ENABLED; }},
    {"an AV by address", [](fi_info& h) { h.domain_attr->av_type = FI_AV_MAP; }},
    {"an AV by number", [](fi_info& h) { h.domain_attr->av_type = FI_AV_TABLE; }},
    {"CQ data of 8 octets", [](fi_info& h) { h.domain_attr->cq_data_size = 8; }},
    {"256 endpoints", [](fi_info& h) { h.domain_attr->ep_cnt = 256; }},
    {"a traffic class", [](fi_info& h) { h.tx_attr->tclass = FI_TC_BULK_DATA; }},
    // Addresses
    {"socket addresses", [](fi_info& h) { h.addr_format = FI_SOCKADDR; }},
    {"socket addresses of IPv4", [](fi_info& h) { h.addr_format = FI_SOCKADDR_IN; }},
};

TEST(GetinfoPeersTest, UetAcceptsTheHintsThatTcpAccepts) {
  // The provider has another name where RDM endpoints are made of MSG endpoints.
  const char* tcp = nullptr;
  for (const char* const name : {"tcp", "tcp;ofi_rxm"}) {
    if (tcp == nullptr && ask_of(name, [](fi_info&) {}).result == 0) tcp = name;
  }
  ASSERT_NE(tcp, nullptr) << "libfabric's tcp provider is not built in here";
  size_t taken = 0;
  for (const Row& row : kRows) {
    const Answer theirs = ask_of(tcp, row.change);
    const Answer ours = ask_of("uet", row.change);
    taken += theirs.result == 0;
    if (row.reason != nullptr) {
      EXPECT_EQ(ours.result, -FI_ENODATA) << row.what << " is taken; the reason is out of date";
    } else if (theirs.result == 0) {
      EXPECT_EQ(ours.result, 0) << row.what << " is taken by " << tcp;
    }
  }
  EXPECT_GT(taken, 30u) << "too few to compare with";
}

// A program passes the answer of tcp as hints to uet: registration modes, order and limits from
// fi_getinfo can be requested, except the numbers above.
TEST(GetinfoPeersTest, AnAnswerOfTcpCanBeAskedFor) {
  const Answer theirs = ask_of("tcp", [](fi_info& h) { h.caps = kMessages | FI_RMA; });
  if (theirs.result != 0) GTEST_SKIP() << "tcp has no RDM endpoints of its own in this libfabric";
  const fi_info& t = *theirs.info;
  const Answer ours = ask_of("uet", [&](fi_info& h) {
    h.caps = t.caps & ~FI_RMA_PMEM;  // no persistent memory [LF-056]
    h.domain_attr->mr_mode = t.domain_attr->mr_mode;
    h.domain_attr->mr_key_size = t.domain_attr->mr_key_size;
    h.tx_attr->msg_order = t.tx_attr->msg_order;
    h.rx_attr->msg_order = t.rx_attr->msg_order;
    h.domain_attr->av_type = t.domain_attr->av_type;
    h.domain_attr->cq_data_size = t.domain_attr->cq_data_size;
    h.ep_attr->mem_tag_format = t.ep_attr->mem_tag_format;
  });
  EXPECT_EQ(ours.result, 0);
}

}  // namespace
}  // namespace uet::prov

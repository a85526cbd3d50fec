// fi_getinfo through libfabric: which domains are offered, and which hints are met or refused.
// Expected answers are from libfabric's manual pages and the mapping reference.
#include "prov/uet/test/getinfo.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

// Octet `at` of an address in the 40-octet form.
int octet(const void* address, size_t at) { return static_cast<const uint8_t*>(address)[at]; }

TEST(GetinfoTest, LoopbackIsOfferedLast) {
  const Answer answer = ask(make_hints().get());
  ASSERT_EQ(answer.result, 0);
  bool loopback = false;
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    const bool lo = strncmp(info->domain_attr->name, "lo", 2) == 0;
    EXPECT_TRUE(lo || !loopback) << info->domain_attr->name << " after loopback";
    loopback = loopback || lo;
  }
  EXPECT_TRUE(loopback);
}

// [LF-001] Networks that cannot reach each other are separate fabrics: IPv4, IPv6 and loopback.
TEST(GetinfoTest, NetworksThatCannotReachEachOtherAreSeparateFabrics) {
  const Answer answer = ask(make_hints().get());
  ASSERT_EQ(answer.result, 0);
  bool seen = false;
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    const std::string domain = info->domain_attr->name, fabric = info->fabric_attr->name;
    const bool ipv6 = domain.find(':') != std::string::npos;
    if (domain.rfind("lo", 0) == 0) {
      EXPECT_EQ(fabric, ipv6 ? "UET6-lo" : "UET-lo") << domain;
      seen = true;
    } else if (ipv6) {
      EXPECT_EQ(fabric, "UET6") << domain;
    }
  }
  EXPECT_TRUE(seen);
}

// [LF-001] The fabric name of the hints decides; an unknown one finds nothing.
TEST(GetinfoTest, FabricNameIsAFilter) {
  auto hints = make_hints();
  hints->fabric_attr->name = strdup("uet-LO");
  const Answer answer = ask(hints.get());
  ASSERT_EQ(answer.result, 0);
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    EXPECT_STREQ(info->fabric_attr->name, "UET-lo");
  }
  free(hints->fabric_attr->name);
  hints->fabric_attr->name = strdup("ethernet");
  EXPECT_EQ(ask(hints.get()).result, -FI_ENODATA);
}

// [LF-071, LF-073, LF-075, LF-076, LF-078, LF-082] What an application without wishes gets. That it
// gets anything says that the plug-in was found by its file name and its one symbol, and states an
// API version that is not below the one asked for. [ABI-005, ABI-010, ABI-011, ABI-013]
TEST(GetinfoTest, DefaultsAreTheDocumentedOnes) {
  const Answer answer = ask(make_hints().get());
  ASSERT_EQ(answer.result, 0);
  const fi_info& info = *answer.info;
  EXPECT_EQ(strncmp(info.fabric_attr->name, "UET", 3), 0) << info.fabric_attr->name;
  EXPECT_STREQ(info.fabric_attr->prov_name, "uet");                                    // [ABI-014]
  EXPECT_EQ(info.fabric_attr->api_version, static_cast<uint32_t>(FI_VERSION(1, 17)));  // [LF-085]
  EXPECT_EQ(info.caps & (0b1'0111ULL << 44), 0u);  // new meanings in libfabric 2 [LF-114, LF-115]
  // Unknown senders are errors only on request. [LF-016]
  EXPECT_EQ(info.caps & (FI_SOURCE | FI_SOURCE_ERR), uint64_t{FI_SOURCE});
  EXPECT_EQ(info.rx_attr->caps & (FI_SOURCE | FI_SOURCE_ERR), uint64_t{FI_SOURCE});
  EXPECT_EQ(info.mode, 0u);
  EXPECT_EQ(info.addr_format, static_cast<uint32_t>(FI_FORMAT_UNSPEC));
  EXPECT_EQ(info.ep_attr->type, FI_EP_RDM);
  EXPECT_EQ(info.ep_attr->protocol, 0x80554554u);  // [LF-009, LF-110]
  EXPECT_EQ(info.ep_attr->protocol_version, 1u);
  EXPECT_EQ(info.ep_attr->max_msg_size, 4294967294u);
  EXPECT_EQ(info.ep_attr->mem_tag_format, 0xAAAA'AAAA'AAAA'AAAAu);  // [LF-064]
  EXPECT_EQ(info.ep_attr->max_order_raw_size, 0u);
  EXPECT_EQ(info.tx_attr->inject_size, 8192u);
  EXPECT_EQ(info.tx_attr->size, 1024u);
  EXPECT_EQ(info.tx_attr->iov_limit, 64u);
  EXPECT_EQ(info.tx_attr->rma_iov_limit, 64u);
  EXPECT_EQ(info.tx_attr->msg_order, 0u);
  EXPECT_EQ(info.rx_attr->size, 1024u);
  EXPECT_EQ(info.domain_attr->threading, FI_THREAD_SAFE);
  EXPECT_EQ(info.domain_attr->data_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(info.domain_attr->control_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(info.domain_attr->resource_mgmt, FI_RM_ENABLED);
  EXPECT_EQ(info.domain_attr->av_type, FI_AV_UNSPEC);  // both are taken
  EXPECT_EQ(info.domain_attr->mr_mode, 0);
  EXPECT_EQ(info.domain_attr->mr_key_size, 8u);
  EXPECT_EQ(info.domain_attr->cq_data_size, 8u);
  EXPECT_EQ(info.src_addrlen, 40u);
  EXPECT_EQ(info.dest_addr, nullptr);
}

// [LF-088] One entry for each local address, with a unique name.
TEST(GetinfoTest, EveryAddressIsOneDomain) {
  const Answer answer = ask(make_hints().get());
  ASSERT_EQ(answer.result, 0);
  std::set<std::string> names;
  std::set<std::string> addresses;
  size_t entries = 0;
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next, ++entries) {
    names.insert(info->domain_attr->name);
    // Family and Fabric Address of the 40 octets.
    const auto* octets = static_cast<const char*>(info->src_addr);
    addresses.insert(std::string(octets + 1, 1) + std::string(octets + 16, 16));
  }
  EXPECT_EQ(names.size(), entries);
  EXPECT_EQ(addresses.size(), entries);
}

// [fi_domain, domain attributes] An open domain in the hints restricts the answer to itself; the
// answer names the open domain.
TEST(GetinfoTest, AnOpenDomainIsAFilterAndIsReported) {
  const Answer first = ask(make_hints().get(), "127.0.47.9", nullptr, FI_SOURCE);
  ASSERT_EQ(first.result, 0);
  EXPECT_EQ(first.info->domain_attr->domain, nullptr);
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  ASSERT_EQ(fi_fabric(first.info->fabric_attr, &fabric, nullptr), 0);
  ASSERT_EQ(fi_domain(fabric, first.info.get(), &domain, nullptr), 0);
  const auto of_domain = [&](fi_info& h) { h.domain_attr->domain = domain; };

  const Answer again = ask(make_hints().get(), "127.0.47.9", nullptr, FI_SOURCE);
  ASSERT_EQ(again.result, 0);
  EXPECT_EQ(again.info->domain_attr->domain, domain);
  const Answer restricted = ask_with(of_domain);
  ASSERT_EQ(restricted.result, 0);
  EXPECT_EQ(restricted.info->next, nullptr);
  EXPECT_STREQ(restricted.info->domain_attr->name, first.info->domain_attr->name);
  EXPECT_EQ(ask_with(of_domain, "127.0.0.1", nullptr, FI_SOURCE).result, -FI_ENODATA);

  EXPECT_EQ(fi_close(&domain->fid), 0);
  EXPECT_EQ(ask_with(of_domain).result, -FI_ENODATA) << "it is not open any more";
  EXPECT_EQ(fi_close(&fabric->fid), 0);
}

TEST(GetinfoTest, NoHintsAreEnough) {
  const Answer answer = ask(nullptr);
  ASSERT_EQ(answer.result, 0);
  EXPECT_NE(answer.info->caps & FI_ATOMIC, 0u);
}

// [LF-128] Applications from before 1.5, and MPICH 4.0, which asks as version 0, know two ways of
// registering memory and get the one that needs no virtual addresses.
TEST(GetinfoTest, OldApplicationsHearOfScalableRegistration) {
  for (const int version : {0, FI_VERSION(1, 0), FI_VERSION(1, 4)}) {
    SCOPED_TRACE(version);
    const Answer any = ask(nullptr, nullptr, nullptr, 0, version);
    ASSERT_EQ(any.result, 0);
    EXPECT_EQ(any.info->domain_attr->mr_mode, kMrScalable);
    const auto hints = make_hints();
    hints->domain_attr->mr_mode = kMrScalable;
    EXPECT_EQ(ask(hints.get(), nullptr, nullptr, 0, version).result, 0);
    hints->domain_attr->mr_mode = kMrBasic;  // [LF-151]
    EXPECT_EQ(ask(hints.get(), nullptr, nullptr, 0, version).info->domain_attr->mr_mode, kMrBasic);
  }
  const Answer now = ask(nullptr, nullptr, nullptr, 0, FI_VERSION(1, 5));
  ASSERT_EQ(now.result, 0);
  EXPECT_EQ(now.info->domain_attr->mr_mode, 0);
}

// [LF-068] A class without direction means all directions; otherwise only capabilities without cost
// are added.
TEST(GetinfoTest, CapabilitiesAreTheRequestedOnes) {
  const struct {
    uint64_t asked;
    uint64_t caps;
    uint64_t tx;
    uint64_t rx;
  } cases[] = {
      {FI_MSG, FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_FENCE, FI_MSG | FI_SEND | FI_FENCE,
       FI_MSG | FI_RECV | FI_MULTI_RECV},
      {FI_TAGGED | FI_SEND, FI_TAGGED | FI_SEND | FI_FENCE, FI_TAGGED | FI_SEND | FI_FENCE,
       FI_TAGGED},
      {FI_RMA, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_FENCE,
       FI_RMA | FI_READ | FI_WRITE | FI_FENCE, FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE},
      {FI_MSG | FI_SOURCE | FI_DIRECTED_RECV,
       FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_FENCE | FI_SOURCE | FI_DIRECTED_RECV,
       FI_MSG | FI_SEND | FI_FENCE,
       FI_MSG | FI_RECV | FI_MULTI_RECV | FI_SOURCE | FI_DIRECTED_RECV},
  };
  for (const auto& c : cases) {
    const Answer answer = ask_with([&](fi_info& h) { h.caps = c.asked; });
    ASSERT_EQ(answer.result, 0) << c.asked;
    EXPECT_EQ(answer.info->caps, c.caps | FI_LOCAL_COMM | FI_REMOTE_COMM) << c.asked;
    EXPECT_EQ(answer.info->tx_attr->caps, c.tx) << c.asked;
    EXPECT_EQ(answer.info->rx_attr->caps, c.rx) << c.asked;
  }
}

// [LF-009, LF-029, LF-077, LF-078, LF-100]
TEST(GetinfoTest, UnsupportedCapabilitiesAreRefused) {
  const std::vector<std::pair<const char*, std::function<void(fi_info&)>>> cases = {
      {"collectives", [](fi_info& h) { h.caps = FI_COLLECTIVE; }},
      {"multicast", [](fi_info& h) { h.caps = FI_MULTICAST; }},
      {"triggers", [](fi_info& h) { h.caps = FI_MSG | FI_TRIGGER; }},
      {"device memory", [](fi_info& h) { h.caps = FI_MSG | FI_HMEM; }},
      {"source errors without source", [](fi_info& h) { h.caps = FI_MSG | FI_SOURCE_ERR; }},
      {"tx caps beyond caps",
       [](fi_info& h) {
         h.caps = FI_MSG;
         h.tx_attr->caps = FI_RMA;
       }},
      {"rx caps beyond caps",
       [](fi_info& h) {
         h.caps = FI_MSG;
         h.rx_attr->caps = FI_TAGGED;
       }},
      {"connected endpoints", [](fi_info& h) { h.ep_attr->type = FI_EP_MSG; }},
      {"protocol", [](fi_info& h) { h.ep_attr->protocol = FI_PROTO_UDP; }},
      {"protocol version", [](fi_info& h) { h.ep_attr->protocol_version = 2; }},
      {"message size", [](fi_info& h) { h.ep_attr->max_msg_size = 4294967295u; }},
      {"prefix", [](fi_info& h) { h.ep_attr->msg_prefix_size = 8; }},
      {"tx contexts", [](fi_info& h) { h.ep_attr->tx_ctx_cnt = 2; }},
      {"shared context", [](fi_info& h) { h.ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT; }},
      {"data order", [](fi_info& h) { h.tx_attr->msg_order = 1ULL << 16; }},
      {"completion order", [](fi_info& h) { h.tx_attr->comp_order = 1; }},
      {"commit complete", [](fi_info& h) { h.tx_attr->op_flags = FI_COMMIT_COMPLETE; }},
      {"inject", [](fi_info& h) { h.tx_attr->inject_size = 8193; }},
      {"tx queue", [](fi_info& h) { h.tx_attr->size = 1 << 20; }},
      {"tx iov", [](fi_info& h) { h.tx_attr->iov_limit = 65; }},
      {"rma iov", [](fi_info& h) { h.tx_attr->rma_iov_limit = 65; }},
      {"traffic class", [](fi_info& h) { h.tx_attr->tclass = 0x300; }},
      {"rx queue", [](fi_info& h) { h.rx_attr->size = 1 << 20; }},
      {"rx iov", [](fi_info& h) { h.rx_attr->iov_limit = 65; }},
      {"buffered receives", [](fi_info& h) { h.rx_attr->total_buffered_recv = 1; }},
      {"data size", [](fi_info& h) { h.domain_attr->cq_data_size = 9; }},
      {"key size", [](fi_info& h) { h.domain_attr->mr_key_size = 9; }},
      {"region iov", [](fi_info& h) { h.domain_attr->mr_iov_limit = 65; }},
      {"shared AV", [](fi_info& h) { h.domain_attr->caps = FI_SHARED_AV; }},
      {"address format", [](fi_info& h) { h.addr_format = FI_ADDR_PSMX2; }},
      {"domain name", [](fi_info& h) { h.domain_attr->name = strdup("no_such_interface"); }},
      {"fabric name", [](fi_info& h) { h.fabric_attr->name = strdup("other"); }},
  };
  for (const auto& [what, change] : cases) {
    EXPECT_EQ(ask_with(change).result, -FI_ENODATA) << what;
  }
}

// [ABI-031, ABI-034] The flag of probes for layered providers.
TEST(GetinfoTest, ProbesOfLayeredProvidersAreRefused) {
  EXPECT_EQ(ask(make_hints().get(), nullptr, nullptr, 1ULL << 59).result, -FI_ENODATA);
}

// [LF-089, LF-090] Every order is met, and only then sizes are stated.
TEST(GetinfoTest, OrdersAreMetOneByOne) {
  for (unsigned bit = 0; bit < 40; ++bit) {
    if (bit > 8 && bit < 32) continue;
    const uint64_t order = 1ULL << bit;
    const Answer answer = ask_with([&](fi_info& h) {
      h.tx_attr->msg_order = order;
      h.rx_attr->msg_order = order;
    });
    ASSERT_EQ(answer.result, 0) << bit;
    EXPECT_EQ(answer.info->tx_attr->msg_order, order) << bit;
    EXPECT_EQ(answer.info->rx_attr->msg_order, order) << bit;
    const fi_ep_attr& ep = *answer.info->ep_attr;
    const auto size = [](bool asked) { return asked ? 4294967294u : 0u; };
    EXPECT_EQ(ep.max_order_raw_size, size(bit == 1 || bit == 33 || bit == 37)) << bit;
    const bool is_war = bit == 3 || bit == 34 || bit == 38;
    EXPECT_EQ(ep.max_order_war_size, is_war ? 16u : 0u) << bit;  // what an ACK carries
    EXPECT_EQ(ep.max_order_waw_size, size(bit == 4 || bit == 35 || bit == 39)) << bit;
  }
}

// [LF-029, LF-031, LF-033, LF-079] No bit that was not offered, and none that is not needed.
TEST(GetinfoTest, RegistrationModesComeFromTheOffer) {
  const struct {
    int offered;
    int mode;
  } cases[] = {
      {0, 0},
      {FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_MMU_NOTIFY, 0},
      {FI_MR_PROV_KEY, FI_MR_PROV_KEY},
      {FI_MR_ENDPOINT, 0},  // regions are visible to the whole domain [LF-038]
      {FI_MR_ALLOCATED, FI_MR_ALLOCATED},
      {FI_MR_RMA_EVENT, FI_MR_RMA_EVENT},
      {1 << 1, 1 << 1},  // FI_MR_SCALABLE is kept as it is
      {1 << 0, 1 << 0},  // so is FI_MR_BASIC [LF-151]
  };
  for (const auto& c : cases) {
    const Answer answer = ask_with([&](fi_info& h) { h.domain_attr->mr_mode = c.offered; });
    ASSERT_EQ(answer.result, 0) << c.offered;
    EXPECT_EQ(answer.info->domain_attr->mr_mode, c.mode) << c.offered;
    EXPECT_EQ(answer.info->domain_attr->mr_key_size, 8u) << c.offered;
  }
  const Answer no_event = ask_with([](fi_info& h) {
    h.caps = FI_RMA;
    h.domain_attr->mr_mode = FI_MR_RMA_EVENT;
  });
  ASSERT_EQ(no_event.result, 0);
  EXPECT_EQ(no_event.info->domain_attr->mr_mode, 0);
}

// [LF-012, ABI-043] What Open MPI asks for.
TEST(GetinfoTest, OpenMpiIsServed) {
  const Info hints = make_hints();
  hints->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->tx_attr->op_flags = FI_COMPLETION;
  hints->rx_attr->op_flags = FI_COMPLETION;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = FI_AV_MAP;
  hints->domain_attr->cq_data_size = 4;
  const Answer answer = ask(hints.get(), nullptr, nullptr, 0, FI_VERSION(1, 5));
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.info->domain_attr->mr_mode, 0);
  EXPECT_EQ(answer.info->domain_attr->av_type, FI_AV_MAP);
  EXPECT_EQ(answer.info->domain_attr->threading, FI_THREAD_DOMAIN);
  EXPECT_NE(answer.info->ep_attr->mem_tag_format, 0u);
}

TEST(GetinfoTest, AutomaticProgressIsGranted) {
  const Answer answer = ask_with([](fi_info& h) {
    h.domain_attr->control_progress = FI_PROGRESS_AUTO;
    h.domain_attr->data_progress = FI_PROGRESS_AUTO;
  });
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.info->domain_attr->control_progress, FI_PROGRESS_AUTO);
  EXPECT_EQ(answer.info->domain_attr->data_progress, FI_PROGRESS_AUTO);
}

// [LF-111, LF-112] A value of later versions, in the member that all versions have.
TEST(GetinfoTest, UnifiedProgressIsManual) {
  const Answer answer = ask_with([](fi_info& h) {
    h.domain_attr->control_progress = static_cast<fi_progress>(3);  // CONTROL_UNIFIED
    h.domain_attr->data_progress = FI_PROGRESS_MANUAL;
  });
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.info->domain_attr->control_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(answer.info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
}

// [LF-092, CMS-177] Without those of trimmed packets, for which receivers would take all data.
TEST(GetinfoTest, TrafficClassesAreEchoed) {
  for (const uint32_t tclass : {fi_tc_dscp_set(0), fi_tc_dscp_set(63), uint32_t{FI_TC_LOW_LATENCY},
                                uint32_t{FI_TC_NETWORK_CTRL}}) {
    const Answer answer = ask_with([&](fi_info& h) { h.tx_attr->tclass = tclass; });
    ASSERT_EQ(answer.result, 0) << tclass;
    EXPECT_EQ(answer.info->tx_attr->tclass, tclass);
  }
  for (const uint8_t dscp : {uint8_t{16}, uint8_t{18}}) {
    EXPECT_EQ(ask_with([&](fi_info& h) { h.tx_attr->tclass = fi_tc_dscp_set(dscp); }).result,
              -FI_ENODATA);
  }
}

// [LF-017, LF-084] A JobID is four octets in host order; any other length is refused.
TEST(GetinfoTest, AuthorizationKeyIsAJobId) {
  const auto with_key = [](uint32_t job, size_t bytes) {
    return ask_with([=](fi_info& h) {
      h.domain_attr->auth_key = static_cast<uint8_t*>(calloc(1, 8));
      memcpy(h.domain_attr->auth_key, &job, sizeof job);
      h.domain_attr->auth_key_size = bytes;
    });
  };
  const Answer answer = with_key(0x123456, 4);
  ASSERT_EQ(answer.result, 0);
  ASSERT_EQ(answer.info->domain_attr->auth_key_size, 4u);
  uint32_t job = 0;
  memcpy(&job, answer.info->domain_attr->auth_key, 4);
  EXPECT_EQ(job, 0x123456u);
  EXPECT_EQ(with_key(0, 4).result, -FI_ENODATA);
  EXPECT_EQ(with_key(0x1000000, 4).result, -FI_ENODATA);
  EXPECT_EQ(with_key(1, 8).result, -FI_ENODATA);
}

// [ABI-033, LF-014] Node and service with FI_SOURCE become the source address.
TEST(GetinfoTest, SourceNodeAndServiceFillTheSourceAddress) {
  const Answer answer = ask(make_hints().get(), "127.0.0.1", "9228", FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  ASSERT_EQ(answer.info->next, nullptr);
  EXPECT_STREQ(answer.info->domain_attr->name, "lo");
  const void* address = answer.info->src_addr;
  EXPECT_EQ(octet(address, 3), 0x1E);  // FA, PIDonFEP, RI and initiator ID are requests
  EXPECT_EQ(octet(address, 6) << 8 | octet(address, 7), 9228 % 4096);
  EXPECT_EQ(octet(address, 8) << 8 | octet(address, 9), 1 + 9228 / 4096);
  EXPECT_EQ(octet(address, 14) << 8 | octet(address, 15), 9228);
  EXPECT_EQ(octet(address, 16), 127);
  EXPECT_EQ(octet(address, 19), 1);
}

TEST(GetinfoTest, ServiceAloneWithSourceConcernsAllDomains) {
  const Answer answer = ask(make_hints().get(), nullptr, "7", FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    EXPECT_EQ(octet(info->src_addr, 7), 7);
  }
}

// Any address of 127.0.0.0/8 is a local one. [decision 3, scheme 1]
TEST(GetinfoTest, LoopbackAddressesNeedNoConfiguration) {
  const Answer answer = ask(make_hints().get(), "127.0.0.5", nullptr, FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  EXPECT_STREQ(answer.info->domain_attr->name, "lo/127.0.0.5");
  EXPECT_EQ(octet(answer.info->src_addr, 19), 5);
}

TEST(GetinfoTest, DestinationPicksTheDomainThatReachesIt) {
  const Answer answer = ask(make_hints().get(), "127.0.0.1", "5");
  ASSERT_EQ(answer.result, 0);
  EXPECT_STREQ(answer.info->domain_attr->name, "lo");
  EXPECT_EQ(answer.info->next, nullptr);
  ASSERT_EQ(answer.info->dest_addrlen, 40u);
  EXPECT_EQ(octet(answer.info->dest_addr, 7), 5);
  ASSERT_NE(answer.info->src_addr, nullptr);
  EXPECT_EQ(octet(answer.info->src_addr, 3), 0x02);  // only the FA
}

TEST(GetinfoTest, RemoteAddressAsSourceIsRefused) {
  EXPECT_EQ(ask(make_hints().get(), "203.0.113.1", nullptr, FI_SOURCE).result, -FI_ENODATA);
  EXPECT_EQ(ask(make_hints().get(), "not a host", nullptr, FI_SOURCE).result, -FI_ENODATA);
  EXPECT_EQ(ask(make_hints().get(), "127.0.0.1", "service", FI_SOURCE).result, -FI_ENODATA);
}

// [LF-008]
TEST(GetinfoTest, SocketAddressFormIsUsedWhenAskedFor) {
  const Answer answer =
      ask_with([](fi_info& h) { h.addr_format = FI_SOCKADDR_IN; }, "127.0.0.1", "9228", FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.info->addr_format, static_cast<uint32_t>(FI_SOCKADDR_IN));
  ASSERT_EQ(answer.info->src_addrlen, sizeof(sockaddr_in));
  sockaddr_in sin{};
  memcpy(&sin, answer.info->src_addr, sizeof sin);
  EXPECT_EQ(sin.sin_family, AF_INET);
  EXPECT_EQ(ntohs(sin.sin_port), 9228);
  EXPECT_EQ(ntohl(sin.sin_addr.s_addr), 0x7F000001u);
}

TEST(GetinfoTest, StringFormIsUsedWhenAskedFor) {
  const Answer answer =
      ask_with([](fi_info& h) { h.addr_format = FI_ADDR_STR; }, "127.0.0.1", "3", FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  EXPECT_STREQ(static_cast<const char*>(answer.info->src_addr), "fi_addr_uet://127.0.0.1/3/1/3");
}

TEST(GetinfoTest, Ipv6FormOffersIpv6DomainsOnly) {
  const Answer answer = ask_with([](fi_info& h) { h.addr_format = FI_SOCKADDR_IN6; });
  if (answer.result == -FI_ENODATA) GTEST_SKIP() << "this host has no IPv6";
  ASSERT_EQ(answer.result, 0);
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    EXPECT_EQ(static_cast<const sockaddr*>(info->src_addr)->sa_family, AF_INET6);
  }
}

// [ABI-045, fi_multi_ep] An answer without its source address is a valid question.
TEST(GetinfoTest, OwnAnswerIsAcceptedAsHints) {
  const Answer first = ask(make_hints().get(), "127.0.0.1", nullptr, FI_SOURCE);
  ASSERT_EQ(first.result, 0);
  EXPECT_EQ(ask(first.info.get()).result, 0);
  free(first.info->src_addr);
  first.info->src_addr = nullptr;
  first.info->src_addrlen = 0;
  const Answer second = ask(first.info.get());
  ASSERT_EQ(second.result, 0);
  EXPECT_STREQ(second.info->domain_attr->name, "lo");
  EXPECT_EQ(second.info->next, nullptr);
}

// [LF-087, ABI-025]
TEST(GetinfoTest, NicIsDescribedAndCopied) {
  const Answer answer = ask(make_hints().get(), "127.0.0.1", nullptr, FI_SOURCE);
  ASSERT_EQ(answer.result, 0);
  Info copy(fi_dupinfo(answer.info.get()), &fi_freeinfo);
  ASSERT_NE(copy, nullptr);
  ASSERT_NE(copy->nic, nullptr);
  EXPECT_NE(copy->nic, answer.info->nic);
  EXPECT_STREQ(copy->nic->device_attr->name, "lo");
  // [LF-143] What the packets of a domain take, and why.
  const std::string driver = copy->nic->device_attr->driver;
  EXPECT_TRUE(driver.starts_with("UDP sockets (FI_UET_IO=auto; packet sockets: ")) << driver;
  // fi_info -v shows it.
  const std::string shown = fi_tostr(copy.get(), FI_TYPE_INFO);
  EXPECT_NE(shown.find("            driver: " + driver + "\n"), shown.npos) << shown;
  EXPECT_NE(shown.find("            name: lo\n"), shown.npos) << shown;
  EXPECT_STREQ(copy->nic->link_attr->network_type, "Ethernet");
  EXPECT_EQ(copy->nic->link_attr->state, FI_LINK_UP);
  EXPECT_GT(copy->nic->link_attr->mtu, 0u);
}

}  // namespace
}  // namespace uet::prov

// fi_getinfo for FI_EP_DGRAM: which hints get datagram endpoints, and their limits.
#include "prov/uet/test/getinfo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace uet::prov {
namespace {

// [LF-072, ABI-032] Datagram endpoints are offered only on request.
TEST(GetinfoDatagramTest, DatagramEndpointsAreOfferedWhenAskedFor) {
  const Answer all = ask(make_hints().get());
  for (const fi_info* info = all.info.get(); info != nullptr; info = info->next) {
    EXPECT_EQ(info->ep_attr->type, FI_EP_RDM);
  }
  const Answer answer = ask_with([](fi_info& h) {  // as fi_pingpong asks
    h.caps = FI_MSG;
    h.mode = FI_CONTEXT | FI_CONTEXT2 | FI_MSG_PREFIX;
    h.domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    h.ep_attr->type = FI_EP_DGRAM;
  });
  ASSERT_EQ(answer.result, 0);
  for (const fi_info* info = answer.info.get(); info != nullptr; info = info->next) {
    EXPECT_EQ(info->ep_attr->type, FI_EP_DGRAM);
    EXPECT_EQ(info->caps & (FI_TAGGED | FI_RMA | FI_READ | FI_WRITE), 0u);
    EXPECT_EQ(info->caps & (FI_MSG | FI_SEND | FI_RECV), uint64_t{FI_MSG | FI_SEND | FI_RECV});
    EXPECT_EQ(info->mode, 0u);
    EXPECT_EQ(info->tx_attr->msg_order, 0u);
    const size_t most = info->ep_attr->max_msg_size;
    EXPECT_TRUE(most == 1024 || most == 4096 || most == 8192) << most;
    EXPECT_EQ(info->tx_attr->inject_size, most);  // [LF-075]
    if (strncmp(info->domain_attr->name, "lo", 2) == 0) {
      EXPECT_EQ(most, 8192u);
    }
  }
}

// [LF-072, LF-044] More than datagrams can do is refused.
TEST(GetinfoDatagramTest, DatagramEndpointsHaveLimits) {
  const std::vector<std::pair<const char*, std::function<void(fi_info&)>>> cases = {
      {"tags", [](fi_info& h) { h.caps = FI_MSG | FI_TAGGED; }},
      {"RMA", [](fi_info& h) { h.caps = FI_MSG | FI_RMA; }},
      {"an order of sends", [](fi_info& h) { h.tx_attr->msg_order = FI_ORDER_SAS; }},
      {"an order of receives", [](fi_info& h) { h.rx_attr->msg_order = FI_ORDER_SAS; }},
      {"delivery", [](fi_info& h) { h.tx_attr->op_flags = FI_DELIVERY_COMPLETE; }},
      {"messages of two packets", [](fi_info& h) { h.ep_attr->max_msg_size = 8193; }},
  };
  for (const auto& [what, change] : cases) {
    const auto datagrams = [change = change](fi_info& h) {
      h.ep_attr->type = FI_EP_DGRAM;
      change(h);
    };
    EXPECT_EQ(ask_with(datagrams).result, -FI_ENODATA) << what;
  }
}

// [ABI-032] The probe of the layered provider for reliable datagrams.
TEST(GetinfoDatagramTest, ProbeForDatagramsIsRefused) {
  const Info hints = make_hints();
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_MSG_PREFIX;
  hints->ep_attr->type = FI_EP_DGRAM;
  EXPECT_EQ(ask(hints.get(), nullptr, nullptr, 1ULL << 59).result, -FI_ENODATA);
  EXPECT_EQ(ask(hints.get()).result, 0);
}

}  // namespace
}  // namespace uet::prov

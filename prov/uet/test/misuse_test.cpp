// Errors that the manual pages of libfabric prescribe for wrong calls, one row for each: opening,
// binding, closing, options and queues. Posts are in misuse_post_test.cpp. A refused call must
// change nothing: after each table the pair still communicates.
#include "prov/uet/test/misuse.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>

namespace uet::prov::test {
namespace {

// fi_endpoint(3), ERRORS and the calls' own sections.
const Misuse kEndpoint[] = {
    {"enabling without an AV", -FI_ENOAV, [](Pair& p) { return fi_enable(p.bare()); }},
    {"enabling without a CQ", -FI_ENOCQ,
     [](Pair& p) {
       EXPECT_EQ(fi_ep_bind(p.bare(), &p.a->av->fid, 0), 0);
       return fi_enable(p.bare());
     }},
    {"a CQ of another domain", -FI_EDOMAIN,
     [](Pair& p) { return fi_ep_bind(p.bare(), &p.b->tx_cq->fid, FI_TRANSMIT); }},
    {"an AV of another domain", -FI_EDOMAIN,
     [](Pair& p) { return fi_ep_bind(p.bare(), &p.b->av->fid, 0); }},
    {"a counter of another domain", -FI_EDOMAIN,
     [](Pair& p) { return fi_ep_bind(p.bare(), &p.b->tx_counter->fid, FI_SEND); }},
    {"binding after enabling", -FI_EOPBADSTATE,
     [](Pair& p) { return fi_ep_bind(p.a->ep, &p.a->tx_cq->fid, FI_TRANSMIT); }},
    {"posting before enabling", -FI_EOPBADSTATE,
     [](Pair& p) { return int(fi_send(p.bare(), p.octets, 1, nullptr, p.to_b, nullptr)); }},
    {"receiving before enabling", -FI_EOPBADSTATE,
     [](Pair& p) { return int(fi_recv(p.bare(), p.octets, 1, nullptr, 0, nullptr)); }},
    {"sizes left before enabling", -FI_EOPBADSTATE,
     [](Pair& p) { return int(fi_tx_size_left(p.bare())); }},
    {"a CQ without a direction", -FI_EBADFLAGS,
     [](Pair& p) { return fi_ep_bind(p.bare(), &p.a->tx_cq->fid, 0); }},
    {"a counter without an operation", -FI_EBADFLAGS,
     [](Pair& p) { return fi_ep_bind(p.bare(), &p.a->tx_counter->fid, 0); }},
    {"an unknown option", -FI_ENOPROTOOPT,
     [](Pair& p) {
       return fi_setopt(&p.a->ep->fid, FI_OPT_ENDPOINT, 4711, p.octets, sizeof(size_t));
     }},
    {"an option of no level", -FI_ENOPROTOOPT,
     [](Pair& p) {
       return fi_setopt(&p.a->ep->fid, 99, FI_OPT_MIN_MULTI_RECV, p.octets, sizeof(size_t));
     }},
    {"no room for an option", -FI_ETOOSMALL,
     [](Pair& p) {
       size_t length = 1;
       return fi_getopt(&p.a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, p.octets, &length);
     }},
    {"no room for the name", -FI_ETOOSMALL,
     [](Pair& p) {
       size_t length = 3;
       return fi_getname(&p.a->ep->fid, p.octets, &length);
     }},
    {"flags of both sides", -FI_EINVAL,
     [](Pair& p) {
       uint64_t flags = FI_TRANSMIT | FI_RECV;
       return fi_control(&p.a->ep->fid, FI_GETOPSFLAG, &flags);
     }},
    {"an unknown control command", -FI_ENOSYS,
     [](Pair& p) { return fi_control(&p.a->ep->fid, 4711, p.octets); }},
    {"connecting an unconnected endpoint", -FI_ENOSYS,
     [](Pair& p) { return fi_connect(p.a->ep, p.octets, nullptr, 0); }},
    {"a connected endpoint", -FI_EOPNOTSUPP,
     [](Pair& p) {
       const InfoOf info(*p.a);
       info->ep_attr->type = FI_EP_MSG;
       return fi_endpoint(p.a->domain, info.get(), &p.ep, nullptr);
     }},
    {"the name of another endpoint", -FI_EADDRINUSE,
     [](Pair& p) {
       const InfoOf info(*p.a);
       p.take_name(*info);
       return fi_endpoint(p.a->domain, info.get(), &p.ep, nullptr);
     }},
    {"cancelling nothing", -FI_ENOENT,
     [](Pair& p) { return int(fi_cancel(&p.a->ep->fid, &p.octets[7])); }},
};

// fi_cq(3), fi_cntr(3), fi_eq(3), fi_poll(3).
const Misuse kQueues[] = {
    {"reading an empty CQ", -FI_EAGAIN,
     [](Pair& p) { return int(fi_cq_read(p.a->tx_cq, p.octets, 1)); }},
    {"no error to read", -FI_EAGAIN,
     [](Pair& p) {
       fi_cq_err_entry entry{};
       return int(fi_cq_readerr(p.a->tx_cq, &entry, 0));
     }},
    {"blocking on a CQ without wait object", -FI_EINVAL,
     [](Pair& p) { return int(fi_cq_sread(p.a->tx_cq, p.octets, 1, nullptr, 0)); }},
    {"closing a CQ in use", -FI_EBUSY, [](Pair& p) { return fi_close(&p.a->tx_cq->fid); }},
    {"an unknown format", -FI_EINVAL,
     [](Pair& p) {
       fi_cq_attr attr{};
       attr.format = static_cast<fi_cq_format>(7);
       return fi_cq_open(p.a->domain, &attr, &p.cq, nullptr);
     }},
    {"a wait set for a CQ", -FI_ENOSYS,
     [](Pair& p) {
       fi_cq_attr attr{};
       attr.wait_obj = FI_WAIT_SET;
       return fi_cq_open(p.a->domain, &attr, &p.cq, nullptr);
     }},
    {"waiting for a counter that does not change", -FI_ETIMEDOUT,
     [](Pair& p) { return fi_cntr_wait(p.waiting_counter(), 1, 1); }},
    {"blocking on a counter without wait object", -FI_EINVAL,
     [](Pair& p) { return fi_cntr_wait(p.silent_counter(), 1, 1); }},
    {"closing a counter in use", -FI_EBUSY,
     [](Pair& p) { return fi_close(&p.a->tx_counter->fid); }},
    {"flags for a counter", -FI_EBADFLAGS,
     [](Pair& p) {
       fi_cntr_attr attr{};
       attr.flags = FI_MORE;
       return fi_cntr_open(p.a->domain, &attr, &p.cntr, nullptr);
     }},
    {"reading an empty EQ", -FI_EAGAIN,
     [](Pair& p) {
       uint32_t event = 0;
       return int(fi_eq_read(p.event_queue(), &event, p.octets, sizeof p.octets, 0));
     }},
    {"no error event", -FI_EAGAIN,
     [](Pair& p) {
       fi_eq_err_entry entry{};
       return int(fi_eq_readerr(p.event_queue(), &entry, 0));
     }},
    {"blocking on an EQ without wait object", -FI_EINVAL,
     [](Pair& p) {
       uint32_t event = 0;
       return int(fi_eq_sread(p.event_queue(), &event, p.octets, sizeof p.octets, 0, 0));
     }},
    {"unknown flags for an EQ", -FI_EBADFLAGS,
     [](Pair& p) {
       fi_eq_attr attr{};
       attr.flags = FI_MORE;
       return fi_eq_open(p.a->fabric, &attr, &p.eq, nullptr);
     }},
    {"a wait set", -FI_ENOSYS,
     [](Pair& p) {
       fi_wait_attr attr{};
       fid_wait* set = nullptr;
       return fi_wait_open(p.a->fabric, &attr, &set);
     }},
};

// fi_av(3), fi_mr(3), fi_domain(3), fi_fabric(3).
const Misuse kObjects[] = {
    {"closing an AV in use", -FI_EBUSY, [](Pair& p) { return fi_close(&p.a->av->fid); }},
    {"closing a domain in use", -FI_EBUSY, [](Pair& p) { return fi_close(&p.a->domain->fid); }},
    {"closing a fabric in use", -FI_EBUSY, [](Pair& p) { return fi_close(&p.a->fabric->fid); }},
    {"inserting before an EQ is bound", -FI_ENOEQ,
     [](Pair& p) { return fi_av_insert(p.event_av(), p.b_name.data(), 1, &p.addr, 0, nullptr); }},
    {"removing what is not there", -FI_EINVAL,
     [](Pair& p) {
       fi_addr_t nobody = 4711;
       return fi_av_remove(p.a->av, &nobody, 1, 0);
     }},
    {"looking up what is not there", -FI_EINVAL,
     [](Pair& p) {
       size_t length = sizeof p.octets;
       return fi_av_lookup(p.a->av, 4711, p.octets, &length);
     }},
    {"flags for removing", -FI_EBADFLAGS,
     [](Pair& p) { return fi_av_remove(p.a->av, &p.to_b, 1, FI_MORE); }},
    {"an invalid address", 0,  // the number of addresses that were inserted
     [](Pair& p) { return fi_av_insert(p.a->av, p.octets, 1, &p.addr, 0, nullptr); }},
    {"a key twice", -FI_ENOKEY,
     [](Pair& p) {
       EXPECT_EQ(
           fi_mr_reg(p.keyed_domain(), p.octets, 8, FI_REMOTE_WRITE, 0, 77, 0, &p.mr, nullptr), 0);
       return fi_mr_reg(p.domain, p.octets, 8, FI_REMOTE_WRITE, 0, 77, 0, &p.other_mr, nullptr);
     }},
    {"flags for a region", -FI_EBADFLAGS,
     [](Pair& p) {
       return fi_mr_reg(p.a->domain, p.octets, 8, FI_REMOTE_WRITE, 0, 78, FI_MORE, &p.other_mr,
                        nullptr);
     }},
    {"an offset for a region", -FI_EINVAL,  // reserved, must be 0
     [](Pair& p) {
       return fi_mr_reg(p.a->domain, p.octets, 8, FI_REMOTE_WRITE, 8, 78, 0, &p.other_mr, nullptr);
     }},
    {"an unknown override", -FI_ENOSYS,
     [](Pair& p) { return fi_set_ops(&p.a->domain->fid, "no_such_ops", 0, p.octets, nullptr); }},
    {"unknown operations", -FI_ENOSYS,
     [](Pair& p) {
       void* ops = nullptr;
       return fi_open_ops(&p.a->domain->fid, "no_such_ops", 0, &ops, nullptr);
     }},
    {"no such interface", -FI_ENODATA,
     [](Pair& p) {
       const InfoOf hints(*p.a);
       fi_info* found = nullptr;
       hints->caps |= FI_COLLECTIVE;
       return fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &found);
     }},
};

// Unsupported objects: -FI_ENOSYS, as the headers answer for a missing operation. Programs detect
// support this way.
const Misuse kNotOffered[] = {
    {"a scalable endpoint", -FI_ENOSYS,
     [](Pair& p) { return fi_scalable_ep(p.a->domain, p.a->info, &p.ep, nullptr); }},
    {"a passive endpoint", -FI_ENOSYS,
     [](Pair& p) {
       fid_pep* passive = nullptr;
       return fi_passive_ep(p.a->fabric, p.a->info, &passive, nullptr);
     }},
    {"a shared transmit context", -FI_ENOSYS,
     [](Pair& p) {
       fid_stx* context = nullptr;
       return fi_stx_context(p.a->domain, p.a->info->tx_attr, &context, nullptr);
     }},
    {"a poll set", -FI_ENOSYS,
     [](Pair& p) {
       fi_poll_attr attr{};
       fid_poll* set = nullptr;
       return fi_poll_open(p.a->domain, &attr, &set);
     }},
    {"a transmit context", -FI_ENOSYS,
     [](Pair& p) { return fi_tx_context(p.a->ep, 0, nullptr, &p.ep, nullptr); }},
    {"a receive context", -FI_ENOSYS,
     [](Pair& p) { return fi_rx_context(p.a->ep, 0, nullptr, &p.ep, nullptr); }},
    {"shutting an endpoint down", -FI_ENOSYS, [](Pair& p) { return fi_shutdown(p.a->ep, 0); }},
    {"a barrier", -FI_ENOSYS, [](Pair& p) { return int(fi_barrier(p.a->ep, p.to_b, nullptr)); }},
};

TEST_F(MisuseTest, CallsForUnsupportedObjects) { expect_refusals(kNotOffered); }
// [LF-011] Also a second endpoint of one name.
TEST_F(MisuseTest, WrongEndpointCalls) { expect_refusals(kEndpoint); }
TEST_F(MisuseTest, WrongQueueAndCounterCalls) { expect_refusals(kQueues); }
TEST_F(MisuseTest, WrongCallsOfAddressVectorsRegionsAndDomains) { expect_refusals(kObjects); }

}  // namespace
}  // namespace uet::prov::test

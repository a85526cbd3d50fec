// The operation tables of libfabric's objects. An object puts its tables into its fid; the entry
// points in them convert their arguments, call one function of the object, and convert what it
// returns. They stand in the file that is named with the tables. [ABI-026]
#pragma once

#include "prov/uet/api/compat.h"

#include <cstdint>

namespace uet::prov {

// av_calls.cpp
extern struct fi_ops av_fid_ops;
extern struct fi_ops_av av_ops;

// cq_calls.cpp. An imported queue (FI_PEER) has peer_cq_ops.
extern struct fi_ops cq_fid_ops;
extern struct fi_ops_cq cq_ops;
extern struct fi_ops_cq peer_cq_ops;

// counter_calls.cpp. An imported counter (FI_PEER) has peer_counter_ops.
extern struct fi_ops counter_fid_ops;
extern struct fi_ops_cntr counter_ops;
extern struct fi_ops_cntr peer_counter_ops;

// domain_calls.cpp. A domain has one of the tables of registrations.
extern struct fi_ops domain_fid_ops;
extern struct fi_ops_domain domain_ops;
extern struct fi_ops_mr registration_ops;
extern struct fi_ops_mr keyed_registration_ops;

// endpoint_calls.cpp, and for posting calls message_calls.cpp, rma_calls.cpp, atomic_calls.cpp
extern struct fi_ops endpoint_fid_ops;
extern struct fi_ops_ep endpoint_ops;
extern struct fi_ops_cm endpoint_cm_ops;
extern struct fi_ops_msg message_ops;
extern struct fi_ops_tagged tagged_ops;
extern struct fi_ops_rma rma_ops;
extern struct fi_ops_atomic atomic_ops;

// eq_calls.cpp
extern struct fi_ops eq_fid_ops;
extern struct fi_ops_eq eq_ops;

// extension_calls.cpp; in the tables of domains and endpoints.
int open_ops(struct fid* fid, const char* name, uint64_t flags, void** ops, void* context) noexcept;

// fabric_calls.cpp
extern struct fi_ops fabric_fid_ops;
extern struct fi_ops_fabric fabric_ops;

// mr_calls.cpp
extern struct fi_ops mr_fid_ops;

// nic_calls.cpp
extern struct fi_ops nic_fid_ops;

// peer_receive_calls.cpp: what the owner of imported receives (FI_PEER) calls. With
// peer_receive_sender it asks for the sender of a message, FI_ADDR_UNSPEC where it has no name.
extern struct fi_ops_srx_peer peer_receive_ops;
fi_addr_t peer_receive_sender(struct fi_peer_rx_entry* entry) noexcept;

// shared_receive_calls.cpp
extern struct fi_ops shared_receives_fid_ops;
extern struct fi_ops_ep shared_receives_ops;
extern struct fi_ops_msg shared_message_ops;
extern struct fi_ops_tagged shared_tagged_ops;

}  // namespace uet::prov

// From interface and parameters to a running engine; see setup.h.
#include "prov/uet/domain/setup.h"

#include "prov/uet/api/log.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/domain/backend.h"
#include "prov/uet/domain/path_notice.h"

#include "cms/tfc.h"
#include "fep/derive.h"
#include "fep/engine.h"
#include "fep/fabric_endpoint.h"
#include "io/fault/fault_plan.h"
#include "io/fault/faulty.h"
#include "io/frame/frame_io.h"
#include "io/host/system_random.h"
#include "io/shm/shm_io.h"
#include "io/tap/pcap_tap.h"
#include "io/udp/udp.h"
#include "io/xdp/xdp_io.h"
#include "wire/pds_request.h"
#include "wire/ses_request.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

namespace uet::prov {
namespace {

template <typename Backend>
std::unique_ptr<io::PacketIo> open_as(const io::UdpOptions& options, bool& owns_uet_port,
                                      std::string& error) {
  std::unique_ptr<Backend> backend = Backend::open(options, &error);
  if (backend != nullptr) owns_uet_port = backend->owns_uet_port();
  return backend;
}

// The pools with the largest address ranges of a stack. They are smaller where addresses are
// limited: posts then return again earlier.
constexpr uint32_t kFewestPeers = 65'536;
constexpr uint32_t kFewestReceives = 65'536;
constexpr uint32_t kFewestOperations = 16'384;
constexpr uint32_t kFewestLongIovs = 1024;

// A part of each, down to a floor. False: all of them are at their floors.
bool shrink(fep::Config& config, uint32_t numerator, uint32_t denominator) {
  bool is_changed = false;
  const auto lower = [&](uint32_t& size, uint32_t fewest) {
    const auto part = static_cast<uint32_t>(uint64_t{size} * numerator / denominator);
    const uint32_t fitting = std::min(size, std::max(part, fewest));
    is_changed |= fitting != size;
    size = fitting;
  };
  lower(config.peers_max, kFewestPeers);
  lower(config.ses.receives, kFewestReceives);
  lower(config.ses.operations, kFewestOperations);
  lower(config.ses.long_iovs, kFewestLongIovs);
  return is_changed;
}

io::UdpOptions backend_options(const Settings& settings, const DomainCandidate& candidate) {
  io::UdpOptions options;
  options.local = candidate.interface.address;
  options.port_first = settings.port_first;
  options.port_last = settings.port_last;
  options.strict_port = settings.strict_port;
  options.leave_uet_port = candidate.leave_uet_port;
  options.receive_buffer_bytes = settings.socket_buffer_bytes;
  options.send_buffer_bytes = settings.socket_buffer_bytes;
  options.mtu_bytes = candidate.interface.mtu_bytes;
  return options;
}

// FI_UET_IO=auto: packet sockets where they may be had and where nothing of the host's would be
// passed by. Null: UDP sockets it is. [decision 8]
std::unique_ptr<io::PacketIo> open_frames_unasked(const Settings& settings,
                                                  const DomainCandidate& candidate,
                                                  bool& owns_uet_port) {
  std::unique_ptr<io::PacketIo> backend;
  std::string why = why_no_packet_sockets(candidate.interface);
  if (why.empty()) {
    backend = open_as<io::FrameIo>(backend_options(settings, candidate), owns_uet_port, why);
    // Checks again: processes that start together then see each other.
    if (backend != nullptr) {
      why = why_no_packet_sockets(candidate.interface, io::FrameIo::kRings);
    }
    if (!why.empty()) backend.reset();
  }
  if (backend == nullptr) {
    UET_INFO(DOMAIN, "%s: UDP sockets: %s\n", candidate.name.c_str(), why.c_str());
  } else {
    UET_INFO(DOMAIN,
             "%s: packet sockets: found no firewall, IPsec or tc rules that they would bypass\n",
             candidate.name.c_str());
  }
  return backend;
}

// FI_UET_IO=xdp. Null: the warning names the remedy.
std::unique_ptr<io::PacketIo> open_xdp(const io::UdpOptions& options,
                                       const DomainCandidate& candidate, bool& owns_uet_port,
                                       std::string& error) {
  std::unique_ptr<io::XdpIo> xdp = io::XdpIo::open(options, &error);
  if (xdp == nullptr) return nullptr;
  owns_uet_port = xdp->owns_uet_port();
  UET_INFO(DOMAIN, "%s: AF_XDP %s, receive queues: %u\n", candidate.name.c_str(),
           xdp->mode_text().c_str(), xdp->queue_count());
  return xdp;
}

std::unique_ptr<io::PacketIo> open_backend(const Settings& settings,
                                           const DomainCandidate& candidate, bool& owns_uet_port) {
  const IoChoice wanted = settings.io;
  std::unique_ptr<io::PacketIo> backend;
  if (wanted == IoChoice::automatic)
    backend = open_frames_unasked(settings, candidate, owns_uet_port);
  if (backend != nullptr) return backend;
  io::UdpOptions options = backend_options(settings, candidate);
  options.ring = wanted == IoChoice::uring;
  options.ip_protocol = is_without_udp(wanted) ? settings.ip_protocol : uint8_t{0};
  options.crc = settings.ip_crc;
  options.cut_dscps = settings.cut_dscps();
  std::string error;
  const bool wants_frames = wanted == IoChoice::packet || wanted == IoChoice::ip_packet;
  const bool wants_xdp = wanted == IoChoice::xdp || wanted == IoChoice::ip_xdp;
  backend = wants_frames ? open_as<io::FrameIo>(options, owns_uet_port, error)
            : wants_xdp  ? open_xdp(options, candidate, owns_uet_port, error)
                         : open_as<io::UdpIo>(options, owns_uet_port, error);
  if (backend == nullptr) {
    UET_WARN(DOMAIN,
             "cannot open sockets on %s: %s (FI_UET_IO chooses their kind, FI_UET_PORT_RANGE the "
             "UDP ports)\n",
             candidate.name.c_str(), error.c_str());
  }
  return backend;
}

// FI_UET_SHM=auto: without shared memory everything takes the sockets. [decision 21]
void share_memory(const DomainCandidate& candidate, std::unique_ptr<io::PacketIo>& backend) {
  std::string error;
  std::unique_ptr<io::ShmIo> shm = io::ShmIo::open(backend, &error);
  if (shm == nullptr) {
    UET_INFO(DOMAIN, "%s: no shared memory: %s\n", candidate.name.c_str(), error.c_str());
    return;
  }
  shm->tell_of_broken_rings([](const FabricAddress& peer, bool is_ours) {
    UET_WARN(DOMAIN, "shared memory with port %u of %s %s: its packets use the sockets instead\n",
             peer.port, io::ip_text(peer).c_str(),
             is_ours ? "is broken: the peer read more than was written"
                     : "is broken: its contents are invalid");
  });
  backend = std::move(shm);
  UET_INFO(DOMAIN, "%s: shared memory with processes of this user on this host\n",
           candidate.name.c_str());
}

// The layers that FI_UET_FAULT and FI_UET_PCAP put around a backend. The capture is outside, so
// that it shows the packets of the stack before the plan changes them.
bool decorate(const Settings& settings, std::unique_ptr<io::PacketIo>& backend,
              const std::string& interface) {
  if (!settings.fault.empty()) {
    const std::optional<io::FaultPlan> plan = io::parse_fault_plan(settings.fault);
    UET_ASSERT(plan.has_value());  // checked when the parameter was read
    backend = std::make_unique<io::FaultyIo>(std::move(backend), *plan, os_random());
    UET_WARN(
        DOMAIN,
        "FI_UET_FAULT=%s: faults are injected: packets are lost, copied, delayed or changed on "
        "purpose\n",
        settings.fault.c_str());
  }
  if (settings.pcap.empty()) return true;
  std::string error;
  std::string who = program_invocation_short_name;
  who += ", process " + std::to_string(::getpid());
  if (!settings.fault.empty()) who += ", FI_UET_FAULT=" + settings.fault;
  std::unique_ptr<io::PcapTap> tap =
      io::PcapTap::open(backend, settings.pcap, {interface, who}, &error);
  if (tap == nullptr) {
    UET_WARN(DOMAIN, "FI_UET_PCAP=%s: %s\n", settings.pcap.c_str(), error.c_str());
    return false;
  }
  backend = std::move(tap);
  return true;
}

// Outside of the capture, which shows sealed packets. False after a warning: nothing may go in the
// clear that was to be sealed. [TSS-109]
bool seal(const Settings& settings, DomainEngine& out, std::unique_ptr<io::PacketIo>& backend) {
  if (!settings.tss_keys.empty() && settings.tss != TssChoice::file) {
    UET_WARN(DOMAIN, "FI_UET_TSS_KEYS is set, but not used: set FI_UET_TSS=file, or unset it\n");
    return false;
  }
  if (!settings.tss_agent.empty() && settings.tss != TssChoice::agent) {
    UET_WARN(DOMAIN, "FI_UET_TSS_AGENT is set, but not used: set FI_UET_TSS=agent, or unset it\n");
    return false;
  }
  if (settings.tss == TssChoice::off) return true;
  out.security = Security::open(settings, out.local);
  if (out.security == nullptr) return false;
  backend = out.security->around(std::move(backend));
  return true;
}

void set_up_congestion(const io::IoCaps& caps, const io::Interface& interface,
                       cms::Config& config) {
  config = cms::Config::software();
  config.entropy_values = caps.entropy_values;
  if (interface.speed_bps != 0 && !interface.is_virtual) {
    config.link_mbps =
        static_cast<uint32_t>(std::clamp<uint64_t>(interface.speed_bps / 1'000'000, 10, 3'200'000));
  }
  // More in flight than the receiver's socket holds is lost; peers are taken to be as we are.
  constexpr uint32_t kWindowFloor = 64 * 1024;
  if (caps.receive_buffer_bytes != 0) {
    config.window_bytes_max =
        std::min(config.window_bytes_max, std::max(caps.receive_buffer_bytes, kWindowFloor));
  }
}

// Limits of packet delivery from the keys. [TSS-145]
void secure_delivery(const Security& security, pds::Config& config) {
  constexpr keys::Limits kUsual;
  constexpr pds::Config kPlain;
  static_assert(kUsual.secure_starts == kPlain.secure_starts &&
                kUsual.rebases_max == kPlain.rebases_max &&
                kUsual.trim_nacks_per_second == kPlain.trim_nacks_per_second);
  const keys::Limits& limits = security.limits();
  config.has_domains = true;
  config.seal_bytes = security.seal_bytes();  // [CMS-015]
  config.secure_starts = limits.secure_starts;
  config.rebases_max = limits.rebases_max;
  config.trim_nacks_per_second = limits.trim_nacks_per_second;
}

// `security`: null in the clear.
bool make_config(const Settings& settings, const io::IoCaps& caps, const io::Interface& interface,
                 bool owns_uet_port, uint32_t payload_mtu, const Security* security,
                 fep::Config& config) {
  if (settings.spec_timers) config.pds = pds::Config::spec();  // [PDS-220]
  // NSCC separates the delay of the network from that of the host by the service time in ACK_CC.
  // [CMS-036, decision 16]
  config.pds.ack_form = pds::AckForm::cc;
  if (settings.meets_refprov) {
    fep::meet_refprov(config);
    config.pds.ack_form = pds::AckForm::by_need;
  }
  set_up_congestion(caps, interface, config.cms);
  // As many full packets as leave together; a burst of more would end in a short run.
  constexpr uint32_t kHeaders = wire::Request::kSize + wire::StandardRequest::kSize;
  const uint32_t seal_bytes = security != nullptr ? security->seal_bytes() : 0;
  config.pds.packets_per_entropy =
      std::clamp(caps.burst_bytes / (payload_mtu + kHeaders + seal_bytes), 1u, 64u);
  config.ses.endpoints = kEndpointCount;
  config.ses.profiles = settings.profiles;
  // Keys outlive a process, but its knowledge of its peers' starts does not. [TSS-064, T-13]
  if (seal_bytes != 0) config.pds.start_method = pds::StartMethod::random_1rtt;
  settings.apply_to(config);
  config.ses.payload_mtu = static_cast<uint16_t>(payload_mtu);
  config.pds.private_mark = !owns_uet_port;  // [WIRE-121]
  if (seal_bytes != 0) secure_delivery(*security, config.pds);
  config.pds.return_class = TrafficClass(settings.data_dscp());  // read data [CMS-171, WIRE-018]
  config.pds.strict_ports = settings.strict_port;
  config.allow = settings.allow;
  // An application with few connections gets small tables.
  constexpr uint32_t kUsualPdcs = pds::Config{}.max_pdcs;
  if (config.pds.max_pdcs < kUsualPdcs) shrink(config, config.pds.max_pdcs, kUsualPdcs);
  fep::derive(config);
  return true;
}

// The payload that fits both the agreed MTU and what the backend can send in one datagram.
uint32_t fitting_mtu(const Settings& settings, const DomainCandidate& candidate,
                     const io::IoCaps& caps) {
  constexpr uint32_t kHeaders = 160;  // UET headers of any kind, with room for security
  uint32_t mtu = payload_mtu_of(settings, candidate.interface);
  while (mtu > 1024 && mtu + kHeaders > caps.max_datagram_bytes) mtu /= 2;
  return mtu;
}

// The system counts what may be written as memory, used or not.
bool is_without_overcommit() {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  return file >> mode && mode == 2;
}

// When the system gives less than is asked for (a limit of the process, no overcommit), first the
// pools become memory step by step, then they become smaller. [decision 15]
Result<std::unique_ptr<fep::FabricEndpoint>> create_stack(fep::Config& config,
                                                          const FabricAddress& local) {
  config.commit_in_steps = is_without_overcommit();
  bool is_less = false;
  for (;;) {
    auto fep = fep::FabricEndpoint::create(config, local, std::make_unique<io::SystemRandom>());
    if (fep.ok() && is_less) {
      UET_WARN(DOMAIN,
               "addresses or memory are limited (ulimit -v, -d or -l, vm.overcommit_memory=2): at "
               "most %u peers, %u receives and %u operations at once\n",
               config.peers_max, config.ses.receives, config.ses.operations);
    }
    if (fep.ok() || fep.error() == Errc::invalid) return fep;
    if (!config.commit_in_steps) {
      config.commit_in_steps = true;
      continue;
    }
    if (!shrink(config, 1, 4)) return fep;
    is_less = true;
  }
}

void tell_why_none(Errc error, const cms::Config& config) {
  if (error == Errc::invalid && config.algorithm == cms::Algorithm::tfc) {
    const uint32_t least = cms::tfc_cells(config.tfc, config.mtu_bytes) * config.tfc.cell_bytes;
    UET_WARN(DOMAIN,
             "FI_UET_CC=tfc needs FI_UET_TFC_INITIAL_CREDIT of 0 or at least %u, the octets of the "
             "cells that a packet takes, and FI_UET_ACK_FORM of 0 or 1\n",
             least);
    return;
  }
  UET_WARN(DOMAIN,
           "no memory or addresses for the stack (ulimit -v, -d or -l, vm.overcommit_memory=2): "
           "lower FI_UET_MAX_PDCS or FI_UET_MEMORY_REGIONS\n");
}

}  // namespace

uint64_t os_random() { return io::SystemRandom().u64(); }

int set_up_engine(const Settings& settings, const DomainCandidate& candidate,
                  const fi_domain_attr& attr, DomainEngine& out, OwnPayload& payload) {
  bool owns_uet_port = false;
  std::unique_ptr<io::PacketIo> backend = open_backend(settings, candidate, owns_uet_port);
  if (backend == nullptr) return -FI_EADDRNOTAVAIL;
  if (settings.shm) share_memory(candidate, backend);
  if (!decorate(settings, backend, candidate.interface.name)) return -FI_EIO;
  out.local = backend->local_address();
  if (!seal(settings, out, backend)) return -FI_ENOKEY;
  payload.network = fitting_mtu(settings, candidate, backend->caps());
  payload.host = settings.payload_mtu.value_or(wire::kPayloadMtuMax);

  fep::Config config;
  if (!make_config(settings, backend->caps(), candidate.interface, owns_uet_port, payload.network,
                   out.security.get(), config))
    return -FI_EINVAL;
  auto fep = create_stack(config, out.local);
  if (!fep.ok()) {
    tell_why_none(fep.error(), config.cms);
    return to_fi_errno(fep.error());
  }
  if (out.security) (*fep)->secure(out.security->jobs());
  ProgressEngine::Options options;
  options.by_owner = (attr.caps & FI_PEER) != 0;
  options.helper = settings.helper && !options.by_owner;
  options.auto_progress = attr.data_progress == FI_PROGRESS_AUTO && !options.by_owner;
  options.locking = options.helper || attr.threading != FI_THREAD_DOMAIN;
  // Peers are assumed to have our settings: they resend unanswered packets after that time. The
  // number of looks where each is a system call.
  if (settings.io == IoChoice::uring || settings.io == IoChoice::xdp)
    options.patience = Duration::microseconds(60);
  options.peers_wait = std::min(config.pds.shortest_rto(), config.pds.tail_loss);
  auto stack = std::make_unique<fep::Engine>(std::move(*fep), std::move(backend));
  stack->report_paths_to(log_path_notice);
  auto engine = ProgressEngine::create(std::move(stack), options);
  if (!engine.ok()) return to_fi_errno(engine.error());
  out.progress = std::move(*engine);
  return 0;
}

}  // namespace uet::prov

// The calls of the upper layer.
#include "sim/recording/player.h"

namespace uet::recording {
namespace {

constexpr uint64_t kOperandBytesMax = 65536;

// False: an operand has another length than its octets.
bool slices_of(const std::vector<Atomic::Operand>& operands, std::vector<IoSlice>& out) {
  for (const Atomic::Operand& o : operands) {
    if (o.octets.size() != (o.is_null ? 0 : o.length) || o.length > kOperandBytesMax) return false;
    static constexpr std::byte kSomewhere{};
    const std::byte* const data = o.octets.empty() ? &kSomewhere : o.octets.data();
    out.push_back({o.is_null ? nullptr : data, o.length});
  }
  return true;
}

}  // namespace

// The application may write to copied memory again, as in the simulator.
void Player::after_post(const Result<ses::Taken>& taken, const Pieces& memory, uint32_t flags) {
  const bool is_copied =
      taken.ok() && ((flags & ses::kOpInject) != 0 || *taken == ses::Taken::retained);
  if (is_copied) objects_.memory().spoil(memory);
  returned(taken);
}

void Player::play_open_shared(uint32_t rx_size) {
  const auto opened = fep_->ses().open_shared(rx_size);
  if (opened.ok()) objects_.add_shared(*opened);
  returned(opened);
}

void Player::play(const OpenEndpoint& call) {
  ses::EndpointOptions options;
  options.mode = call.mode;
  options.tc = call.tc;
  options.tx_size = call.tx_size;
  options.rx_size = call.rx_size;
  options.reject_truncated = call.reject_truncated;
  if (call.shared != 0 && !objects_.find_shared(call.shared - 1, options.shared)) return;
  const ses::CompletionSink tx = answers_.sink_of(call.tx);
  const auto opened = fep_->ses().open_endpoint(call.name, options, tx, answers_.sink_of(call.rx));
  if (opened.ok()) objects_.add_endpoint(*opened);
  returned(opened);
}

void Player::play(const CloseEndpoint& call) {
  ses::EndpointId id;
  if (!is_time(call.at) || !objects_.find(call.endpoint, id)) return;
  objects_.close_endpoint(call.endpoint);
  fep_->ses().close_endpoint(id, call.at);
  returned();
}

void Player::play(const FindPeer& call) {
  if (!is_time(call.at)) return;
  const auto peer = fep_->peers().find_or_add(call.address, call.at);
  if (peer.ok()) objects_.add_peer(*peer);
  returned(peer);
}

void Player::play(const KeepPeer& call) {
  PeerId peer;
  if (!objects_.find_peer(call.peer, peer)) return;
  if (call.is_listed) {
    fep_->peers().list(peer);
  } else {
    fep_->peers().add_ref(peer);
  }
}

void Player::play(const AddRegion& call) {
  std::vector<IoSlice> memory;
  if (!objects_.find(call.memory, memory)) return;
  ses::RegionRequest request;
  request.iov = memory;
  request.access = call.access;
  request.provider_key = call.provider_key;
  request.key = call.key;
  request.idempotent_safe = call.idempotent_safe;
  request.optimized = call.optimized;
  request.job = call.job;
  request.ri = call.ri;
  request.user = call.user;
  ses::MemoryRegions& regions = fep_->ses().memory();
  const auto region = regions.add(request);
  if (!region.ok()) return returned(Result<uint64_t>(region.error()));
  regions.enable(*region);
  returned(regions.key(*region));
}

void Player::play(const Send& call) {
  ses::EndpointId endpoint;
  ses::SendRequest request;
  std::vector<IoSlice> memory;
  const bool is_whole = is_time(call.at) && objects_.find(call.endpoint, endpoint) &&
                        objects_.find(call.to, request.to) && objects_.find(call.memory, memory);
  if (!is_whole) return;
  request.iov = memory;
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.data = call.data;
  request.flags = call.flags;
  request.context = objects_.context_of(call.context, Pieces{});
  after_post(fep_->ses().send(endpoint, request, call.at), call.memory, call.flags);
}

void Player::play(const Rma& call) {
  ses::EndpointId endpoint;
  ses::RmaRequest request;
  std::vector<IoSlice> memory;
  const bool is_whole = is_time(call.at) && objects_.find(call.endpoint, endpoint) &&
                        objects_.find(call.to, request.to) && objects_.find(call.memory, memory);
  if (!is_whole) return;
  request.read = call.read;
  request.iov = memory;
  request.remote_offset = call.remote_offset;
  request.key = call.key;
  request.data = call.data;
  request.flags = call.flags;
  request.context = objects_.context_of(call.context, call.read ? call.memory : Pieces{});
  const auto taken = fep_->ses().rma(endpoint, request, call.at);
  after_post(taken, call.read ? Pieces{} : call.memory, call.flags);
}

void Player::play(const Atomic& call) {
  ses::EndpointId endpoint;
  ses::AtomicRequest request;
  std::vector<IoSlice> operand, compare, result;
  const bool is_whole = is_time(call.at) && objects_.find(call.endpoint, endpoint) &&
                        objects_.find(call.to, request.to) && objects_.find(call.result, result) &&
                        objects_.is_there(slices_of(call.operand, operand), "an operand") &&
                        objects_.is_there(slices_of(call.compare, compare), "an operand");
  if (!is_whole) return;
  request.form = call.form;
  request.code = call.code;
  request.operand = operand;
  request.compare = compare;
  request.result = result;
  request.remote_offset = call.remote_offset;
  request.key = call.key;
  request.flags = call.flags;
  request.context = objects_.context_of(call.context, call.result);
  after_post(fep_->ses().atomic(endpoint, request, call.at), Pieces{}, call.flags);
}

void Player::play(const Receive& call) {
  ses::EndpointId endpoint;
  ses::ReceiveQueueId shared;
  ses::ReceiveRequest request;
  std::vector<IoSlice> memory;
  const bool is_whole = is_time(call.at) && objects_.find(call.queue, endpoint, shared) &&
                        objects_.find(call.memory, memory) &&
                        (!call.directed || objects_.find_peer(call.from, request.from));
  if (!is_whole) return;
  request.iov = memory;
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.ignore = call.ignore;
  request.directed = call.directed;
  request.from_initiator = call.from_initiator;
  request.job = call.job;
  request.by_job = call.by_job;
  request.multi = call.multi;
  request.multi_min = call.multi_min;
  request.context = objects_.context_of(call.context, call.memory);
  returned(call.queue.is_shared ? fep_->ses().receive(shared, request, call.at)
                                : fep_->ses().receive(endpoint, request, call.at));
}

void Player::play(const Cancel& call) {
  ses::EndpointId endpoint;
  ses::ReceiveQueueId shared;
  if (!is_time(call.at) || !objects_.find(call.queue, endpoint, shared)) return;
  void* const op = reinterpret_cast<void*>(uintptr_t{call.op});
  if (call.queue.is_shared) return returned(fep_->ses().cancel(shared, op, call.at));
  returned(fep_->ses().cancel(endpoint, op, call.at) ? 1 : 0);
}

void Player::play_post(const Record& record) {
  switch (record.kind) {
    case Kind::send:
      return take_and_play<Send>(record);
    case Kind::rma:
      return take_and_play<Rma>(record);
    case Kind::atomic:
      return take_and_play<Atomic>(record);
    case Kind::receive:
      return take_and_play<Receive>(record);
    case Kind::cancel:
      return take_and_play<Cancel>(record);
    default:
      return script_.fail("broken");
  }
}

}  // namespace uet::recording

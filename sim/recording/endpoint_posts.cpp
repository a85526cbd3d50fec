// Records what is posted and taken back.
#include "sim/recording/endpoint.h"

#include "base/assert.h"

namespace uet::recording {
namespace {

std::vector<Atomic::Operand> operands_of(std::span<const IoSlice> slices) {
  std::vector<Atomic::Operand> out;
  for (const IoSlice& s : slices) {
    Atomic::Operand& operand = out.emplace_back();
    operand.is_null = s.data == nullptr;
    operand.length = s.length;
    if (s.data != nullptr) operand.octets.assign(s.data, s.data + s.length);
  }
  return out;
}

}  // namespace

uint32_t Endpoint::op_number(void* op) {
  if (op == nullptr) return 0;
  return ops_.try_emplace(op, static_cast<uint32_t>(ops_.size() + 1)).first->second;
}

// A peer that the user never asked for has no number, and no post can name it.
uint32_t Endpoint::peer_number(PeerId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? UINT32_MAX : found->second;
}

Remote Endpoint::remote(const ses::Destination& to) {
  Remote out{peer_number(to.peer), to};
  out.name.peer = PeerId{};
  return out;
}

Context Endpoint::context(const ses::OpContext& context, const Pieces& memory) {
  const Context out{op_number(context.op), context.user};
  posts_[out] = memory;
  return out;
}

Result<ses::Taken> Endpoint::send(ses::EndpointId id, const ses::SendRequest& request,
                                  Instant now) {
  const auto call = [&] { return fep_->ses().send(id, request, now); };
  if (writer_ == nullptr) return call();
  MemoryBook::News news;
  Send record;
  record.at = now;
  record.endpoint = endpoints_.at(id);
  record.to = remote(request.to);
  record.memory = memory_.to_be_read(request.iov, news);
  record.tagged = request.tagged;
  record.tag = request.tag;
  record.data = request.data;
  record.flags = request.flags;
  record.context = context(request.context, Pieces{});
  write(news);
  return recorded(Kind::send, record, call);
}

Result<ses::Taken> Endpoint::rma(ses::EndpointId id, const ses::RmaRequest& request, Instant now) {
  const auto call = [&] { return fep_->ses().rma(id, request, now); };
  if (writer_ == nullptr) return call();
  MemoryBook::News news;
  Rma record;
  record.at = now;
  record.endpoint = endpoints_.at(id);
  record.to = remote(request.to);
  record.read = request.read;
  record.memory = request.read ? memory_.to_be_written(request.iov, news)
                               : memory_.to_be_read(request.iov, news);
  record.remote_offset = request.remote_offset;
  record.key = request.key;
  record.data = request.data;
  record.flags = request.flags;
  record.context = context(request.context, request.read ? record.memory : Pieces{});
  write(news);
  return recorded(Kind::rma, record, call);
}

Atomic Endpoint::atomic_record(ses::EndpointId id, const ses::AtomicRequest& request, Instant now,
                               MemoryBook::News& news) {
  Atomic record;
  record.at = now;
  record.endpoint = endpoints_.at(id);
  record.to = remote(request.to);
  record.form = request.form;
  record.code = request.code;
  record.operand = operands_of(request.operand);
  record.compare = operands_of(request.compare);
  record.result = memory_.to_be_written(request.result, news);
  record.remote_offset = request.remote_offset;
  record.key = request.key;
  record.flags = request.flags;
  record.context = context(request.context, record.result);
  return record;
}

Result<ses::Taken> Endpoint::atomic(ses::EndpointId id, const ses::AtomicRequest& request,
                                    Instant now) {
  const auto call = [&] { return fep_->ses().atomic(id, request, now); };
  if (writer_ == nullptr) return call();
  MemoryBook::News news;
  const Atomic record = atomic_record(id, request, now, news);
  write(news);
  return recorded(Kind::atomic, record, call);
}

Receive Endpoint::receive_record(const ses::ReceiveRequest& request, Queue queue, Instant now,
                                 MemoryBook::News& news) {
  Receive record;
  record.at = now;
  record.queue = queue;
  record.memory = memory_.to_be_written(request.iov, news);
  record.tagged = request.tagged;
  record.tag = request.tag;
  record.ignore = request.ignore;
  record.directed = request.directed;
  record.from = request.directed ? peer_number(request.from) : 0;
  record.from_initiator = request.from_initiator;
  record.job = request.job;
  record.by_job = request.by_job;
  record.multi = request.multi;
  record.multi_min = request.multi_min;
  record.context = context(request.context, record.memory);
  return record;
}

Result<void> Endpoint::receive(ses::EndpointId id, const ses::ReceiveRequest& request,
                               Instant now) {
  const auto call = [&] { return fep_->ses().receive(id, request, now); };
  if (writer_ == nullptr) return call();
  MemoryBook::News news;
  const Receive record = receive_record(request, {false, endpoints_.at(id)}, now, news);
  write(news);
  return recorded(Kind::receive, record, call);
}

Result<void> Endpoint::receive(ses::ReceiveQueueId id, const ses::ReceiveRequest& request,
                               Instant now) {
  const auto call = [&] { return fep_->ses().receive(id, request, now); };
  if (writer_ == nullptr) return call();
  MemoryBook::News news;
  const Receive record = receive_record(request, {true, shared_.at(id)}, now, news);
  write(news);
  return recorded(Kind::receive, record, call);
}

bool Endpoint::cancel(ses::EndpointId id, void* op_context, Instant now) {
  if (writer_ == nullptr) return fep_->ses().cancel(id, op_context, now);
  write(Kind::cancel, Cancel{now, {false, endpoints_.at(id)}, op_number(op_context)});
  const bool is_cancelled = fep_->ses().cancel(id, op_context, now);
  returned(is_cancelled ? 1 : 0);
  return is_cancelled;
}

Result<void> Endpoint::cancel(ses::ReceiveQueueId id, void* op_context, Instant now) {
  const auto call = [&] { return fep_->ses().cancel(id, op_context, now); };
  if (writer_ == nullptr) return call();
  return recorded(Kind::cancel, Cancel{now, {true, shared_.at(id)}, op_number(op_context)}, call);
}

}  // namespace uet::recording

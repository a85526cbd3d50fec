// Records posts and cancellations.
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

Atomic atomic_record(RecordedNames& names, ses::EndpointId id, const ses::AtomicRequest& request,
                     Instant now, MemoryBook::News& news) {
  Atomic record;
  record.at = now;
  record.endpoint = names.number(id);
  record.to = names.remote(request.to);
  record.form = request.form;
  record.code = request.code;
  record.operand = operands_of(request.operand);
  record.compare = operands_of(request.compare);
  record.result = names.memory().to_be_written(request.result, news);
  record.remote_offset = request.remote_offset;
  record.key = request.key;
  record.flags = request.flags;
  record.context = names.context(request.context, record.result);
  return record;
}

Receive receive_record(RecordedNames& names, const ses::ReceiveRequest& request, Queue queue,
                       Instant now, MemoryBook::News& news) {
  Receive record;
  record.at = now;
  record.queue = queue;
  record.memory = names.memory().to_be_written(request.iov, news);
  record.tagged = request.tagged;
  record.tag = request.tag;
  record.ignore = request.ignore;
  record.directed = request.directed;
  record.from = request.directed ? names.number(request.from) : 0;
  record.from_initiator = request.from_initiator;
  record.job = request.job;
  record.by_job = request.by_job;
  record.multi = request.multi;
  record.multi_min = request.multi_min;
  record.context = names.context(request.context, record.memory);
  return record;
}

}  // namespace

Result<ses::Taken> Endpoint::send(ses::EndpointId id, const ses::SendRequest& request,
                                  Instant now) {
  const auto call = [&] { return fep_->ses().send(id, request, now); };
  if (!tape_.is_on()) return call();
  MemoryBook::News news;
  Send record;
  record.at = now;
  record.endpoint = names_.number(id);
  record.to = names_.remote(request.to);
  record.memory = names_.memory().to_be_read(request.iov, news);
  record.tagged = request.tagged;
  record.tag = request.tag;
  record.data = request.data;
  record.flags = request.flags;
  record.context = names_.context(request.context, Pieces{});
  tape_.write(news);
  return tape_.recorded(Kind::send, record, call);
}

Result<ses::Taken> Endpoint::rma(ses::EndpointId id, const ses::RmaRequest& request, Instant now) {
  const auto call = [&] { return fep_->ses().rma(id, request, now); };
  if (!tape_.is_on()) return call();
  MemoryBook::News news;
  Rma record;
  record.at = now;
  record.endpoint = names_.number(id);
  record.to = names_.remote(request.to);
  record.read = request.read;
  record.memory = request.read ? names_.memory().to_be_written(request.iov, news)
                               : names_.memory().to_be_read(request.iov, news);
  record.remote_offset = request.remote_offset;
  record.key = request.key;
  record.data = request.data;
  record.flags = request.flags;
  record.context = names_.context(request.context, request.read ? record.memory : Pieces{});
  tape_.write(news);
  return tape_.recorded(Kind::rma, record, call);
}

Result<ses::Taken> Endpoint::atomic(ses::EndpointId id, const ses::AtomicRequest& request,
                                    Instant now) {
  const auto call = [&] { return fep_->ses().atomic(id, request, now); };
  if (!tape_.is_on()) return call();
  MemoryBook::News news;
  const Atomic record = atomic_record(names_, id, request, now, news);
  tape_.write(news);
  return tape_.recorded(Kind::atomic, record, call);
}

Result<void> Endpoint::receive(ses::EndpointId id, const ses::ReceiveRequest& request,
                               Instant now) {
  const auto call = [&] { return fep_->ses().receive(id, request, now); };
  if (!tape_.is_on()) return call();
  MemoryBook::News news;
  const Receive record = receive_record(names_, request, {false, names_.number(id)}, now, news);
  tape_.write(news);
  return tape_.recorded(Kind::receive, record, call);
}

Result<void> Endpoint::receive(ses::ReceiveQueueId id, const ses::ReceiveRequest& request,
                               Instant now) {
  const auto call = [&] { return fep_->ses().receive(id, request, now); };
  if (!tape_.is_on()) return call();
  MemoryBook::News news;
  const Receive record = receive_record(names_, request, {true, names_.number(id)}, now, news);
  tape_.write(news);
  return tape_.recorded(Kind::receive, record, call);
}

bool Endpoint::cancel(ses::EndpointId id, void* op_context, Instant now) {
  if (!tape_.is_on()) return fep_->ses().cancel(id, op_context, now);
  tape_.write(Kind::cancel, Cancel{now, {false, names_.number(id)}, names_.number(op_context)});
  const bool is_cancelled = fep_->ses().cancel(id, op_context, now);
  tape_.returned(is_cancelled ? 1 : 0);
  return is_cancelled;
}

Result<void> Endpoint::cancel(ses::ReceiveQueueId id, void* op_context, Instant now) {
  const auto call = [&] { return fep_->ses().cancel(id, op_context, now); };
  if (!tape_.is_on()) return call();
  return tape_.recorded(Kind::cancel,
                        Cancel{now, {true, names_.number(id)}, names_.number(op_context)}, call);
}

}  // namespace uet::recording

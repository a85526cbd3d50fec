// The calls that send a message.
#include "tools/stress/sending.h"

#include <algorithm>

namespace uet::stress {

std::unique_ptr<Operation> Sending::make(const Options& options, Node& node, const PeerRef& peer,
                                         uint32_t slot, uint32_t incarnation, uint32_t stream,
                                         Rng& rng) {
  std::unique_ptr<Sending> sending(
      new Sending(stream == kPlain ? Count::sent : Count::tagged, peer));
  sending->id_ = MessageId{.seq = peer->next_seq[stream],
                           .incarnation = incarnation,
                           .from = slot,
                           .to_incarnation = peer->incarnation % kToIncarnations,
                           .stream = stream,
                           .ordered = node.is_ordered()};
  const Message message = describe(options.seed, sending->id_, peer->slot, options.bytes_max);
  sending->carries_data_ = message.carries_data;
  sending->buffer_.resize(message.bytes);
  message.fill(sending->id_, sending->buffer_);
  sending->call_ = static_cast<Call>(rng.below(4));
  const bool is_short = message.bytes <= node.inject_bytes();
  if (sending->call_ == Call::inject && !is_short) sending->call_ = Call::send;
  if (sending->call_ == Call::inject) sending->kind = Count::injected;
  sending->pieces_max_ = 1 + rng.below(std::min<size_t>(node.iov_limit(), 3));
  sending->flags_ = FI_COMPLETION;
  if (is_short && rng.one_in(3)) sending->flags_ |= FI_INJECT;
  if (rng.one_in(4)) sending->flags_ |= rng.one_in(2) ? FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE;
  if (rng.one_in(4)) sending->flags_ |= FI_MORE;
  if (node.offers(FI_FENCE) && rng.one_in(16)) sending->flags_ |= FI_FENCE;
  return sending;
}

size_t Sending::pieces(iovec* iov) const {
  auto* const octets = const_cast<uint8_t*>(buffer_.data());
  const size_t each = buffer_.size() / pieces_max_;
  for (size_t i = 0; i < pieces_max_; ++i) {
    const size_t end = i + 1 == pieces_max_ ? buffer_.size() : (i + 1) * each;
    iov[i] = {octets + i * each, end - i * each};
  }
  return pieces_max_;
}

ssize_t Sending::post(fid_ep* ep) {
  const ssize_t code = id_.stream == kPlain ? post_plain(ep) : post_tagged(ep);
  // Injected memory may be used again at once.
  const bool injected =
      call_ == Call::inject || (call_ == Call::message && (flags_ & FI_INJECT) != 0);
  if (code == 0 && injected) std::fill(buffer_.begin(), buffer_.end(), uint8_t{0xee});
  return code;
}

ssize_t Sending::post_plain(fid_ep* ep) {
  const uint64_t data = id_.packed();
  void* const context = static_cast<Pending*>(this);
  iovec iov[4];
  switch (call_) {
    case Call::send:
      return carries_data_
                 ? fi_senddata(ep, buffer_.data(), buffer_.size(), nullptr, data, peer->addr,
                               context)
                 : fi_send(ep, buffer_.data(), buffer_.size(), nullptr, peer->addr, context);
    case Call::inject:
      return carries_data_ ? fi_injectdata(ep, buffer_.data(), buffer_.size(), data, peer->addr)
                           : fi_inject(ep, buffer_.data(), buffer_.size(), peer->addr);
    case Call::vector:
      if (!carries_data_) return fi_sendv(ep, iov, nullptr, pieces(iov), peer->addr, context);
      [[fallthrough]];
    case Call::message:
      break;
  }
  fi_msg msg{};
  msg.iov_count = pieces(iov);
  msg.msg_iov = iov;
  msg.addr = peer->addr;
  msg.context = context;
  msg.data = data;
  return fi_sendmsg(ep, &msg, flags_ | (carries_data_ ? FI_REMOTE_CQ_DATA : 0));
}

ssize_t Sending::post_tagged(fid_ep* ep) {
  const uint64_t name = id_.packed();
  void* const context = static_cast<Pending*>(this);
  iovec iov[4];
  switch (call_) {
    case Call::send:
      return carries_data_
                 ? fi_tsenddata(ep, buffer_.data(), buffer_.size(), nullptr, name, peer->addr, name,
                                context)
                 : fi_tsend(ep, buffer_.data(), buffer_.size(), nullptr, peer->addr, name, context);
    case Call::inject:
      return carries_data_
                 ? fi_tinjectdata(ep, buffer_.data(), buffer_.size(), name, peer->addr, name)
                 : fi_tinject(ep, buffer_.data(), buffer_.size(), peer->addr, name);
    case Call::vector:
      if (!carries_data_) {
        return fi_tsendv(ep, iov, nullptr, pieces(iov), peer->addr, name, context);
      }
      [[fallthrough]];
    case Call::message:
      break;
  }
  fi_msg_tagged msg{};
  msg.iov_count = pieces(iov);
  msg.msg_iov = iov;
  msg.addr = peer->addr;
  msg.tag = name;
  msg.context = context;
  msg.data = name;
  return fi_tsendmsg(ep, &msg, flags_ | (carries_data_ ? FI_REMOTE_CQ_DATA : 0));
}

void Sending::on_accepted() { ++peer->next_seq[id_.stream]; }

std::unique_ptr<Operation> Sending::finish(std::string&) {
  // The memory belongs to the application again: if the provider still sends from it, the other end
  // finds wrong octets.
  std::fill(buffer_.begin(), buffer_.end(), uint8_t{0xee});
  return nullptr;
}

std::string Sending::text() const {
  static const char* const kCalls[] = {"send", "sendv", "sendmsg", "inject"};
  return std::string(id_.stream == kPlain ? "" : "t") + kCalls[static_cast<int>(call_)] + " of " +
         std::to_string(buffer_.size()) + " octets to " + peer->text() + " (" + id_.text() + ")";
}

}  // namespace uet::stress

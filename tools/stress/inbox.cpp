// Receives, and the checks when one ends.
#include "tools/stress/inbox.h"

#include <algorithm>
#include <cstring>

namespace uet::stress {
namespace {

constexpr uint32_t kPlainReceives = 12;
constexpr uint32_t kTaggedReceives = 4;  // of each class
constexpr uint32_t kDirectedReceives = 2;
constexpr uint32_t kMultiReceives = 3;
constexpr size_t kMultiMessages = 4;  // of the greatest length, in one receive

}  // namespace

struct Inbox::Receive : Pending {
  Inbox* inbox;
  uint32_t stream;
  uint64_t posting;
  PeerRef directed_at;  // null: any peer
  bool is_cancelled = false;
  bool is_multi = false;
  std::unique_ptr<uint8_t[]> buffer;
  size_t bytes;

  void on_done(const Outcome& outcome) override { inbox->on_done(*this, outcome); }
};

Inbox::Inbox(const Options& options, const Traits& traits, Node& node, const Link& link,
             Tally& tally, uint32_t slot, uint32_t incarnation)
    : options_(options),
      traits_(traits),
      node_(node),
      link_(link),
      tally_(tally),
      slot_(slot),
      incarnation_(incarnation) {
  if (!traits.multi_recv || !node.offers(FI_MULTI_RECV)) return;
  size_t least = options.bytes_max;
  fi_setopt(&node.ep()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
}

Inbox::~Inbox() {
  for (Receive* receive : receives_) delete receive;
}

void Inbox::replenish(const PeerRef& directed_at, Rng& rng) {
  if (is_closing_) return;
  const bool multi = traits_.multi_recv && node_.offers(FI_MULTI_RECV);
  const uint32_t plain = multi ? kMultiReceives : kPlainReceives;
  while (streams_[kPlain].undirected < plain) post(kPlain, nullptr);
  for (uint32_t stream = 1; stream <= kTagClasses; ++stream) {
    while (streams_[stream].undirected < kTaggedReceives) post(stream, nullptr);
  }
  if (!directed_at || !node_.offers(FI_DIRECTED_RECV) || !rng.one_in(16)) return;
  const auto stream = static_cast<uint32_t>(rng.below(kTagClasses + 1));
  if ((stream == kPlain && multi) || streams_[stream].directed >= kDirectedReceives) return;
  post(stream, directed_at);
}

void Inbox::post(uint32_t stream, const PeerRef& directed_at) {
  auto receive = std::make_unique<Receive>();
  receive->inbox = this;
  receive->stream = stream;
  receive->directed_at = directed_at;
  receive->is_multi = stream == kPlain && traits_.multi_recv && node_.offers(FI_MULTI_RECV);
  receive->bytes = options_.bytes_max * (receive->is_multi ? kMultiMessages : 1);
  receive->buffer.reset(new uint8_t[receive->bytes]);
  receive->posting = streams_[stream].postings;
  const fi_addr_t from = directed_at ? directed_at->addr : FI_ADDR_UNSPEC;
  ssize_t code;
  if (receive->is_multi) {
    const iovec iov{receive->buffer.get(), receive->bytes};
    fi_msg msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = from;
    msg.context = static_cast<Pending*>(receive.get());
    code = fi_recvmsg(node_.ep(), &msg, FI_MULTI_RECV | FI_COMPLETION);
  } else if (stream == kPlain) {
    code = fi_recv(node_.ep(), receive->buffer.get(), receive->bytes, nullptr, from,
                   static_cast<Pending*>(receive.get()));
  } else {
    const MessageId any{.stream = stream};
    code = fi_trecv(node_.ep(), receive->buffer.get(), receive->bytes, nullptr, from, any.packed(),
                    kTagSequenceBits | uint64_t{1} << 62, static_cast<Pending*>(receive.get()));
  }
  if (code == -FI_EAGAIN) return;
  if (code != 0) {
    link_.defect("a receive was refused: " + std::string(fi_strerror(static_cast<int>(-code))));
    return;
  }
  ++streams_[stream].postings;
  ++(directed_at ? streams_[stream].directed : streams_[stream].undirected);
  receives_.insert(receive.release());
}

void Inbox::learn(const Peer& peer) { known_[{peer.slot, peer.incarnation}] = peer.addr; }

void Inbox::forget(const Peer& peer) {
  known_.erase({peer.slot, peer.incarnation});
  for (Receive* receive : receives_) {
    if (receive->directed_at.get() != &peer || receive->is_cancelled) continue;
    receive->is_cancelled = true;
    fi_cancel(&node_.ep()->fid, static_cast<Pending*>(receive));
  }
}

void Inbox::on_done(Receive& receive, const Outcome& outcome) {
  if (outcome.err != 0) {
    on_error(receive, outcome);
    return;
  }
  const bool is_message = (outcome.flags & FI_RECV) != 0;
  if (is_message) check(receive, outcome);
  if (!is_message && !receive.is_multi) link_.defect("a receive ended without FI_RECV");
  if (!receive.is_multi || (outcome.flags & FI_MULTI_RECV) != 0) release(receive);
}

void Inbox::on_error(Receive& receive, const Outcome& outcome) {
  if (outcome.err == FI_ECANCELED && receive.is_cancelled) {
    ++at(tally_, Count::cancelled);
  } else {
    // Right when the sender died in the middle of the message; the director knows.
    link_.tell("receive_failed " + outcome.text);
  }
  const bool goes_on =
      receive.is_multi && outcome.err != FI_ECANCELED && (outcome.flags & FI_MULTI_RECV) == 0;
  if (!goes_on) release(receive);
}

void Inbox::release(Receive& receive) {
  Posted& posted = streams_[receive.stream];
  --(receive.directed_at ? posted.directed : posted.undirected);
  receives_.erase(&receive);
  delete &receive;
}

void Inbox::check(const Receive& receive, const Outcome& outcome) {
  const bool has_data = (outcome.flags & FI_REMOTE_CQ_DATA) != 0;
  const uint8_t* const octets = receive.is_multi ? outcome.buffer : receive.buffer.get();
  const std::span<const uint8_t> got(octets, outcome.bytes);
  uint64_t name = 0;
  if (receive.stream != kPlain) {
    name = outcome.tag;
  } else if (has_data) {
    name = outcome.data;
  } else if (got.size() >= kNameBytes) {
    std::memcpy(&name, got.data(), kNameBytes);
  }
  const MessageId id = MessageId::unpacked(name);
  const std::string what = id.text() + " (" + std::to_string(got.size()) + " octets)";
  if (id.stream != receive.stream) {
    link_.defect("a receive of stream " + std::to_string(receive.stream) + " got " + what);
    return;
  }
  if (id.to_incarnation != incarnation_ % kToIncarnations) {
    if (!options_.same_name) link_.defect(what + " was meant for another life of this process");
    return;
  }
  const Message message = describe(options_.seed, id, slot_, options_.bytes_max);
  if (message.bytes != got.size()) {
    link_.defect(what + " should have " + std::to_string(message.bytes) + " octets");
  } else if (const size_t wrong = message.first_difference(id, got); wrong != got.size()) {
    link_.defect(what + " differs at octet " + std::to_string(wrong));
  }
  if (message.carries_data != has_data || (has_data && outcome.data != name)) {
    link_.defect(what + " has wrong remote CQ data");
  }
  if (receive.directed_at && receive.directed_at->slot != id.from) {
    link_.defect(what + " took a receive for process " + receive.directed_at->text());
  }
  check_source(id, outcome);
  const size_t offset =
      receive.is_multi ? static_cast<size_t>(octets - receive.buffer.get()) : size_t{0};
  record(id, {receive.posting, offset});
  ++at(tally_, Count::received);
  at(tally_, Count::octets_in) += got.size();
}

void Inbox::check_source(const MessageId& id, const Outcome& outcome) {
  const auto known = known_.find({id.from, id.incarnation});
  if (outcome.from == FI_ADDR_NOTAVAIL || known == known_.end()) return;
  if (options_.same_name || outcome.from == known->second) return;
  link_.defect(id.text() + " has the source address of another process");
}

void Inbox::on_written(const Outcome& outcome) {
  const MessageId id = MessageId::unpacked(outcome.data);
  if ((outcome.flags & FI_REMOTE_CQ_DATA) == 0 || id.stream != kWritten) {
    link_.defect("an event of written data without its data");
    return;
  }
  if (id.to_incarnation != incarnation_ % kToIncarnations) return;
  record(id, {0, 0});
  ++at(tally_, Count::events);
}

void Inbox::record(const MessageId& id, Ledger::Place place) {
  const std::string problem = ledger_.record(id, place, id.ordered && node_.is_ordered());
  if (!problem.empty()) link_.defect(problem);
}

void Inbox::cancel_all() {
  is_closing_ = true;
  for (Receive* receive : receives_) {
    if (receive->is_cancelled) continue;
    receive->is_cancelled = true;
    fi_cancel(&node_.ep()->fid, static_cast<Pending*>(receive));
  }
}

}  // namespace uet::stress

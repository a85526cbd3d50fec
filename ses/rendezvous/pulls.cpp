// Reads the rest of rendezvous messages.
#include "ses/rendezvous/pulls.h"

#include "pds/share.h"

#include <algorithm>
#include <array>

namespace uet::ses {

using wire::ReturnCode;

namespace {

constexpr uint8_t kReleasesMax = 50;  // each lasts as long as the peer is waited for

}  // namespace

Result<void> Pulls::create(Rng& rng) {
  // Beside a peer's kept messages its share has room for messages with a receive.
  const uint32_t pulls = 2 * res_.config.unexpected_messages + res_.config.rx_messages;
  const Room room{std::min(pulls, 64U), pulls};
  UET_CHECK(pulls_.create(*res_.arena, pulls, Reuse::rested));
  UET_CHECK(by_key_.create(*res_.arena, room, rng.u64()));
  UET_CHECK(queues_.create(*res_.arena, pulls));
  return by_peer_.create(*res_.arena, room, rng.u64());
}

// Peers leave places to others, as in every common room. [T-02, T-61]
bool Pulls::may_make(const Request& q) const {
  const pds::Peer& peer = (*res_.peers)[q.peer];
  const uint64_t of_host = res_.peers->host_of(peer).rests;
  const uint32_t free = pulls_.capacity() - pulls_.size();
  return pds::is_within_shares(peer.rests, of_host, 1, free, pulls_.capacity()) &&
         (q.is_confirmed || pds::leaves_reserve(1, free, pulls_.capacity()));
}

Pull* Pulls::make(const Request& q) {
  Pull* const p = may_make(q) ? pulls_.alloc() : nullptr;
  if (p == nullptr) {
    res_.counters.add(Counter::rx_peer_slots_used);
    return nullptr;
  }
  pds::Peer& peer = (*res_.peers)[q.peer];
  ++peer.rests;
  ++res_.peers->host_of(peer).rests;
  res_.counters.add(Counter::rx_rendezvous);
  p->source = q.rendezvous;
  p->peer = q.peer;
  p->job = q.common.job_id;
  p->is_absolute = !q.common.rel;
  // If a peer uses a key for two messages, the first one is found.
  (void)by_key_.insert({p->peer, p->source.read_memory_key}, p);
  res_.peers->add_ref(q.peer);  // its ID must not come to mean another peer while there is more
  return p;
}

void Pulls::free(Pull& p) {
  p.unlink();
  const PullKey key{p.peer, p.source.read_memory_key};
  Pull** const known = by_key_.find(key);
  if (known != nullptr && *known == &p) by_key_.erase(key);
  pds::Peer& peer = (*res_.peers)[p.peer];
  --peer.rests;
  --res_.peers->host_of(peer).rests;
  res_.peers->drop_ref(p.peer);
  pulls_.free(&p);
}

// The answer does not wait for the rest, delivery-complete or not: each read is acknowledged when
// its data is in place, and the send waits for these acknowledgements anyway. [SES-048, SES-089,
// SES-091]
void Pulls::read_rest(const Endpoint& ep, Pull& p, PostedReceive& r, const Arrived& a) {
  p.endpoint = ep.id;
  p.arrived = a;
  if (a.place.room <= p.source.eager_length) {
    receives_.complete(ep, r, a);
    release_sender(ep, p);
    return;
  }
  p.receive = &r;
  p.stage = Pull::Stage::reading;
  wait(p);
  start();
}

void Pulls::discard(const Endpoint& ep, Pull& p, uint32_t request_length) {
  p.arrived.request_length = request_length;
  release_sender(ep, p);
}

// The receive has all that it takes. An initiator that was answered with OVERFLOW expects that
// everything is read. [SES-090, SES-091]
void Pulls::release_sender(const Endpoint& ep, Pull& p) {
  p.endpoint = ep.id;
  const Arrived& a = p.arrived;
  const bool is_cut = a.place.room < a.request_length;
  const bool has_rest = p.source.eager_length < a.request_length;
  if (!p.was_kept || !is_cut || !has_rest) return free(p);
  p.receive = nullptr;
  p.stage = Pull::Stage::releasing;
  wait(p);
  start();
}

// Behind the other messages of its peer.
void Pulls::wait(Pull& p) {
  PullQueue** const known = by_peer_.find(p.peer);
  PullQueue* queue = known == nullptr ? nullptr : *known;
  if (queue == nullptr) {
    queue = queues_.alloc();
    UET_ASSERT(queue != nullptr);  // as many as there are Pulls
    queue->peer = p.peer;
    (void)by_peer_.insert(p.peer, queue);
    waiting_.push_back(*queue);
  }
  queue->pulls.push_back(p);
}

void Pulls::drop_if_empty(PullQueue& queue) {
  if (!queue.pulls.empty()) return;
  by_peer_.erase(queue.peer);
  queues_.free(&queue);
}

// A peer gets at most as many places as it leaves free.
bool Pulls::has_place(PeerId id) const {
  const uint32_t places = res_.config.rendezvous_reads;
  if (reading_ >= places) return false;
  const pds::Peer& peer = (*res_.peers)[id];
  return pds::is_within_shares(peer.pulls, res_.peers->host_of(peer).pulls, 1, places - reading_,
                               places);
}

// The peers take turns. A message without a place goes when a read ends; one without a slot or flow
// is tried again later, and does not delay other peers. Cost: the started reads and the waiting
// peers.
void Pulls::start() {
  bool is_refused = false;
  bool any = true;
  while (any) {
    any = false;
    for (PullQueue& queue : waiting_) {
      if (!has_place(queue.peer)) continue;
      Pull& p = *queue.pulls.front();
      if (!start(p)) {
        is_refused = true;
        continue;
      }
      any = true;
      p.unlink();
      ++reading_;
      pds::Peer& peer = (*res_.peers)[queue.peer];
      ++peer.pulls;
      ++res_.peers->host_of(peer).pulls;
      drop_if_empty(queue);
    }
  }
  again_.note(is_refused, res_.config.retry_time_cap, res_.now);
}

void Pulls::retry() {
  bool is_due = again_.is_due(res_.now);
  while (Pull* p = failed_releases_.front()) {
    if (p->again_at > res_.now) break;
    p->unlink();
    wait(*p);
    is_due = true;
  }
  if (is_due) start();
}

bool Pulls::start(Pull& p) {
  Endpoint* ep = endpoints_.get(p.endpoint);
  UET_ASSERT(ep != nullptr);  // close() ends its pulls
  std::array<IoSlice, kIovMax> slices;
  uint32_t count = 0;
  const uint64_t pushed = p.source.eager_length;
  if (p.stage == Pull::Stage::reading) {
    p.receive->memory.for_each(p.arrived.place.begin + pushed, p.arrived.place.room - pushed,
                               [&](const std::byte* at, uint64_t length) {
                                 slices[count++] = {at, length};
                               });
  }
  RestRequest request;
  request.from = {.peer = p.peer,
                  .pid = p.source.read_pid_on_fep,
                  .ri = p.source.read_resource_index,
                  .absolute = p.is_absolute,
                  .job = p.job};
  request.iov = {slices.data(), count};
  request.offset = p.source.read_offset;
  if (count != 0) {
    request.offset += pushed;
  } else if (!p.has_failed) {
    request.offset += p.arrived.request_length;  // at the start: given up [SES-091]
  }
  request.key = p.source.read_memory_key;
  request.pull = pulls_.handle(&p).word();
  request.shown_payload = p.source.eager_length;
  return posting_.read_rest(*ep, request).ok();
}

void Pulls::on_end(const InternalEnd& done) {
  Pull* const p = pulls_.get(Handle<Pull>::from_word(done.pull));
  UET_ASSERT(p != nullptr && reading_ != 0);
  pds::Peer& peer = (*res_.peers)[p->peer];
  --reading_;
  --peer.pulls;
  --res_.peers->host_of(peer).pulls;
  Endpoint* ep = endpoints_.get(p->endpoint);
  UET_ASSERT(ep != nullptr);
  if (p->stage == Pull::Stage::releasing) {
    // Sent again if it did not arrive. A peer that refuses it has received it: the initiator may be
    // finished and have forgotten the message.
    const bool is_known = done.status != Completion::Status::undeliverable;
    if (!is_known && ++p->releases_failed < kReleasesMax) {
      p->again_at = res_.now + res_.config.retry_time_cap;
      failed_releases_.push_back(*p);
    } else {
      free(*p);
    }
  } else if (!done.ok()) {
    fail(*p, done.status, done.code);
  } else {
    receives_.complete(*ep, *p->receive, p->arrived);
    release_sender(*ep, *p);
  }
  start();
}

// The rest will not come: the receive ends in error, and so does the send when it gets the report.
void Pulls::fail(Pull& p, Completion::Status status, ReturnCode code) {
  Endpoint* ep = endpoints_.get(p.endpoint);
  UET_ASSERT(ep != nullptr);
  if (p.receive != nullptr) {
    p.arrived.status = status;
    p.arrived.code = code;
    receives_.complete(*ep, *p.receive, p.arrived);
  }
  // No reads for an endpoint that closes, and an initiator that withdrew the source needs no
  // report.
  if (status == Completion::Status::aborted || code == ReturnCode::bad_mkey) return free(p);
  p.receive = nullptr;
  p.has_failed = true;
  p.stage = Pull::Stage::releasing;
  wait(p);
}

// Messages that wait for a place; reads in progress end with the operations of the endpoint.
void Pulls::close(const Endpoint& ep) {
  for (PullQueue& queue : waiting_) {
    for (Pull& p : queue.pulls) {
      if (p.endpoint == ep.id) fail(p, Completion::Status::aborted, ReturnCode::cancelled);
    }
    drop_if_empty(queue);
  }
  for (Pull& p : failed_releases_) {
    if (p.endpoint == ep.id) free(p);
  }
}

Instant Pulls::next_deadline() const {
  const Pull* const p = failed_releases_.front();
  return p == nullptr ? again_.deadline() : std::min(p->again_at, again_.deadline());
}

}  // namespace uet::ses

// Rendezvous sends at the target: what was pushed is matched and placed like any message, then the
// rest is read from the initiator's memory, as much as the receive has room for. A message that no
// receive matched is kept without its rest. [ses.md 4.4]
//
// stage \ event | placed, more to read | read, all there or told | read, initiator waits for more
// arriving      | reading              | gone                    | releasing
// reading       | -                    | gone                    | releasing
// releasing     | -                    | gone                    | -
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

namespace {

constexpr uint8_t kReleasesMax = 50;  // each lasts as long as the peer is waited for

}  // namespace

Pull* Target::make_pull(const Request& q) {
  Pull* const p = pulls_.alloc();
  if (p == nullptr) return nullptr;
  core_.counters.add(Counter::rx_rendezvous);
  p->source = q.rendezvous();
  p->peer = q.peer;
  p->job = q.common.job_id;
  p->is_absolute = !q.common.rel;
  // A peer that uses a key for two messages is told of the first one.
  (void)pull_by_key_.insert({p->peer, p->source.read_memory_key}, p);
  core_.peers->add_ref(q.peer);  // its ID must not come to mean another peer while there is more
  return p;
}

// Answered like any request, unless it asks for a message that is not known here any more, or never
// was: its initiator waits for nobody then. [SES-051, SES-091]
pds::Verdict Target::on_no_op(const Request& q) {
  if (!MemoryRegions::is_provider_key(q.match_bits) ||
      pull_by_key_.find({q.peer, q.match_bits}) != nullptr) {
    return pds::Verdict::accepted();
  }
  return refuse(q, ReturnCode::bad_mkey, Counter::rx_bad_key);
}

void Target::free(Pull& p) {
  p.unlink();
  const PullKey key{p.peer, p.source.read_memory_key};
  Pull** const known = pull_by_key_.find(key);
  if (known != nullptr && *known == &p) pull_by_key_.erase(key);
  core_.peers->drop_ref(p.peer);
  pulls_.free(&p);
}

// All that was pushed is in its place. The receive completes when the rest is there too. The answer
// does not wait for that, delivery-complete or not: what was read is acknowledged when it is in its
// place, and the send waits for these acknowledgements anyway. [SES-048, SES-089, SES-091]
void Target::read_rest(Endpoint& ep, Pull& p, PostedReceive& r, const Arrived& a) {
  p.endpoint = ep.id;
  p.arrived = a;
  if (a.room <= p.source.eager_length) {
    complete(ep, r, a);
    release_sender(ep, p);
    return;
  }
  p.receive = &r;
  p.stage = Pull::Stage::reading;
  waiting_pulls_.push_back(p);
  start_pulls();
}

// The receive has all it takes. An initiator that was told OVERFLOW counts on everything being
// read. [SES-090, SES-091]
void Target::release_sender(Endpoint& ep, Pull& p) {
  p.endpoint = ep.id;
  const Arrived& a = p.arrived;
  const bool is_cut = a.room < a.request_length;
  const bool has_rest = p.source.eager_length < a.request_length;
  if (!p.was_kept || !is_cut || !has_rest) return free(p);
  p.receive = nullptr;
  p.stage = Pull::Stage::releasing;
  waiting_pulls_.push_back(p);
  start_pulls();
}

// One peer gets no more of the places than it leaves free. What finds none goes when a read ends;
// what finds no slot or flow is tried again later, and keeps no other peer's from being read.
void Target::start_pulls() {
  bool is_refused = false;
  PeerId refused;
  for (Pull& p : waiting_pulls_) {
    const uint32_t places = core_.config.rendezvous_reads;
    if (reading_pulls_ >= places) break;
    pds::Peer& peer = (*core_.peers)[p.peer];
    pds::Host& host = core_.peers->host_of(peer);
    const uint32_t free = places - reading_pulls_;
    if (!is_within_shares(peer.pulls, host.pulls, 1, free, places)) continue;
    if (is_refused && p.peer == refused) continue;
    if (!start_pull(p)) {
      is_refused = true;
      refused = p.peer;
      continue;
    }
    p.unlink();
    ++reading_pulls_;
    ++peer.pulls;
    ++host.pulls;
  }
  pull_again_.note(is_refused, core_.config.retry_time_cap, core_.now);
}

void Target::retry_pulls() {
  bool is_due = pull_again_.is_due(core_.now);
  while (Pull* p = failed_releases_.front()) {
    if (p->again_at > core_.now) break;
    p->unlink();
    waiting_pulls_.push_back(*p);
    is_due = true;
  }
  if (is_due) start_pulls();
}

bool Target::start_pull(Pull& p) {
  Endpoint* ep = core_.endpoint(p.endpoint);
  UET_ASSERT(ep != nullptr);  // close() ends its pulls
  std::array<IoSlice, kIovMax> slices;
  uint32_t count = 0;
  const uint64_t pushed = p.source.eager_length;
  if (p.stage == Pull::Stage::reading) {
    p.receive->memory.for_each(p.arrived.place + pushed, p.arrived.room - pushed,
                               [&](const std::byte* at, uint64_t length) {
                                 slices[count++] = {at, length};
                               });
  }
  Initiator::RestRequest request;
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
  return initiator_.read_rest(*ep, request).ok();
}

void Target::on_pulled(uint32_t handle, const Completion& done) {
  Pull* const p = pulls_.get(Handle<Pull>::from_word(handle));
  UET_ASSERT(p != nullptr && reading_pulls_ != 0);
  pds::Peer& peer = (*core_.peers)[p->peer];
  --reading_pulls_;
  --peer.pulls;
  --core_.peers->host_of(peer).pulls;
  Endpoint* ep = core_.endpoint(p->endpoint);
  UET_ASSERT(ep != nullptr);
  if (p->stage == Pull::Stage::releasing) {
    // Sent again if it did not arrive; the initiator may be through and know nothing of it.
    const bool is_known = done.ok() || done.status == Completion::Status::aborted ||
                          done.code == ReturnCode::bad_mkey;
    if (!is_known && ++p->releases_failed < kReleasesMax) {
      p->again_at = core_.now + core_.config.retry_time_cap;
      failed_releases_.push_back(*p);
    } else {
      free(*p);
    }
  } else if (!done.ok()) {
    end_pull(*p, done.status, done.code);
  } else {
    complete(*ep, *p->receive, p->arrived);
    release_sender(*ep, *p);
  }
  start_pulls();
}

// The rest will not come: the receive ends in error, and so does the send when it is told.
void Target::end_pull(Pull& p, Completion::Status status, ReturnCode code) {
  Endpoint* ep = core_.endpoint(p.endpoint);
  UET_ASSERT(ep != nullptr);
  if (p.receive != nullptr) {
    p.arrived.status = status;
    p.arrived.code = code;
    complete(*ep, *p.receive, p.arrived);
  }
  // Nobody reads for an endpoint that closes, and one who took the source away knows.
  if (status == Completion::Status::aborted || code == ReturnCode::bad_mkey) return free(p);
  p.receive = nullptr;
  p.has_failed = true;
  p.stage = Pull::Stage::releasing;
  waiting_pulls_.push_back(p);
}

// Those that wait for a place; the reads of the others end with the operations of the endpoint.
void Target::close_pulls(const Endpoint& ep) {
  for (Pull& p : waiting_pulls_) {
    if (p.endpoint == ep.id) end_pull(p, Completion::Status::aborted, ReturnCode::cancelled);
  }
  for (Pull& p : failed_releases_) {
    if (p.endpoint == ep.id) free(p);
  }
}

}  // namespace uet::ses

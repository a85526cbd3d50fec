// Drawing, posting and judging datagrams.
#include "sim/datagrams.h"

#include "sim/octets.h"

#include <algorithm>
#include <utility>

namespace uet::sim {
namespace {

constexpr uint32_t kDatagramJob = 500;  // no other endpoint is in it
constexpr uint32_t kShortRoom = 40;     // octets of a receive that truncates most datagrams
constexpr auto kSend = Agenda::Lane::send;
constexpr auto kReceive = Agenda::Lane::receive;
constexpr uint64_t kDatagramReceiveBit = uint64_t{1} << 40;  // in OpContext::user: a receive

ses::EndpointName name_of(uint32_t host) {
  return {JobId(kDatagramJob), PidOnFep(300), ResourceIndex(1), 5000 + host, false};
}

}  // namespace

struct Datagrams::Host {
  Datagrams* all = nullptr;
  uint32_t index = 0;
  recording::Endpoint* fep = nullptr;
  LocalClock clock;
  ses::EndpointId endpoint;
  AddressBook* others = nullptr;
  Agenda agenda;  // receives and datagrams by id
};

struct Datagrams::Datagram {
  uint32_t id = 0;  // 1...; also the pattern of its octets
  uint32_t from = 0;
  uint32_t to = 0;
  Instant send_at;
  std::vector<std::byte> octets;
  bool posted = false;
  bool done = false;
  bool received = false;
};

struct Datagrams::Receive {
  uint32_t id = 0;  // 1...
  uint32_t host = 0;
  std::vector<std::byte> room;
  bool posted = false;
};

Datagrams::Datagrams(const Plan& plan, uint64_t seed) : plan_(plan) {
  Rng rng(seed, 0x757564);
  for (uint32_t i = 0; i < plan.endpoints; ++i) {
    hosts_.push_back(std::make_unique<Host>());
    hosts_[i]->all = this;
    hosts_[i]->index = i;
  }
  if (plan.datagrams == 0) return;
  datagrams_.resize(plan.datagrams);
  for (uint32_t i = 0; i < plan.datagrams; ++i) {
    Datagram& d = datagrams_[i];
    d.id = i + 1;
    d.from = static_cast<uint32_t>(rng.below(plan.endpoints));
    d.to = static_cast<uint32_t>(rng.below(plan.endpoints - 1));
    if (d.to >= d.from) ++d.to;
    d.send_at = kStart + Duration::nanoseconds(int64_t(rng.below(uint64_t(plan.spread.ns()) + 1)));
    d.octets.resize(rng.below(plan.payload_mtu + 1));
    fill(d.octets, d.id);
  }
  for (uint32_t i = 0; i < plan.endpoints; ++i) {
    for (uint64_t n = 1 + rng.below(8); n > 0; --n) {
      Receive& r = receives_.emplace_back();
      r.id = static_cast<uint32_t>(receives_.size());
      r.host = i;
      r.room.resize(rng.chance(0.2) ? kShortRoom : plan.payload_mtu);
    }
  }
  unfinished_ = datagrams_.size();
  for (const Datagram& d : datagrams_) hosts_[d.from]->agenda.add(kSend, d.id, d.send_at);
  for (const Receive& r : receives_) hosts_[r.host]->agenda.add_due(kReceive, r.id);
}

Datagrams::~Datagrams() = default;

bool Datagrams::open(uint32_t index, recording::Endpoint& fep, AddressBook& others,
                     LocalClock clock) {
  if (plan_.datagrams == 0) return true;
  Host& host = *hosts_[index];
  host.fep = &fep;
  host.others = &others;
  host.clock = clock;
  ses::Ses::EndpointOptions options;
  options.mode = pds::Mode::uud;
  ses::CompletionSink sink;
  sink.owner = &host;
  sink.complete = &Datagrams::on_completion;
  const auto endpoint = fep.open_endpoint(name_of(index), options, sink, sink);
  if (!endpoint.ok()) return false;
  host.endpoint = *endpoint;
  return true;
}

void Datagrams::lose(uint32_t index, bool for_good) {
  if (datagrams_.empty()) return;
  Agenda& agenda = hosts_[index]->agenda;
  agenda.clear();
  for (Datagram& d : datagrams_) {
    if (d.from != index) continue;
    if (d.posted || for_good) {
      d.posted = true;
      if (!std::exchange(d.done, true)) --unfinished_;
    } else {
      agenda.add(kSend, d.id, d.send_at);
    }
  }
  for (Receive& r : receives_) {
    if (r.host != index) continue;
    r.posted = false;
    agenda.add_due(kReceive, r.id);
  }
}

Instant Datagrams::post_due(uint32_t index, Instant now) {
  // A post that finds no slot is tried again shortly.
  constexpr Duration kAgain = Duration::microseconds(50);
  if (datagrams_.empty()) return Instant::never();
  Agenda& agenda = hosts_[index]->agenda;
  agenda.advance(now);
  Instant next = Instant::never();
  for (const Agenda::Lane lane : {kReceive, kSend}) {
    for (uint32_t id = 0; (id = agenda.first_due(lane, id)) != 0;) {
      const bool is_posted =
          lane == kReceive ? post(receives_[id - 1], now) : post(datagrams_[id - 1], now);
      if (is_posted) {
        agenda.finish(lane, id);
      } else {
        next = std::min(next, now + kAgain);
      }
    }
  }
  const Agenda::Task* const later = agenda.first_later();
  return later == nullptr ? next : std::min(next, later->at);
}

bool Datagrams::has_due(uint32_t index, Instant now) const {
  return hosts_[index]->agenda.has_due(now);
}

bool Datagrams::post(Datagram& d, Instant now) {
  Host& host = *hosts_[d.from];
  const IoSlice slice{d.octets.data(), d.octets.size()};
  const ses::EndpointName to = name_of(d.to);
  ses::SendRequest request;
  const Instant shown = host.clock.local(now);
  request.to = {host.others->name(d.to, shown), to.pid, to.ri, to.initiator_id, false};
  request.iov = {&slice, 1};
  request.data = d.id;
  request.flags = ses::kOpRemoteData;
  request.context = {&d, d.id};
  const auto posted = host.fep->send(host.endpoint, request, shown);
  if (!posted.ok() && posted.error() != Errc::again) fail("post failed", d.id);
  d.posted = posted.ok();
  return d.posted;
}

bool Datagrams::post(Receive& r, Instant now) {
  Host& host = *hosts_[r.host];
  const IoSlice slice{r.room.data(), r.room.size()};
  ses::ReceiveRequest request;
  request.iov = {&slice, 1};
  request.context = {&r, kDatagramReceiveBit};
  r.posted = host.fep->receive(host.endpoint, request, host.clock.local(now)).ok();
  return r.posted;
}

void Datagrams::on_completion(void* owner, const ses::Completion& c) {
  Host& host = *static_cast<Host*>(owner);
  if (c.context.user != kDatagramReceiveBit) {
    return host.all->judge_sent(*static_cast<Datagram*>(c.context.op), c);
  }
  Receive& receive = *static_cast<Receive*>(c.context.op);
  if (!receive.posted || receive.host != host.index) host.all->fail("receive ended twice", 0);
  receive.posted = false;
  host.agenda.add_due(kReceive, receive.id);
  host.all->judge_received(receive, c);
}

// [PDS-211] It completes when it has left, even if no endpoint receives it.
void Datagrams::judge_sent(Datagram& d, const ses::Completion& c) {
  if (d.done) return fail("ended twice", d.id);
  d.done = true;
  --unfinished_;
  if (!c.ok()) fail("failed", d.id);
}

void Datagrams::judge_received(const Receive& receive, const ses::Completion& c) {
  const bool truncated = c.status == ses::Completion::Status::truncated;
  if (!c.ok() && !truncated) return fail("receive failed", 0);
  if (!c.has_data || c.data == 0 || c.data > datagrams_.size()) {
    return fail("no such datagram", c.data);
  }
  Datagram& d = datagrams_[c.data - 1];
  if (!d.posted || d.to != receive.host) return fail("was not for that host", d.id);
  if (c.initiator_id != name_of(d.from).initiator_id) fail("wrong source", d.id);
  if (!hosts_[d.to]->others->is(c.peer, d.from)) fail("wrong peer", d.id);
  if (d.received && plan_.faults.duplicate == 0) fail("came twice", d.id);
  d.received = true;
  const uint64_t expected = std::min<uint64_t>(d.octets.size(), receive.room.size());
  if (c.bytes != expected || truncated != (d.octets.size() > expected)) {
    return fail("wrong length", d.id);
  }
  if (plan_.lengths_only) return;
  if (!holds(receive.room.data(), c.bytes, d.id)) fail("wrong octets", d.id);
}

void Datagrams::fail(const char* what, uint64_t id) {
  if (violation_.empty()) violation_ = "datagram " + std::to_string(id) + ": " + what;
}

}  // namespace uet::sim

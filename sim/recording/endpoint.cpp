// Records calls and what happens inside them.
#include "sim/recording/endpoint.h"

#include "sim/recording/settings.h"
#include "sim/recording/watched_io.h"

#include "base/assert.h"

namespace uet::recording {
namespace {

Ended end_of(const fep::FabricEndpoint& fep, uint64_t memory_digest) {
  Ended out;
  out.memory_digest = memory_digest;
  fep.for_each_counter([&](const char* name, uint64_t value) {
    out.counters.push_back({name, value});
  });
  return out;
}

}  // namespace

void Endpoint::write(const MemoryBook::News& news) {
  for (const Block& block : news.blocks) write(Kind::block, block);
  for (const Content& content : news.contents) write(Kind::content, content);
}

Result<std::unique_ptr<fep::FabricEndpoint>> Endpoint::create(const fep::Config& config,
                                                              const FabricAddress& local,
                                                              uint64_t seed) {
  if (writer_ != nullptr) {
    number_ = writer_->next_endpoint();
    write(Kind::create, Create{local, seed, settings_of(config)});
  }
  auto made = fep::FabricEndpoint::create(config, local, seed);
  if (made.ok()) fep_ = made->get();
  if (writer_ != nullptr) {
    write(Kind::returned,
          Returned{made.ok() ? 0 : static_cast<uint32_t>(made.error()) + 1, 0, Instant::zero()});
  }
  return made;
}

std::unique_ptr<io::PacketIo> Endpoint::watch(std::unique_ptr<io::PacketIo> io) {
  if (writer_ == nullptr) return io;
  write(Kind::use_engine, UseEngine{});
  return std::make_unique<WatchedIo>(std::move(io), *this);
}

void Endpoint::finish() {
  if (writer_ == nullptr || fep_ == nullptr) return;
  write(Kind::destroy, AtTime{});
  write(Kind::ended, end_of(*fep_, memory_.digest_of_all()));
}

Sink Endpoint::shape_of(const ses::CompletionSink& sink) {
  return {sink.reserve != nullptr, sink.release != nullptr, sink.carries_data, sink.all_remote};
}

ses::CompletionSink Endpoint::watched(const ses::CompletionSink& sink) {
  UET_ASSERT(sink.complete != nullptr);
  WatchedSink& w = sinks_.emplace_back();
  w.endpoint = this;
  w.number = static_cast<uint32_t>(sinks_.size() - 1);
  w.sink = sink;
  ses::CompletionSink out = sink;
  out.owner = &w;
  out.complete = on_complete;
  if (sink.reserve != nullptr) out.reserve = on_reserve;
  if (sink.release != nullptr) out.release = on_release;
  return out;
}

void Endpoint::on_complete(void* owner, const ses::Completion& c) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  Endpoint& e = *w.endpoint;
  Completed out = completed(w.number, c);
  out.context.op = e.op_number(c.context.op);
  out.context.user = c.context.user;
  const auto post = e.posts_.find(out.context);
  if (post != e.posts_.end()) {
    const auto at =
        c.buffer == nullptr ? std::nullopt : e.memory_.offset_of(post->second, c.buffer);
    out.buffer = at ? *at + 1 : 0;
    out.digest = e.memory_.digest_of(post->second, at.value_or(0), c.bytes);
  }
  e.write(Kind::completed, out);
  w.sink.complete(w.sink.owner, c);
}

bool Endpoint::on_reserve(void* owner) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  const bool answer = w.sink.reserve(w.sink.owner);
  w.endpoint->write(Kind::reserved, Reserved{w.number, answer});
  return answer;
}

void Endpoint::on_release(void* owner) {
  const WatchedSink& w = *static_cast<WatchedSink*>(owner);
  w.endpoint->write(Kind::released, Released{w.number});
  w.sink.release(w.sink.owner);
}

Result<ses::EndpointId> Endpoint::open_endpoint(const ses::EndpointName& name,
                                                const ses::EndpointOptions& options,
                                                const ses::CompletionSink& tx,
                                                const ses::CompletionSink& rx) {
  if (writer_ == nullptr) return fep_->ses().open_endpoint(name, options, tx, rx);
  UET_ASSERT(options.jobs.empty());
  OpenEndpoint record{name,
                      options.mode,
                      options.tc,
                      options.tx_size,
                      options.rx_size,
                      0,
                      options.reject_truncated,
                      shape_of(tx),
                      shape_of(rx)};
  if (options.shared.value() != 0) record.shared = shared_.at(options.shared) + 1;
  const auto opened = recorded(Kind::open_endpoint, record, [&] {
    const ses::CompletionSink first = watched(tx);
    return fep_->ses().open_endpoint(name, options, first, watched(rx));
  });
  if (opened.ok()) endpoints_[*opened] = endpoints_opened_++;
  return opened;
}

Result<ses::ReceiveQueueId> Endpoint::open_shared(uint32_t rx_size) {
  if (writer_ == nullptr) return fep_->ses().open_shared(rx_size);
  const auto opened = recorded(Kind::open_shared, OpenShared{rx_size},
                               [&] { return fep_->ses().open_shared(rx_size); });
  if (opened.ok()) shared_.emplace(*opened, static_cast<uint32_t>(shared_.size()));
  return opened;
}

void Endpoint::close_endpoint(ses::EndpointId id, Instant now) {
  if (writer_ == nullptr) return fep_->ses().close_endpoint(id, now);
  write(Kind::close_endpoint, CloseEndpoint{now, endpoints_.at(id)});
  fep_->ses().close_endpoint(id, now);
  returned();
}

Result<PeerId> Endpoint::find_or_add(const FabricAddress& address, Instant now) {
  if (writer_ == nullptr) return fep_->peers().find_or_add(address, now);
  const auto peer = recorded(Kind::find_peer, FindPeer{now, address},
                             [&] { return fep_->peers().find_or_add(address, now); });
  if (peer.ok()) peers_.emplace(*peer, static_cast<uint32_t>(peers_.size()));
  return peer;
}

void Endpoint::keep(PeerId peer, bool is_listed) {
  if (writer_ != nullptr) write(Kind::keep_peer, KeepPeer{peers_.at(peer), is_listed});
  if (is_listed) {
    fep_->peers().list(peer);
  } else {
    fep_->peers().add_ref(peer);
  }
}

Result<uint64_t> Endpoint::add_region(const ses::RegionRequest& request) {
  const auto call = [&]() -> Result<uint64_t> {
    ses::MemoryRegions& regions = fep_->ses().memory();
    const ses::RegionId id = UET_TRY(regions.add(request));
    regions.enable(id);
    return regions.key(id);
  };
  if (writer_ == nullptr) return call();
  UET_ASSERT(request.jobs.empty() && !request.directed && request.base == 0);
  MemoryBook::News news;
  AddRegion record{memory_.to_be_written(request.iov, news),
                   request.access,
                   request.provider_key,
                   request.key,
                   request.idempotent_safe,
                   request.optimized,
                   request.job,
                   request.ri,
                   request.user};
  write(news);
  return recorded(Kind::add_region, record, call);
}

void Endpoint::close_all(bool abort, Instant now) {
  if (writer_ == nullptr) return fep_->close_all(abort, now);
  write(Kind::close_all, CloseAll{now, abort});
  fep_->close_all(abort, now);
  returned();
}

bool Endpoint::progress(fep::Engine& engine, Instant now) {
  if (writer_ == nullptr) return engine.progress(now);
  now_ = now;
  write(Kind::progress, AtTime{now});
  const bool moved = engine.progress(now);
  returned((moved ? 1u : 0u) | (engine.is_blocked() ? 2u : 0u) | (engine.has_backlog() ? 4u : 0u),
           engine.next_deadline());
  return moved;
}

void Endpoint::receive(std::span<RxDatagram> datagrams, Instant now) {
  if (writer_ == nullptr) return fep_->receive(datagrams, now);
  Datagrams record{now, {}};
  for (const RxDatagram& d : datagrams) {
    record.all.push_back({d, Octets(d.bytes.begin(), d.bytes.end())});
  }
  write(Kind::datagrams, record);
  fep_->receive(datagrams, now);
  returned(0, fep_->next_deadline());
}

uint32_t Endpoint::transmit(TxBatch& batch, Instant now) {
  if (writer_ == nullptr) return fep_->transmit(batch, now);
  write(Kind::transmit, AtTime{now});
  const uint32_t count = fep_->transmit(batch, now);
  write(Kind::packets, packets_of(batch.packets()));
  returned(count, fep_->next_deadline());
  return count;
}

bool Endpoint::on_sent(TxBatch& batch, Instant now) {
  if (writer_ == nullptr) return fep_->on_sent(batch, now);
  write(Kind::on_sent, fates_of(batch.packets(), now));
  const bool is_too_long = fep_->on_sent(batch, now);
  returned(is_too_long ? 1 : 0);
  return is_too_long;
}

void Endpoint::advance(Instant now) {
  if (writer_ == nullptr) return fep_->advance(now);
  write(Kind::advance, AtTime{now});
  fep_->advance(now);
  returned(0, fep_->next_deadline());
}

void Endpoint::on_unreachable(const FabricAddress& address, Instant now) {
  if (writer_ == nullptr) return fep_->on_unreachable(address, now);
  write(Kind::unreachable, PathReport{now, address, 0});
  fep_->on_unreachable(address, now);
  returned(0, fep_->next_deadline());
}

void Endpoint::on_too_long(const FabricAddress& address, uint32_t mtu_bytes, Instant now) {
  if (writer_ != nullptr) write(Kind::too_long, PathReport{now, address, mtu_bytes});
  const auto change = fep_->on_too_long(address, mtu_bytes, now);
  if (writer_ == nullptr) return;
  const uint64_t value =
      change.has_value() ? uint64_t{change->before} << 32 | uint64_t{change->after} : 0;
  returned(value, fep_->next_deadline());
}

}  // namespace uet::recording

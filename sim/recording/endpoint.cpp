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

Result<std::unique_ptr<fep::FabricEndpoint>> Endpoint::create(const fep::Config& config,
                                                              const FabricAddress& local,
                                                              uint64_t seed) {
  if (tape_.is_on()) {
    tape_.begin();
    tape_.write(Kind::create, Create{local, seed, settings_of(config)});
  }
  auto made = fep::FabricEndpoint::create(config, local, seed);
  if (made.ok()) {
    fep_ = made->get();
    peers_.stand_for(fep_->peers());
  }
  if (tape_.is_on()) {
    tape_.write(Kind::returned, Returned{made.ok() ? 0 : static_cast<uint32_t>(made.error()) + 1, 0,
                                         Instant::zero()});
  }
  return made;
}

std::unique_ptr<io::PacketIo> Endpoint::watch(std::unique_ptr<io::PacketIo> io) {
  if (!tape_.is_on()) return io;
  tape_.write(Kind::use_engine, UseEngine{});
  return std::make_unique<WatchedIo>(std::move(io), tape_);
}

void Endpoint::finish() {
  if (!tape_.is_on() || fep_ == nullptr) return;
  tape_.write(Kind::destroy, AtTime{});
  tape_.write(Kind::ended, end_of(*fep_, names_.memory().digest_of_all()));
}

Result<ses::EndpointId> Endpoint::open_endpoint(const ses::EndpointName& name,
                                                const ses::EndpointOptions& options,
                                                const ses::CompletionSink& tx,
                                                const ses::CompletionSink& rx) {
  if (!tape_.is_on()) return fep_->ses().open_endpoint(name, options, tx, rx);
  UET_ASSERT(options.jobs.empty());
  OpenEndpoint record{name,
                      options.mode,
                      options.tc,
                      options.tx_size,
                      options.rx_size,
                      0,
                      options.reject_truncated,
                      WatchedSinks::shape_of(tx),
                      WatchedSinks::shape_of(rx)};
  if (options.shared.value() != 0) record.shared = names_.number(options.shared) + 1;
  auto opened = tape_.recorded(Kind::open_endpoint, record, [&] {
    const ses::CompletionSink first = sinks_.watched(tx);
    return fep_->ses().open_endpoint(name, options, first, sinks_.watched(rx));
  });
  if (opened.ok()) names_.add(*opened);
  return opened;
}

Result<ses::ReceiveQueueId> Endpoint::open_shared(uint32_t rx_size) {
  if (!tape_.is_on()) return fep_->ses().open_shared(rx_size);
  auto opened = tape_.recorded(Kind::open_shared, OpenShared{rx_size},
                               [&] { return fep_->ses().open_shared(rx_size); });
  if (opened.ok()) names_.add(*opened);
  return opened;
}

void Endpoint::close_endpoint(ses::EndpointId id, Instant now) {
  if (!tape_.is_on()) return fep_->ses().close_endpoint(id, now);
  tape_.write(Kind::close_endpoint, CloseEndpoint{now, names_.number(id)});
  fep_->ses().close_endpoint(id, now);
  tape_.returned();
}

Result<uint64_t> Endpoint::add_region(const ses::RegionRequest& request) {
  const auto call = [&]() -> Result<uint64_t> {
    ses::MemoryRegions& regions = fep_->ses().memory();
    const ses::RegionId id = UET_TRY(regions.add(request));
    regions.enable(id);
    return regions.key(id);
  };
  if (!tape_.is_on()) return call();
  UET_ASSERT(request.jobs.empty() && !request.directed && request.base == 0);
  MemoryBook::News news;
  AddRegion record{names_.memory().to_be_written(request.iov, news),
                   request.access,
                   request.provider_key,
                   request.key,
                   request.idempotent_safe,
                   request.optimized,
                   request.job,
                   request.ri,
                   request.user};
  tape_.write(news);
  return tape_.recorded(Kind::add_region, record, call);
}

void Endpoint::close_all(bool abort, Instant now) {
  if (!tape_.is_on()) return fep_->close_all(abort, now);
  tape_.write(Kind::close_all, CloseAll{now, abort});
  fep_->close_all(abort, now);
  tape_.returned();
}

bool Endpoint::progress(fep::Engine& engine, Instant now) {
  if (!tape_.is_on()) return engine.progress(now);
  tape_.note_now(now);
  tape_.write(Kind::progress, AtTime{now});
  const bool moved = engine.progress(now);
  tape_.returned(
      (moved ? 1u : 0u) | (engine.is_blocked() ? 2u : 0u) | (engine.has_backlog() ? 4u : 0u),
      engine.next_deadline());
  return moved;
}

void Endpoint::receive(std::span<RxDatagram> datagrams, Instant now) {
  if (!tape_.is_on()) return fep_->receive(datagrams, now);
  Datagrams record{now, {}};
  for (const RxDatagram& d : datagrams) {
    record.all.push_back({d, Octets(d.bytes.begin(), d.bytes.end())});
  }
  tape_.write(Kind::datagrams, record);
  fep_->receive(datagrams, now);
  tape_.returned(0, fep_->next_deadline());
}

uint32_t Endpoint::transmit(TxBatch& batch, Instant now) {
  if (!tape_.is_on()) return fep_->transmit(batch, now);
  tape_.write(Kind::transmit, AtTime{now});
  const uint32_t count = fep_->transmit(batch, now);
  tape_.write(Kind::packets, packets_of(batch.packets()));
  tape_.returned(count, fep_->next_deadline());
  return count;
}

bool Endpoint::on_sent(TxBatch& batch, Instant now) {
  if (!tape_.is_on()) return fep_->on_sent(batch, now);
  tape_.write(Kind::on_sent, fates_of(batch.packets(), now));
  const bool is_too_long = fep_->on_sent(batch, now);
  tape_.returned(is_too_long ? 1 : 0);
  return is_too_long;
}

void Endpoint::advance(Instant now) {
  if (!tape_.is_on()) return fep_->advance(now);
  tape_.write(Kind::advance, AtTime{now});
  fep_->advance(now);
  tape_.returned(0, fep_->next_deadline());
}

void Endpoint::on_unreachable(const FabricAddress& address, Instant now) {
  if (!tape_.is_on()) return fep_->on_unreachable(address, now);
  tape_.write(Kind::unreachable, PathReport{now, address, 0});
  fep_->on_unreachable(address, now);
  tape_.returned(0, fep_->next_deadline());
}

void Endpoint::on_too_long(const FabricAddress& address, uint32_t mtu_bytes, Instant now) {
  if (tape_.is_on()) tape_.write(Kind::too_long, PathReport{now, address, mtu_bytes});
  const auto change = fep_->on_too_long(address, mtu_bytes, now);
  if (!tape_.is_on()) return;
  const uint64_t value =
      change.has_value() ? uint64_t{change->before} << 32 | uint64_t{change->after} : 0;
  tape_.returned(value, fep_->next_deadline());
}

}  // namespace uet::recording

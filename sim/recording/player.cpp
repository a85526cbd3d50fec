// The calls that set up, end and drive a FabricEndpoint, and what happens inside them.
#include "sim/recording/player.h"
#include "sim/recording/settings.h"

#include <algorithm>

namespace uet::recording {
namespace {

// The Engine's I/O: the script's datagrams, fates and errors.
class PlayedIo final : public io::PacketIo {
 public:
  explicit PlayedIo(Player& player) : player_(player) {}
  io::IoCaps caps() const override { return {}; }
  FabricAddress local_address() const override { return {}; }
  int wait_fd() const override { return -1; }
  void send(std::span<TxPacket> packets) override { player_.leave(packets); }
  std::span<RxDatagram> receive() override { return player_.arrive(); }
  std::span<const io::PathError> path_errors() override { return player_.path_errors(); }
  uint32_t route_mtu(const FabricAddress& to) override { return player_.route_mtu(to); }

 private:
  Player& player_;
};

uint32_t op_number(const void* op) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(op));
}

}  // namespace

bool Player::is_time(Instant at) {
  constexpr Instant kLast = Instant::from_ns(int64_t{1} << 61);
  if (at < last_ || at > kLast) {
    script_.fail("its time goes back, or is none");
    return false;
  }
  last_ = at;
  script_.call_is_at(at);
  return true;
}

bool Player::is_there(bool found, const char* what) {
  if (!found) script_.fail(std::string("it names ") + what + " that there is not");
  return found;
}

void Player::play(const Record& record) {
  ++outcome_.calls;
  script_.call_is_at(last_);
  if (record.kind != Kind::create && fep_ == nullptr) {
    return script_.fail("a call of an endpoint that there is not");
  }
  if (record.kind <= Kind::add_region) {
    play_set_up(record);
  } else if (record.kind <= Kind::cancel) {
    play_post(record);
  } else if (record.kind <= Kind::progress) {
    play_progress(record);
  } else if (record.kind == Kind::destroy) {
    play_destroy();
  } else if (record.kind < Kind::destroy) {
    play_direct(record);
  } else {
    script_.fail("something happens outside of any call");
  }
}

void Player::play_set_up(const Record& record) {
  switch (record.kind) {
    case Kind::create:
      return take_and_play<Create>(record);
    case Kind::use_engine:
      if (!is_there(owned_ != nullptr, "an endpoint")) return;
      engine_ = std::make_unique<fep::Engine>(std::move(owned_), std::make_unique<PlayedIo>(*this));
      return;
    case Kind::block:
      if (Block block; take(record, block)) refuse(memory_.add(block));
      return;
    case Kind::content:
      if (Content content; take(record, content)) refuse(memory_.write(content));
      return;
    case Kind::open_shared:
      if (OpenShared call; take(record, call)) play_open_shared(call.rx_size);
      return;
    case Kind::open_endpoint:
      return take_and_play<OpenEndpoint>(record);
    case Kind::close_endpoint:
      return take_and_play<CloseEndpoint>(record);
    case Kind::find_peer:
      return take_and_play<FindPeer>(record);
    case Kind::keep_peer:
      return take_and_play<KeepPeer>(record);
    case Kind::add_region:
      return take_and_play<AddRegion>(record);
    default:
      return script_.fail("broken");
  }
}

void Player::play(const Create& call) {
  if (fep_ != nullptr) return script_.fail("an endpoint is made twice");
  fep::Config config;
  if (const std::string problem = take_settings(call.settings, config); !problem.empty()) {
    return script_.fail(problem);
  }
  ++outcome_.endpoints;
  auto made = fep::FabricEndpoint::create(config, call.address, call.seed);
  if (!made.ok()) {
    return said(Kind::returned,
                Returned{static_cast<uint32_t>(made.error()) + 1, 0, Instant::zero()});
  }
  owned_ = std::move(*made);
  fep_ = owned_.get();
  returned();
}

ses::CompletionSink Player::sink_of(const Sink& shape) {
  PlayedSink& played = sinks_.emplace_back();
  played.player = this;
  played.number = static_cast<uint32_t>(sinks_.size() - 1);
  ses::CompletionSink sink;
  sink.owner = &played;
  sink.complete = on_complete;
  if (shape.reserves) sink.reserve = on_reserve;
  if (shape.releases) sink.release = on_release;
  sink.carries_data = shape.carries_data;
  sink.all_remote = shape.all_remote;
  return sink;
}

void Player::on_complete(void* owner, const ses::Completion& c) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  Player& p = *sink.player;
  Completed out = completed(sink.number, c);
  out.context = {op_number(c.context.op), c.context.user};
  const auto post = p.posts_.find(out.context);
  if (post != p.posts_.end()) {
    const auto at =
        c.buffer == nullptr ? std::nullopt : p.memory_.offset_of(post->second, c.buffer);
    out.buffer = at ? *at + 1 : 0;
    out.digest = p.memory_.digest_of(post->second, at.value_or(0), c.bytes);
  }
  p.said(Kind::completed, out);
  if (!p.script_.is_over()) ++p.outcome_.completions;
}

bool Player::on_reserve(void* owner) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  Script& script = sink.player->script_;
  const Record* const record = script.peek(sink.player->number_, Kind::reserved);
  Reserved recorded;
  if (record != nullptr && decode(record->body, recorded) && recorded.sink != sink.number) {
    sink.player->said(Kind::reserved, Reserved{sink.number, recorded.answer});
    return false;
  }
  return script.asked(sink.player->number_, Kind::reserved, recorded) && recorded.answer;
}

void Player::on_release(void* owner) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  sink.player->said(Kind::released, Released{sink.number});
}

void Player::said_packets(std::span<const TxPacket> packets) {
  said(Kind::packets, packets_of(packets));
  if (!script_.is_over()) outcome_.packets += packets.size();
}

void Player::leave(std::span<TxPacket> packets) {
  said_packets(packets);
  Fates fates;
  script_.asked(number_, Kind::fates, fates);
  if (set_fates(fates, packets)) return;
  script_.fail("it has fates of other packets");
  set_fates(Fates{}, packets);
}

std::span<RxDatagram> Player::lend(Datagrams& datagrams) {
  lent_.clear();
  for (Datagrams::Datagram& d : datagrams.all) {
    d.about.bytes = d.octets;
    lent_.push_back(d.about);
  }
  return lent_;
}

std::span<RxDatagram> Player::arrive() {
  script_.asked(number_, Kind::datagrams, arrived_);
  return lend(arrived_);
}

std::span<const io::PathError> Player::path_errors() {
  PathErrors recorded;
  script_.asked(number_, Kind::path_errors, recorded);
  errors_.clear();
  for (const PathErrors::Error& e : recorded.all) {
    errors_.push_back({e.to, static_cast<int>(e.error)});
  }
  return errors_;
}

uint32_t Player::route_mtu(const FabricAddress& to) {
  RouteMtu recorded;
  const Record* const record = script_.peek(number_, Kind::route_mtu);
  if (record != nullptr && decode(record->body, recorded) && recorded.to != to) {
    said(Kind::route_mtu, RouteMtu{to, recorded.mtu_bytes});
    return 0;
  }
  script_.asked(number_, Kind::route_mtu, recorded);
  return recorded.mtu_bytes;
}

void Player::play_progress(const Record& record) {
  if (record.kind == Kind::close_all) {
    CloseAll call;
    if (!take(record, call) || !is_time(call.at)) return;
    fep_->close_all(call.abort, call.at);
    return returned();
  }
  AtTime call;
  if (!take(record, call) || !is_time(call.at)) return;
  if (!is_there(engine_ != nullptr, "an engine")) return;
  const bool moved = engine_->progress(call.at);
  returned(
      (moved ? 1u : 0u) | (engine_->is_blocked() ? 2u : 0u) | (engine_->has_backlog() ? 4u : 0u),
      engine_->next_deadline());
}

void Player::play_direct(const Record& record) {
  if (!is_there(engine_ == nullptr, "an endpoint without an engine")) return;
  AtTime call;
  PathReport report;
  switch (record.kind) {
    case Kind::datagrams:
      if (take(record, arrived_)) play_datagrams(arrived_);
      return;
    case Kind::transmit: {
      if (!take(record, call) || !is_time(call.at)) return;
      const uint32_t count = fep_->transmit(batch_, call.at);
      said_packets(batch_.packets());
      return returned(count, fep_->next_deadline());
    }
    case Kind::on_sent:
      if (Fates fates; take(record, fates)) play_on_sent(fates);
      return;
    case Kind::advance:
      if (!take(record, call) || !is_time(call.at)) return;
      fep_->advance(call.at);
      return returned(0, fep_->next_deadline());
    case Kind::unreachable:
      if (!take(record, report) || !is_time(report.at)) return;
      fep_->on_unreachable(report.address, report.at);
      return returned(0, fep_->next_deadline());
    case Kind::too_long: {
      if (!take(record, report) || !is_time(report.at)) return;
      const auto change = fep_->on_too_long(report.address, report.mtu_bytes, report.at);
      const uint64_t value =
          change.has_value() ? uint64_t{change->before} << 32 | uint64_t{change->after} : 0;
      return returned(value, fep_->next_deadline());
    }
    default:
      return script_.fail("broken");
  }
}

void Player::play_datagrams(Datagrams& call) {
  if (!is_time(call.at)) return;
  fep_->receive(lend(call), call.at);
  returned(0, fep_->next_deadline());
}

void Player::play_on_sent(const Fates& fates) {
  if (!is_time(fates.at)) return;
  if (!set_fates(fates, batch_.packets())) return script_.fail("it has fates of other packets");
  const bool is_too_long = fep_->on_sent(batch_, fates.at);
  batch_.compact();
  returned(is_too_long ? 1 : 0);
}

// A counter that one of the two stacks does not have is not compared.
void Player::play_destroy() {
  Ended now;
  const Record* const record = script_.peek(number_, Kind::ended);
  if (record != nullptr && !decode(record->body, now)) return script_.fail("broken");
  now.memory_digest = memory_.digest_of_all();
  fep_->for_each_counter([&](const char* name, uint64_t value) {
    const auto same = std::ranges::find(now.counters, name, &Ended::Counter::name);
    if (same != now.counters.end()) same->value = value;
  });
  said(Kind::ended, now);
  engine_.reset();
  owned_.reset();
  fep_ = nullptr;
}

}  // namespace uet::recording

// The calls that set up, end and drive a FabricEndpoint, and what happens inside them.
#include "sim/recording/player.h"
#include "sim/recording/settings.h"

#include <algorithm>

namespace uet::recording {

bool Player::is_time(Instant at) {
  constexpr Instant kLast = Instant::from_ns(int64_t{1} << 61);
  if (at < last_ || at > kLast) {
    script_.fail("its time goes back, or is invalid");
    return false;
  }
  last_ = at;
  script_.call_is_at(at);
  return true;
}

void Player::play(const Record& record) {
  ++outcome_.calls;
  script_.call_is_at(last_);
  if (record.kind != Kind::create && fep_ == nullptr) {
    return script_.fail("a call of an endpoint that does not exist");
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
      if (!objects_.is_there(owned_ != nullptr, "an endpoint")) return;
      engine_ = std::make_unique<fep::Engine>(std::move(owned_), answers_.io());
      return;
    case Kind::block:
      if (Block block; take(record, block)) refuse(objects_.memory().add(block));
      return;
    case Kind::content:
      if (Content content; take(record, content)) refuse(objects_.memory().write(content));
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
    return answers_.said(Kind::returned,
                         Returned{static_cast<uint32_t>(made.error()) + 1, 0, Instant::zero()});
  }
  owned_ = std::move(*made);
  fep_ = owned_.get();
  returned();
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
  if (!objects_.is_there(engine_ != nullptr, "an engine")) return;
  const bool moved = engine_->progress(call.at);
  returned(
      (moved ? 1u : 0u) | (engine_->is_blocked() ? 2u : 0u) | (engine_->has_backlog() ? 4u : 0u),
      engine_->next_deadline());
}

void Player::play_direct(const Record& record) {
  if (!objects_.is_there(engine_ == nullptr, "an endpoint without an engine")) return;
  AtTime call;
  PathReport report;
  switch (record.kind) {
    case Kind::datagrams:
      if (Datagrams datagrams; take(record, datagrams)) play_datagrams(datagrams);
      return;
    case Kind::transmit: {
      if (!take(record, call) || !is_time(call.at)) return;
      const uint32_t count = fep_->transmit(batch_, call.at);
      answers_.said_packets(batch_.packets());
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
  fep_->receive(answers_.lend(call), call.at);
  returned(0, fep_->next_deadline());
}

void Player::play_on_sent(const Fates& fates) {
  if (!is_time(fates.at)) return;
  if (!set_fates(fates, batch_.packets())) return script_.fail("it has fates of other packets");
  const bool is_too_long = fep_->on_sent(batch_, fates.at);
  batch_.compact();
  returned(is_too_long ? 1 : 0);
}

// A counter that only one of the two stacks has is not compared.
void Player::play_destroy() {
  Ended now;
  const Record* const record = script_.peek(number_, Kind::ended);
  if (record != nullptr && !decode(record->body, now)) return script_.fail("broken");
  now.memory_digest = objects_.memory().digest_of_all();
  fep_->for_each_counter([&](const char* name, uint64_t value) {
    const auto same = std::ranges::find(now.counters, name, &Ended::Counter::name);
    if (same != now.counters.end()) same->value = value;
  });
  answers_.said(Kind::ended, now);
  engine_.reset();
  owned_.reset();
  fep_ = nullptr;
}

}  // namespace uet::recording

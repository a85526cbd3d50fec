// Chooses operations, posts them, and judges how they end.
#include "tools/stress/outbox.h"

#include "tools/stress/access.h"
#include "tools/stress/sending.h"

#include <algorithm>

namespace uet::stress {
namespace {

constexpr size_t kOctetsMax = 16 << 20;  // outstanding, of one process

}  // namespace

void Operation::on_done(const Outcome& outcome) { outbox->on_done(*this, outcome); }

Outbox::Outbox(const Options& options, Node& node, const Link& link, Tally& tally, uint32_t slot,
               uint32_t incarnation)
    : options_(options),
      node_(node),
      link_(link),
      tally_(tally),
      slot_(slot),
      incarnation_(incarnation) {}

Outbox::~Outbox() {
  for (Operation* operation : outstanding_) delete operation;
}

bool Outbox::is_wanted(const char* kind) const {
  const std::vector<std::string>& only = options_.only;
  return only.empty() || std::find(only.begin(), only.end(), kind) != only.end();
}

std::unique_ptr<Operation> Outbox::choose(const PeerRef& peer, Rng& rng) const {
  const uint64_t kind = rng.below(100);
  if (kind < 25 && is_wanted("send")) {
    return Sending::make(options_, node_, peer, slot_, incarnation_, kPlain, rng);
  }
  if (kind < 60 && is_wanted("tagged")) {
    const auto stream = static_cast<uint32_t>(1 + rng.below(kTagClasses));
    return Sending::make(options_, node_, peer, slot_, incarnation_, stream, rng);
  }
  if (!peer->is_learnt) return nullptr;
  if (kind < 75 && is_wanted("write")) {
    return Writing::make(options_, node_, peer, slot_, incarnation_, rng);
  }
  if (kind < 90 && is_wanted("read")) return Reading::make(options_, node_, peer, rng);
  if (is_wanted("atomic") && node_.offers(FI_ATOMIC)) return Adding::make(node_, peer, rng);
  return nullptr;
}

bool Outbox::step(const std::vector<PeerRef>& peers, Rng& rng) {
  if (!waiting_.empty()) return post_first();
  if (outstanding_.size() >= options_.window || octets_ >= kOctetsMax) return false;
  std::vector<PeerRef> open;
  for (const PeerRef& peer : peers) {
    if (peer->is_target && !peer->is_suspect) open.push_back(peer);
  }
  if (open.empty()) return false;
  auto operation = choose(open[rng.below(open.size())], rng);
  if (!operation) return false;
  waiting_.push_back(std::move(operation));
  return post_first();
}

void Outbox::finish_begun() {
  while (!waiting_.empty() && post_first()) {
  }
}

void Outbox::read_back(const std::vector<PeerRef>& peers) {
  if (!is_wanted("read") && !is_wanted("write")) return;
  for (const PeerRef& peer : peers) {
    if (peer->is_target && !peer->is_suspect && peer->is_learnt) {
      waiting_.push_back(Reading::whole_area(peer));
    }
  }
}

void Outbox::learn(const PeerRef& peer) { waiting_.push_back(Reading::learning(peer)); }

bool Outbox::post_first() {
  std::unique_ptr<Operation>& operation = waiting_.front();
  operation->outbox = this;
  if (operation->peer->is_suspect) {
    operation->give_up();
    waiting_.pop_front();
    return true;
  }
  const ssize_t code = operation->post(node_.ep());
  if (code == -FI_EAGAIN) {
    ++at(tally_, Count::again);
    if (!operation->is_reported &&
        Clock::now() - operation->begun > std::chrono::seconds(options_.patience_s)) {
      operation->is_reported = true;
      link_.defect(operation->text() + " gets FI_EAGAIN for longer than --patience");
    }
    return false;
  }
  if (code != 0) {
    const int err = static_cast<int>(-code);
    fail(*operation, err, std::string("refused: ") + fi_strerror(err));
    waiting_.pop_front();
    return true;
  }
  operation->on_accepted();
  ++at(tally_, operation->kind);
  at(tally_, Count::octets_out) += operation->bytes();
  if (operation->has_completion()) {
    octets_ += operation->bytes();
    outstanding_.insert(operation.get());
    (void)operation.release();
  }
  waiting_.pop_front();
  return true;
}

void Outbox::fail(Operation& operation, int code, const std::string& text) {
  ++at(tally_, Count::failed);
  operation.peer->is_suspect = true;
  operation.give_up();
  link_.tell("failed " + std::to_string(operation.peer->slot) + " " +
             std::to_string(operation.peer->incarnation) + " " + std::to_string(code) + " " +
             operation.text() + ": " + text);
}

void Outbox::on_done(Operation& operation, const Outcome& outcome) {
  if (outstanding_.erase(&operation) == 0) {
    link_.defect("a completion has the context of no operation that is outstanding");
    return;
  }
  const std::unique_ptr<Operation> owned(&operation);
  octets_ -= operation.bytes();
  if (outcome.err != 0) {
    fail(operation, outcome.err, outcome.text);
    return;
  }
  std::string defect;
  std::unique_ptr<Operation> next = operation.finish(defect);
  if (!defect.empty()) link_.defect(operation.text() + ": " + defect);
  if (next) waiting_.push_back(std::move(next));
}

void Outbox::report_slow(Clock::time_point now) {
  for (Operation* operation : outstanding_) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - operation->begun);
    if (operation->is_reported || age.count() < options_.patience_s) continue;
    operation->is_reported = true;
    link_.defect(operation->text() + " has not ended for " + std::to_string(age.count()) + " s");
  }
}

}  // namespace uet::stress

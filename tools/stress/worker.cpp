// The main loop of one process.
#include "tools/stress/worker.h"

#include <cstdlib>

namespace uet::stress {
namespace {

constexpr uint32_t kBurst = 8;  // operations begun before the queues are looked at

std::vector<uint8_t> fresh_region(const Options& options, uint32_t slot, uint32_t incarnation) {
  const Layout layout = Layout::of(options);
  const uint32_t areas = options.processes * kAreasPerWriter;
  std::vector<uint8_t> region(layout.area_bytes * areas);
  for (uint32_t area = 0; area < areas; ++area) {
    Layout::first_content(options.seed, slot, incarnation, area)
        .fill(std::span(region).subspan(area * layout.area_bytes, layout.data_bytes));
  }
  return region;
}

}  // namespace

Worker::Worker(const Options& options, const Link& link, uint32_t slot, uint32_t incarnation)
    : options_(options),
      link_(link),
      self_{slot, incarnation, Traits::of(options, slot, incarnation), Layout::of(options)},
      rng_(mix(options.seed + 1) ^ (uint64_t{slot} << 32 | incarnation)),
      region_(fresh_region(options, slot, incarnation)),
      node_(options, self_.traits, slot, incarnation, region_),
      inbox_(options, self_.traits, node_, link, tally_, slot, incarnation),
      outbox_(options, node_, link, tally_, slot, incarnation) {
  node_.set_orphans([this](const Outcome& outcome) { on_orphan(outcome); });
}

int Worker::run() {
  inbox_.replenish(nullptr, rng_);
  link_.tell("hello " + to_hex(node_.name()) + " " + std::to_string(node_.region_key()) + " " +
             std::to_string(node_.region_base()) + " " + node_.provider() +
             (node_.offers(FI_ATOMIC) ? "" : " without atomics"));
  try {
    while (progress_.phase != Phase::closing) turn();
    if (!progress_.leaves) close();
  } catch (const FabricError& error) {
    // Said at once, and nothing is taken down: operations still use these buffers.
    link_.defect(error.what);
    std::_Exit(1);
  }
  return 0;
}

void Worker::turn() {
  while (const auto line = link_.hear()) {
    if (line->empty()) std::_Exit(1);  // the director is gone
    obey(*line);
    if (progress_.phase == Phase::closing) return;
  }
  const size_t done = node_.poll();
  const auto now = Clock::now();
  if (now >= withhold_until_) {
    inbox_.replenish(peers_.any(rng_), rng_);
  }
  bool began = false;
  if (progress_.phase == Phase::running) {
    for (uint32_t i = 0; i < kBurst && outbox_.step(peers_.current(), rng_); ++i) began = true;
    be_slow();
  } else {
    outbox_.finish_begun();
    advance();
  }
  peers_.sweep(node_);
  if (now - second_ >= std::chrono::seconds(1)) every_second();
  if (done == 0 && !began && progress_.phase != Phase::closing) node_.wait(link_.fd(), 5);
}

void Worker::obey(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "peer") {
    meet(words);
  } else if (verb == "end") {
    progress_.phase = Phase::ending;
    withhold_until_ = {};
  } else if (verb == "expect") {
    uint32_t from = 0, incarnation = 0, stream = 0, count = 0, excused = 0;
    words >> from >> incarnation >> stream >> count >> excused;
    inbox_.ledger().expect(from, incarnation, stream, count, excused);
  } else if (verb == "compare") {
    progress_.phase = Phase::comparing;
    progress_.compare_until = Clock::now() + std::chrono::seconds(options_.patience_s);
  } else if (verb == "close") {
    progress_.phase = Phase::closing;
  } else if (verb == "leave") {  // in the middle of everything, closing all objects
    progress_.leaves = true;
    progress_.phase = Phase::closing;
    node_.close();
  } else if (verb == "exit") {  // the same, closing none
    std::exit(0);
  }
}

void Worker::meet(std::istringstream& words) {
  uint32_t slot = 0, incarnation = 0;
  std::string name;
  uint64_t key = 0, base = 0;
  words >> slot >> incarnation >> name >> key >> base;
  retire(slot);
  auto peer = std::make_shared<Peer>(node_, slot, incarnation, from_hex(name));
  peer->key = key;
  const uint32_t area = Layout::area_of(self_.slot, self_.incarnation);
  peer->base = base + area * self_.layout.area_bytes;
  const uint32_t distance = (slot + options_.processes - self_.slot) % options_.processes;
  peer->is_target = distance <= options_.peers;
  if (peer->is_target) {
    peer->bytes.resize(self_.layout.data_bytes);
    Layout::first_content(options_.seed, slot, incarnation, area).fill(peer->bytes);
    peer->is_busy.resize(self_.layout.data_bytes / kLockBytes);
    // An earlier life of this process may have written there, long ago.
    peer->is_learnt = self_.incarnation <= kAreasPerWriter;
    if (!peer->is_learnt) outbox_.learn(peer);
  }
  inbox_.learn(*peer);
  peers_.add(std::move(peer));
}

void Worker::retire(uint32_t slot) {
  if (const PeerRef gone = peers_.retire(slot)) inbox_.forget(*gone);
}

void Worker::be_slow() {
  if (options_.slow_max_ms == 0 || !rng_.one_in(4000)) return;
  const std::chrono::milliseconds span(rng_.below(options_.slow_max_ms) + 1);
  if (rng_.one_in(2)) {
    std::this_thread::sleep_for(span);  // no call of libfabric
  } else {
    withhold_until_ = Clock::now() + span;  // no new receives
  }
}

// The next step when the work of a phase is done.
void Worker::advance() {
  if (progress_.phase == Phase::ending && outbox_.is_idle()) {
    progress_.phase = Phase::reading;
    outbox_.read_back(peers_.current());
  } else if (progress_.phase == Phase::reading && outbox_.is_idle()) {
    progress_.phase = Phase::comparing_done;
    tell_sent();
  } else if (progress_.phase == Phase::comparing &&
             (inbox_.ledger().has_all() || Clock::now() > progress_.compare_until)) {
    if (!inbox_.ledger().has_all()) link_.defect("messages were lost" + inbox_.ledger().missing());
    progress_.phase = Phase::comparing_done;
    link_.tell("counts" + counts());
    link_.tell("compared");
  }
}

void Worker::tell_sent() {
  for (const PeerRef& peer : peers_.current()) {
    if (!peer->is_target || peer->is_suspect) continue;
    for (uint32_t stream = 0; stream < kStreams; ++stream) {
      link_.tell("sent " + std::to_string(peer->slot) + " " + std::to_string(peer->incarnation) +
                 " " + std::to_string(stream) + " " + std::to_string(peer->next_seq[stream]));
    }
  }
  link_.tell("idle");
}

std::string Worker::counts() const {
  std::string text;
  for (const uint64_t count : tally_) text += " " + std::to_string(count);
  return text;
}

void Worker::every_second() {
  second_ = Clock::now();
  outbox_.report_slow(second_);
  link_.tell("counts" + counts());
}

void Worker::on_orphan(const Outcome& outcome) {
  if (outcome.err != 0) {
    link_.tell("orphan " + outcome.text);
    return;
  }
  inbox_.on_written(outcome);
}

void Worker::close() {
  inbox_.cancel_all();
  const auto until = Clock::now() + std::chrono::seconds(options_.patience_s);
  while (!inbox_.is_empty() && Clock::now() < until) {
    if (node_.poll() == 0) node_.wait(link_.fd(), 5);
  }
  if (!inbox_.is_empty()) {
    link_.defect(std::to_string(inbox_.posted()) + " receives neither end nor can be cancelled");
  }
  peers_.clear();
  node_.close();
  link_.tell("counts" + counts());
  link_.tell("closed");
}

}  // namespace uet::stress

// Windows: what PDS keeps of packets that were sent and of those that have arrived, with 64, 512
// and 2,048 PSNs between the oldest and the newest. One iteration is one packet.
#include "pds/rx/rx_window.h"
#include "pds/tx/tx_window.h"

#include "base/arena.h"
#include "base/assert.h"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace uet::pds {
namespace {

constexpr Psn kFirst{0xFFFF'FF00};  // the PSNs wrap soon
constexpr uint32_t kLate = 8;       // of this number of packets one comes late

// A send window with a number of packets outstanding.
class Sender {
 public:
  explicit Sender(uint32_t packets) {
    pool_.create(arena_, 1);
    window_.start(kFirst);
    for (uint32_t i = 0; i < packets; ++i) send();
  }
  void send() {
    now_ = now_ + Duration::nanoseconds(200);
    UET_ASSERT(window_.reserve(pool_));
    const Psn psn = window_.next();
    TxSlot& slot = window_.push();
    slot.ev = Entropy(static_cast<uint16_t>(psn.value() / 16));  // a burst has one
    slot.note_sent(now_);
    slot.state.send();
    window_.note_first_sent(psn);
  }
  // An answer, unless it came before.
  void answer(Psn psn) {
    if (window_.find(psn) != nullptr) window_.complete(psn);
  }
  Psn base() const { return window_.base(); }
  Psn next() const { return window_.next(); }

 private:
  Arena arena_;
  TxPool pool_;
  TxWindow window_;
  Instant now_ = Instant::from_ns(1'000'000'000);
};

// The oldest packet is answered, and one is sent.
void tx_in_order(benchmark::State& state) {
  Sender sender(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    sender.answer(sender.base());
    sender.send();
  }
}

// One packet in eight is answered when the window is as long as it gets, the others when they are
// half as old.
void tx_gaps(benchmark::State& state) {
  const auto packets = static_cast<uint32_t>(state.range(0));
  Sender sender(packets);
  const auto answer = [&](uint32_t age, bool late) {
    const Psn psn = sender.next() - age;
    if ((psn.value() % kLate == 0) == late) sender.answer(psn);
  };
  const auto step = [&] {
    answer(packets, true);
    answer(packets / 2, false);
  };
  for (uint32_t age = packets; age > packets / 2; --age) answer(age, false);
  for (auto _ : state) {
    step();
    sender.send();
  }
}

// A receive window and its memory.
class Receiver {
 public:
  explicit Receiver(uint32_t range) {
    pool_.create(arena_, 1, RxWindow::block_bytes(range));
    window_.start(kFirst, range);
  }
  void receive(Psn psn) {
    const Arrival arrival = window_.classify(psn);
    UET_ASSERT(arrival == Arrival::fresh && window_.may_accept(pool_));
    window_.accept(pool_, psn, false);
  }

 private:
  Arena arena_;
  BlockPool pool_;
  RxWindow window_;
};

void rx_in_order(benchmark::State& state) {
  Receiver receiver(static_cast<uint32_t>(state.range(0)));
  Psn psn = kFirst;
  for (auto _ : state) {
    receiver.receive(psn);
    ++psn;
  }
}

// One packet in eight arrives so late that the window is nearly full.
void rx_gaps(benchmark::State& state) {
  const auto range = static_cast<uint32_t>(state.range(0));
  Receiver receiver(range);
  const uint32_t delay = range - kLate;
  Psn psn = kFirst;
  for (; psn != kFirst + delay; ++psn) {
    if (psn.value() % kLate != 0) receiver.receive(psn);
  }
  for (auto _ : state) {
    receiver.receive(psn.value() % kLate == 0 ? psn - delay : psn);
    ++psn;
  }
}

#define UET_WINDOW(function, name) \
  BENCHMARK(function)->Name("windows/" name)->Arg(64)->Arg(512)->Arg(2048)

UET_WINDOW(tx_in_order, "tx/in_order");
UET_WINDOW(tx_gaps, "tx/gaps");
UET_WINDOW(rx_in_order, "rx/in_order");
UET_WINDOW(rx_gaps, "rx/gaps");

}  // namespace
}  // namespace uet::pds

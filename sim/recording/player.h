// One FabricEndpoint of a replay: makes the calls of the recording and reports their results.
// PlayedAnswers handles the events inside them. Private to replay.cpp and player*.cpp.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/played_answers.h"
#include "sim/recording/played_objects.h"
#include "sim/recording/replay.h"

#include "fep/engine.h"

#include <cstdint>
#include <memory>
#include <string>

namespace uet::recording {

class Player {
 public:
  Player(uint32_t number, Script& script, Outcome& outcome)
      : number_(number),
        script_(script),
        outcome_(outcome),
        objects_(script),
        answers_(number, script, outcome, objects_) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // Makes the call of a record.
  void play(const Record& record);

 private:
  // Reads the body of the call's record. False: it is broken, and the script is over.
  template <class Body>
  bool take(const Record& record, Body& body) {
    if (decode(record.body, body)) return true;
    script_.fail("broken");
    return false;
  }
  template <class Body>
  void take_and_play(const Record& record) {
    Body body;
    if (take(record, body)) play(body);
  }
  // Ends the script where there is a problem.
  void refuse(const std::string& problem) {
    if (!problem.empty()) script_.fail(problem);
  }
  // The time of the call. False: it goes back, or is missing.
  bool is_time(Instant at);
  void returned(uint64_t value = 0, Instant deadline = Instant::zero()) {
    script_.returned(number_, {0, value, deadline});
  }
  template <class T>
  void returned(const Result<T>& result) {
    script_.returned(number_, returned_of(result));
  }

  void play_set_up(const Record& record);
  void play_post(const Record& record);
  void play_progress(const Record& record);
  void play_direct(const Record& record);
  void play(const Create& call);
  void play(const OpenEndpoint& call);
  void play(const CloseEndpoint& call);
  void play(const FindPeer& call);
  void play(const KeepPeer& call);
  void play(const AddRegion& call);
  void play(const Send& call);
  void play(const Rma& call);
  void play(const Atomic& call);
  void play(const Receive& call);
  void play(const Cancel& call);
  void play_open_shared(uint32_t rx_size);
  void play_destroy();
  void play_on_sent(const Fates& fates);
  void play_datagrams(Datagrams& call);

  void after_post(const Result<ses::Taken>& taken, const Pieces& memory, uint32_t flags);

  const uint32_t number_;
  Script& script_;
  Outcome& outcome_;
  PlayedObjects objects_;  // with the memory that the stack refers to, which it outlives
  PlayedAnswers answers_;
  TxBatch batch_;  // without an Engine
  Instant last_;
  fep::FabricEndpoint* fep_ = nullptr;
  std::unique_ptr<fep::FabricEndpoint> owned_;  // until there is an Engine
  std::unique_ptr<fep::Engine> engine_;
};

}  // namespace uet::recording

// One FabricEndpoint of a replay: makes the calls of the recording, answers what it asks for inside
// them, and hands what it gives to the script. Private to replay.cpp and player*.cpp.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/memory_image.h"
#include "sim/recording/replay.h"

#include "fep/engine.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace uet::recording {

class Player {
 public:
  Player(uint32_t number, Script& script, Outcome& outcome)
      : number_(number), script_(script), outcome_(outcome) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // Makes the call of a record.
  void play(const Record& record);

  // For the Engine's I/O.
  void leave(std::span<TxPacket> packets);
  std::span<RxDatagram> arrive();
  std::span<const io::PathError> path_errors();
  uint32_t route_mtu(const FabricAddress& to);

 private:
  struct PlayedSink {
    Player* player = nullptr;
    uint32_t number = 0;
  };
  struct Opened {
    ses::EndpointId id;
    bool is_open = false;
  };
  static void on_complete(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);
  static void on_release(void* owner);
  ses::CompletionSink sink_of(const Sink& shape);

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
  // The time of the call. False: it goes back, or is none.
  bool is_time(Instant at);
  bool is_there(bool found, const char* what);
  template <class Body>
  void said(Kind kind, const Body& body) {
    script_.said(number_, kind, body);
  }
  void returned(uint64_t value = 0, Instant deadline = Instant::zero()) {
    script_.returned(number_, {0, value, deadline});
  }
  template <class T>
  void returned(const Result<T>& result) {
    script_.returned(number_, returned_of(result));
  }
  void said_packets(std::span<const TxPacket> packets);

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
  std::span<RxDatagram> lend(Datagrams& datagrams);

  bool find(const Remote& to, ses::Destination& out);
  bool find(uint32_t endpoint, ses::EndpointId& out);
  bool find(const Pieces& pieces, std::vector<IoSlice>& out);
  bool find(const Queue& queue, ses::EndpointId& endpoint, ses::ReceiveQueueId& shared);
  ses::OpContext context_of(const Context& context, const Pieces& memory);
  void after_post(const Result<ses::Taken>& taken, const Pieces& memory, uint32_t flags);

  const uint32_t number_;
  Script& script_;
  Outcome& outcome_;
  MemoryImage memory_;  // outlives the stack, which refers to it
  std::deque<PlayedSink> sinks_;
  std::vector<Opened> endpoints_;
  std::vector<ses::ReceiveQueueId> shared_;
  std::vector<PeerId> peers_;
  std::map<Context, Pieces> posts_;
  Datagrams arrived_;
  std::vector<RxDatagram> lent_;
  std::vector<io::PathError> errors_;
  TxBatch batch_;  // without an Engine
  Instant last_;
  fep::FabricEndpoint* fep_ = nullptr;
  std::unique_ptr<fep::FabricEndpoint> owned_;  // until there is an Engine
  std::unique_ptr<fep::Engine> engine_;
};

}  // namespace uet::recording

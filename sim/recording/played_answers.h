// Events inside the calls of a replay: passes outputs of the FabricEndpoint to the script, and
// answers its questions from the recording.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/played_objects.h"
#include "sim/recording/replay.h"

#include "io/packet_io.h"
#include "ses/types.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace uet::recording {

class PlayedAnswers {
 public:
  // `number`: of the FabricEndpoint. All outlive this.
  PlayedAnswers(uint32_t number, Script& script, Outcome& outcome, const PlayedObjects& objects)
      : number_(number), script_(script), outcome_(outcome), objects_(objects) {}
  PlayedAnswers(const PlayedAnswers&) = delete;
  PlayedAnswers& operator=(const PlayedAnswers&) = delete;

  template <class Body>
  void said(Kind kind, const Body& body) {
    script_.said(number_, kind, body);
  }
  void said_packets(std::span<const TxPacket> packets);
  // The datagrams to hand over; lent until the next call.
  std::span<RxDatagram> lend(Datagrams& datagrams);
  // Where an endpoint that is opened reports.
  ses::CompletionSink sink_of(const Sink& shape);
  // For an Engine.
  std::unique_ptr<io::PacketIo> io();

 private:
  friend class PlayedIo;
  struct PlayedSink {
    PlayedAnswers* answers = nullptr;
    uint32_t number = 0;
  };
  void leave(std::span<TxPacket> packets);
  std::span<RxDatagram> arrive();
  std::span<const io::PathError> path_errors();
  uint32_t route_mtu(const FabricAddress& to);
  static void on_complete(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);
  static void on_release(void* owner);

  const uint32_t number_;
  Script& script_;
  Outcome& outcome_;
  const PlayedObjects& objects_;
  std::deque<PlayedSink> sinks_;
  Datagrams arrived_;
  std::vector<RxDatagram> lent_;
  std::vector<io::PathError> errors_;
};

}  // namespace uet::recording

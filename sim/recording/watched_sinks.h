// Where endpoints that are recorded report: what passes is written down and handed on.
#pragma once

#include "sim/recording/calls.h"
#include "sim/recording/recorded_names.h"
#include "sim/recording/tape.h"

#include "ses/types.h"

#include <cstdint>
#include <deque>

namespace uet::recording {

class WatchedSinks {
 public:
  // Both outlive this.
  WatchedSinks(Tape& tape, RecordedNames& names) : tape_(tape), names_(names) {}
  WatchedSinks(const WatchedSinks&) = delete;
  WatchedSinks& operator=(const WatchedSinks&) = delete;

  // The wrapper of `sink`.
  ses::CompletionSink watched(const ses::CompletionSink& sink);
  // Which of its questions a sink answers.
  static Sink shape_of(const ses::CompletionSink& sink);

 private:
  struct WatchedSink {
    WatchedSinks* all = nullptr;
    uint32_t number = 0;
    ses::CompletionSink sink;
  };
  static void on_complete(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);
  static void on_release(void* owner);

  Tape& tape_;
  RecordedNames& names_;
  std::deque<WatchedSink> sinks_;
};

}  // namespace uet::recording

// Runs the two passes, and has the words for their results.
#include "tools/pcap/ladder/ladder.h"

#include "tools/pcap/ladder/both_ends.h"
#include "tools/pcap/ladder/follow.h"

namespace uet::tools::ladder {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::data:
      return "data";
    case Kind::ack:
      return "ack";
    case Kind::nack:
      return "nack";
    case Kind::control:
      return "control";
  }
  return "";
}

const char* name(Fate fate) {
  switch (fate) {
    case Fate::not_known:
      return "not known";
    case Fate::arrived:
      return "arrived";
    case Fate::lost:
      return "lost";
    case Fate::unsent:
      return "seen only where it arrived";
  }
  return "";
}

const char* name(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::nack:
      return "NACK";
    case Cause::sack:
      return "SACK";
    case Cause::timeout:
      return "time-out";
  }
  return "";
}

Ladder ladder_of(std::span<const Captured> packets, const Conversation& conversation,
                 uint32_t number, wire::Trailer trailer) {
  Ladder ladder;
  ladder.number = number;
  ladder.conversation = conversation;
  join_ends(packets, ladder);
  follow(ladder, trailer);
  return ladder;
}

}  // namespace uet::tools::ladder

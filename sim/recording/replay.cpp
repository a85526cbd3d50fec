// One player for each FabricEndpoint of the recording, and their common script.
#include "sim/recording/replay.h"

#include "sim/recording/player.h"

#include <map>
#include <memory>

namespace uet::recording {

Outcome replay(const Recording& recording) {
  Outcome outcome;
  Script script(recording);
  std::map<uint32_t, std::unique_ptr<Player>> players;
  while (const Record* const record = script.next_call()) {
    std::unique_ptr<Player>& player = players[record->endpoint];
    if (player == nullptr) {
      player = std::make_unique<Player>(record->endpoint, script, outcome);
    }
    player->play(*record);
  }
  outcome.problem = script.problem();
  outcome.difference = script.difference();
  outcome.deadlines = script.deadlines();
  outcome.deadline = script.deadline();
  return outcome;
}

}  // namespace uet::recording

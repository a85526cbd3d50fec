// Connection matrices of htsim (.cm, .tm) read and written as Traffic. The format:
//   Nodes N, Connections C, Triggers T     at the head; T may be missing
//   S->D [id K] [msg [M]] start US|trigger J size B [send_done_trigger J] [prio P]
//   trigger id J oneshot|multishot|barrier [count N]
// Blank lines and lines that begin with # say nothing.
#pragma once

#include "sim/traffic/traffic.h"

#include <string>
#include <string_view>

namespace uet::sim {

// Flow::connection is K, or 0 where no id is given. Triggers get the numbers 1, 2, ... in the order
// of their lines, whatever their ids. A barrier without a count waits for all flows that fire it.
// recv_done_trigger is read and fires nothing, as in htsim's model of UET.
// Throws TrafficError "NAME:LINE: what" when anything is wrong; the result has no problem().
Traffic read_matrix(std::string_view text, const std::string& name);
Traffic read_matrix_file(const std::string& path);

// The same as text, with an id for each flow. Starts are written in microseconds with up to three
// decimals (htsim drops the decimals). Throws TrafficError when the format has no words for a flow:
// pauses, delays after a trigger, a second trigger fired.
std::string matrix_text(const Traffic& traffic);

}  // namespace uet::sim

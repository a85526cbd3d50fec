// The lists, and which of them a PDC belongs to.
#include "pds/schedule/schedule.h"

#include "pds/tx/may_send.h"

namespace uet::pds {

void Schedule::arm_by(Pdc& pdc, Instant deadline) {
  if (!pdc.timer.is_armed() || deadline < pdc.timer.deadline()) wheel_.arm(pdc.timer, deadline);
}

void Schedule::want_control(Pdc& pdc) {
  ListNode<ControlTag>& node = pdc;
  if (!node.is_linked()) control_.push_back(pdc);
}

void Schedule::arm_if_held(Pdc& pdc, Instant now) {
  if (!pdc.tx.empty() && is_held(pdc)) arm_by(pdc, now + tail_wait(res_, pdc));
}

void Schedule::wake_flow(Flow& flow) {
  if (!flow.is_queued()) ready_.push_back(flow);
}

// Puts the PDC where it gets a turn, if it has anything to send and is not waiting already.
void Schedule::want_send(Pdc& pdc) {
  const ListNode<SendTag>& node = pdc;
  if (node.is_linked() || is_held_by_gap(res_, pdc)) return;
  if (pdc.is_unverified() && !may_send_unproven(res_, pdc)) return;  // Demux, confirm() retry
  const bool is_new = has_new(pdc);
  if (pdc.losses.has_lost()) {
    resend_.push_back(pdc);
  } else if (is_new && window_open(res_, pdc)) {
    send_.push_back(pdc);
  } else if (is_new) {
    res_.counters.add(Count::window_stalls);  // an ACK brings it back, see probe_window()
  }
}

// CMS may have room again. O(1), however many PDCs wait. [PDS-244]
void Schedule::wake_path(Path& path) {
  const ListNode<OpenPathTag>& node = path;
  if (path.is_wanted() && !node.is_linked()) open_paths_.push_back(path);
}

}  // namespace uet::pds

// The answers that refuse requests.
#include "ses/incoming/refusals.h"

namespace uet::ses {

using wire::ReturnCode;

pds::Verdict Refusals::refuse(const Request& q, ReturnCode code, Counter why, uint8_t generation) {
  if (!q.is_single() && q.has_pdc()) {
    RxMessage* m = arriving_.track(q);
    if (m == nullptr) return no_message_slot();
    arriving_.set_error(*m, code);
    m->error_generation = generation;
    arriving_.count_last(*m, q.length);
  }
  res_.counters.add(why);
  return response(q, code, generation);
}

pds::Verdict Refusals::refuse_key(const Request& q, ReturnCode code) {
  if (code == ReturnCode::perm_violation) return refuse(q, code, Counter::rx_no_permission);
  if (code == ReturnCode::op_violation) return refuse(q, code, Counter::rx_wrong_access);
  if (code == ReturnCode::bad_addr) return refuse(q, code, Counter::rx_bad_address);
  return refuse(q, ReturnCode::bad_mkey, Counter::rx_bad_key);
}

pds::Verdict Refusals::stored(const RxMessage& m, const Request& q) {
  const bool tells_generation = m.error == ReturnCode::bad_generation;
  return response(q, m.error, tells_generation ? m.error_generation : q.common.ri_generation);
}

pds::Verdict Refusals::repeat(RxMessage& m, const Request& q) {
  res_.counters.add(Counter::rx_repeated_error);
  const pds::Verdict verdict = stored(m, q);
  arriving_.count_last(m, q.length);
  return verdict;
}

pds::Verdict Refusals::no_message_slot() {
  res_.counters.add(Counter::rx_no_message_slot);
  return pds::Verdict::refused(wire::NackCode::no_ses_msg_avail);
}

pds::Verdict Refusals::wait_for_application(const Request& q) {
  if (q.has_pdc()) arriving_.note_held_up(q.token.pdc);
  return pds::Verdict::refused(wire::NackCode::no_resource);
}

}  // namespace uet::ses

// The order in which a batch is filled. [PDS 6, 12]
#include "pds/schedule/turns.h"

#include "base/prefetch.h"
#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kBulkBytes = 64 * 1024;
// Payload that leads batch after batch; then answers do. A batch of short packets counts a quarter.
constexpr uint32_t kLeadBytes = 128 * 1024;
constexpr uint32_t kLongBurst =
    TxBatch::kCapacity / 4;  // packets; longer ones are of short packets

// More than a batch is in flight: the peer does not wait for the end of a single batch.
bool is_stream(const Context& context) {
  return context.ccc.inflight_bytes() >
         uint64_t{TxBatch::kCapacity} * context.limits.packet_bytes_max;
}

// A burst is better whole in the next batch than cut: the backend sends it in one call. One with
// much payload is enough: it travels while the next one is made. Many PDCs may have a few short
// packets; together they fill the batch. `next`: the PDC that is served next; null: a flow is asked
// first. [decision 7]
bool has_room_for_burst(const TxBatch& batch, const Config& config, const Pdc* next) {
  if (batch.full() || batch.payload_bytes() >= kBulkBytes) return false;
  const uint32_t beside = TxBatch::kCapacity - config.packets_per_entropy;
  if (batch.size() <= beside || batch.empty()) return true;
  if (config.packets_per_entropy <= kLongBurst) return false;
  // Once a burst of a stream is cut, so are all that follow.
  const bool is_bulk = batch.payload_bytes() > beside * config.payload_mtu;
  return !is_bulk || (next != nullptr && !is_stream(*next->context));
}
}  // namespace

uint32_t Turns::transmit(TxBatch& batch, Instant now, Lead lead) {
  const uint32_t before = batch.size();
  res_.free_planes = batch.free_planes();
  if (flows_.has_released()) flows_.retire_flows(now);
  const bool payload_leads = lead == Lead::payload && led_bytes_ < kLeadBytes;
  if (!payload_leads) answers_.send(batch, now);
  send_data(batch, now);
  // Answers in the middle of a message would delay its end.
  const bool is_end = !schedule_.has_new_work();
  if (payload_leads && is_end) answers_.send(batch, now);
  const bool have_left = !payload_leads || (is_end && !batch.full());
  led_bytes_ = have_left ? 0 : led_bytes_ + std::max(batch.payload_bytes(), kLeadBytes / 4);
  if (schedule_.take_credit_wanted()) {
    // A PDC that waits for credit asks at once, or continues without it. [CMS-127, CMS-128]
    answers_.send_control(batch, now);
    serve_contexts(batch, now);
  }
  return batch.size() - before;
}

void Turns::send_data(TxBatch& batch, Instant now) {
  connectionless_.transmit(batch, now);
  // A PDC that is not done goes to the back of its list, so each PDC gets its turn.
  while (!batch.full()) {
    Pdc* const pdc = schedule_.next_resend();
    if (pdc == nullptr) break;
    serve(*pdc, batch, now);
  }
  serve_contexts(batch, now);
  // A flow that needs a PDC for each PDC that sends: it is served while its state is in the cache.
  while (schedule_.has_new_work() &&
         has_room_for_burst(batch, res_.config, schedule_.send_after())) {
    assign_next(now);
    Pdc* const pdc = schedule_.next_send();
    if (pdc == nullptr) continue;
    prefetch(schedule_.send_after(), sizeof(Pdc));
    serve(*pdc, batch, now);
  }
}

void Turns::assign_next(Instant now) {
  Flow* const flow = schedule_.next_flow();
  if (flow == nullptr) return;
  if (flow->ready) assign(*flow, now);
}

// Puts a PDC of the flow to work: one without an unsent rest, else a further one. Otherwise the
// PDCs at work take the next message themselves when they have sent theirs.
void Turns::assign(Flow& flow, Instant now) {
  uint32_t usable = 0;
  for (Pdc& pdc : flow.pdcs) {
    if (!pdc.may_take_message()) continue;
    ++usable;
    if (!pdc.messages.has_current() && window_open(res_, pdc)) return schedule_.want_send(pdc);
    // No PDC waited when it stalled, so no ACK Request for the cumulative ACK went yet.
    if (pdc.is_stalled() && !pdc.waiting.is_refused()) schedule_.arm_by(pdc, now);
  }
  const uint32_t limit = flow.key.mode == Mode::rod ? 1 : res_.config.pdcs_per_key;
  // A ROD flow waits until the PDC before has gone altogether. [PDS-003, PDS-020]
  const uint32_t open = flow.key.mode == Mode::rod ? flow.pdc_count : usable;
  if (open >= limit) return;
  Pdc* const pdc = initiators_.open_for(flow, now);
  if (pdc == nullptr) {
    if (usable == 0) schedule_.starve(flow);  // [PDS-021]
    return;
  }
  const bool has_message = outbox_.next_message(*pdc, now);
  initiators_.finish_opening(*pdc, has_message, now);
  if (has_message) schedule_.want_send(*pdc);
}

// No PDC of the context overtakes one that waits for the window: otherwise resends of requests
// could keep return data from ever leaving, and two peers that read from each other refuse requests
// until it does. Exception: a lost ROD packet has its cells, and PDCs that wait for cells may wait
// for these. [PDS-244, CMS-147]
void Turns::serve(Pdc& pdc, TxBatch& batch, Instant now) {
  Context& context = *pdc.context;
  const bool has_cells = res_.cells.is_on() && pdc.mode == Mode::rod && pdc.losses.has_lost();
  if (!context.blocked.empty() && !has_cells) {
    res_.counters.add(Count::cms_stalls);
    context.blocked.push_back(pdc);
    return schedule_.wait_for_cms(context, now);
  }
  const Turn turn = outbox_.take_turn(pdc, batch, now);
  if (turn.end != Step::blocked) return;
  (turn.has_sent ? context.sated : context.blocked).push_back(pdc);  // [CMS-012]
  schedule_.wait_for_cms(context, now);
}

void Turns::serve_contexts(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    Context* const context = schedule_.next_open_context();
    if (context == nullptr) return;
    serve_context(*context, batch, now);
  }
}

// The PDC that has waited longest for the window of its context. While there is room the context
// stays among the open ones. [CMS-013]
void Turns::serve_context(Context& context, TxBatch& batch, Instant now) {
  if (context.blocked.empty()) context.blocked.splice_back(context.sated);
  Pdc* const pdc = context.blocked.pop_front();
  if (pdc == nullptr) return;
  const Turn turn = outbox_.take_turn(*pdc, batch, now);
  if (turn.end != Step::blocked) return schedule_.wake_context(context);
  if (turn.has_sent) {
    context.sated.push_back(*pdc);
  } else {
    context.blocked.push_front(*pdc);  // it keeps its turn
  }
  schedule_.wait_for_cms(context, now);
}

}  // namespace uet::pds

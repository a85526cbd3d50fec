// A world for FlushPolicy: an application, a queue of packets and the helper thread's rest, on a
// clock that is moved by hand.
#pragma once

#include "prov/uet/progress/flush_policy.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace uet::prov::test {

class FlushWorld {
 public:
  explicit FlushWorld(FlushPolicy::Options options = {}, bool has_helper = true)
      : policy(options), auto_progress_(options.auto_progress) {
    others.has_helper = has_helper;
    if (has_helper) helper.at = auto_progress_ ? now : now + kAbsence;
  }

  // Time goes by. Where the helper's rest ends within it, it comes in.
  void pass(Duration span) {
    const Instant end = now + span;
    while (helper.at <= end) {
      now = std::max(now, helper.at);
      helper_turn();
    }
    now = end;
  }

  // The calls of the application. Each is a visit; returns the row that decided.
  Decision post() { return post(operation(64, ++unfinished)); }
  template <class What>
  Decision post(const What& what) {
    enter();
    const bool is_refused =
        std::is_same_v<What, FlushPolicy::Nothing> || std::is_same_v<What, FlushPolicy::Unread>;
    queued += is_refused ? 0 : 1;
    return leave(policy.on_post(what, others, now));
  }
  static FlushPolicy::Operation operation(uint64_t bytes = 64, uint32_t unfinished = 1000) {
    return {bytes, unfinished, false};
  }
  static FlushPolicy::Operation operation_with_more() { return {64, 1000, true}; }
  static FlushPolicy::Receive receive(bool more = false) { return {more}; }
  Decision found() {
    enter();
    return leave(policy.on_found(now));
  }
  Decision stays() {
    enter();
    return leave(policy.on_stays(now));
  }
  // A message comes with the look. Its ACK is queued.
  Decision came() {
    enter();
    ++queued;
    return leave(policy.on_came({true, true, true}, now, now, others));
  }
  Decision came_without_ack() {
    enter();
    return leave(policy.on_came({true, queued > 0, true}, now, now, others));
  }
  // An own operation ends with the poll, and a part of a message comes.
  Decision came_own(bool pressed = false) {
    enter();
    queued = std::max(queued, 1);
    return leave(policy.on_came({false, true, pressed}, now, now, others));
  }
  Decision vain(FlushPolicy::Look look = {false, true}) {
    enter();
    return leave(policy.on_vain(look, others, now));
  }
  // A part of a message comes with the poll. An ACK is queued that no operation waits for.
  Decision arriving() {
    queued = std::max(queued, 1);
    return vain({true, false});
  }
  Decision round() {
    enter();
    return leave(policy.on_round(now));
  }
  // A visit that neither posts nor looks.
  void visit() {
    enter();
    leave(std::nullopt);
  }

  // Posts a microsecond apart, then a look a microsecond later. How many posts waited. In the end
  // all are done.
  int run(int posts) {
    int waited = 0;
    for (int i = 0; i < posts; ++i) {
      pass(Duration::microseconds(1));
      waited += post() == Decision::post_waits ? 1 : 0;
    }
    pass(Duration::microseconds(1));
    vain();
    unfinished = 0;
    return waited;
  }
  // The helper begins to put up with visits: until then it comes by itself.
  void begin() {
    visit();
    pass(kAbsence);
  }
  void make_post_habit(int posts = 8) {
    begin();
    for (int posted = 0; posted < 304; posted += posts) run(posts);
  }
  void make_reply_habit() {
    begin();
    for (int i = 0; i < 3; ++i) exchange();
  }
  // A message that is answered after 5 us. The row that decided on its ACK.
  Decision exchange() {
    const Decision decision = came();
    pass(Duration::microseconds(5));
    post();
    return decision;
  }
  // Three posts; the third one waits.
  void hold_post() {
    make_post_habit();
    for (int i = 0; i < 3; ++i) post();
  }

  FlushPolicy policy;
  FlushPolicy::Others others{true, false};
  Instant now = Instant::from_ns(1'000'000'000);
  Instant deadline = Instant::never();  // the engine's
  uint32_t unfinished = 0;              // operations of the endpoint
  int queued = 0;                       // packets
  int sends = 0;                        // times that queued packets left
  int rounds = 0;                       // that calls of the application ran
  int timers = 0;                       // times that visits, or the helper, started its timer
  // The helper thread.
  struct Helper {
    bool must_serve = false;        // it watches the socket for threads that sleep
    bool moves = false;             // its next round moves something
    Instant at = Instant::never();  // the end of its rest
    int rounds = 0;
    Decision row = Decision::busy;  // the last one that set what it waits for
  };
  Helper helper;

 private:
  void enter() {
    if (now >= policy.put_off_at()) start_timer(policy.on_visit(visits_, now));
  }
  Decision leave(std::optional<Decision> decision) {
    ++visits_;
    if (decision) flush(*decision);
    if (policy.watch() == Watch::engine && policy.on_left(deadline)) {
      helper.row = Decision::left_earlier;
      helper.at = now;
    }
    return decision.value_or(Decision::round);
  }
  void flush(Decision decision) {
    const Flush what = row_of(decision).flush;
    if (what == Flush::round) ++rounds;
    if (what == Flush::wait || queued == 0) return;
    ++sends;
    queued = 0;
  }
  void start_timer(Decision decision) {
    ++timers;
    helper.row = decision;
    helper.at = now + row_of(decision).after;
    flush(decision);
  }
  void helper_turn() {
    const bool timer_over = policy.watch() == Watch::visits;
    const FlushPolicy::HelperSees sees{visits_, timer_over, helper.must_serve,
                                       others.thread_sleeps};
    const Decision decision = policy.on_helper(sees, now);
    if (decision != Decision::helper) return start_timer(decision);
    ++helper.rounds;
    if (queued > 0) ++sends;
    queued = 0;
    helper.row = policy.on_helper_ran(helper.moves, sees, deadline);
    helper.moves = false;
    const FlushRow& rest = row_of(helper.row);
    helper.at = rest.watch == Watch::engine ? deadline : now + rest.after;
    if (rest.watch == Watch::engine && deadline <= now) deadline = Instant::never();
  }

  bool auto_progress_;
  uint64_t visits_ = 0;
};

}  // namespace uet::prov::test

// What a target has yet to read of rendezvous messages, and in whose turn it reads. [ses.md 4.4]
#include "ses/rendezvous/pulls.h"

#include "base/test/calls.h"
#include "ses/outgoing/outgoing.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>

namespace uet::ses::test {
namespace {

using uet::test::calls;
using uet::test::Calls;
using uet::test::calls_of;

constexpr uint32_t kPushed = 1000;  // octets of each message that came in packets

class PullsPartTest : public PartTest {
 protected:
  PullsPartTest() {
    calls().clear();
    answers() = {};
    Rng rng(1, 1);
    EXPECT_TRUE(pulls_.create(rng).ok());
    ep_ = &open();
    const IoSlice all{octets_.data(), octets_.size()};
    EXPECT_TRUE(receive_.memory.assign({&all, 1}, res_.receive_iovs).ok());
  }
  static Config few_reads() {
    Config c = small();
    c.rendezvous_reads = 4;
    return c;
  }
  Pull* make(PeerId peer, uint64_t key = 77) {
    Request q;
    q.peer = peer;
    q.common.job_id = kJob;
    q.rendezvous.read_memory_key = key;
    q.rendezvous.eager_length = kPushed;
    return pulls_.make(q);
  }
  // The pushed part is placed; the message has `message` octets, of which the receive takes `room`.
  void read(Pull& p, uint32_t message, uint64_t room) {
    Arrived a;
    a.request_length = message;
    a.place.room = room;
    pulls_.read_rest(*ep_, p, receive_, a);
  }
  // The oldest read is over.
  void end(Completion::Status status = Completion::Status::ok, wire::ReturnCode code = {}) {
    ASSERT_FALSE(answers().posted.empty());
    InternalEnd done;
    done.pull = answers().posted.front();
    answers().posted.erase(answers().posted.begin());
    done.status = status;
    done.code = code;
    pulls_.on_end(done);
  }

  MemoryRegions memory_;
  Receives receives_{res_};
  Outgoing outgoing_{res_, endpoints_, memory_};
  Pulls pulls_{res_, endpoints_, receives_, outgoing_.posting()};
  Endpoint* ep_ = nullptr;
  PostedReceive receive_;
  std::array<std::byte, 5000> octets_{};
};

// [SES-089] The rest is read to where the pushed part ends, and then the receive is complete.
TEST_F(PullsPartTest, TheReceiveCompletesWhenTheRestIsThere) {
  Pull* const p = make(peer_);
  read(*p, 3000, 3000);
  EXPECT_EQ(calls(), Calls{"read 2000 at 1000"});
  end();
  EXPECT_EQ(calls_of("complete"), Calls{"complete 3000"});
  EXPECT_FALSE(pulls_.is_known(peer_, 77));
  EXPECT_TRUE(pulls_.idle());
}

// [SES-089] A receive that the pushed part fills is complete at once.
TEST_F(PullsPartTest, NothingIsReadForAFullReceive) {
  read(*make(peer_), 3000, 800);
  EXPECT_EQ(calls(), Calls{"complete 800"});
  EXPECT_FALSE(pulls_.is_known(peer_, 77));
}

// [SES-091] An initiator that was answered that the message was kept expects reads: if the receive
// takes less, a release informs it that no more will be read.
TEST_F(PullsPartTest, AnInitiatorThatWaitsForReadsIsReleased) {
  Pull* const p = make(peer_);
  p->was_kept = true;
  read(*p, 3000, 2000);
  end();
  EXPECT_EQ(calls(), (Calls{"read 1000 at 1000", "complete 2000", "read 0 at 3000"}));
  end();
  EXPECT_FALSE(pulls_.is_known(peer_, 77));
}

// [SES-091] The rest could not be read: the receive fails, and a release informs the initiator.
TEST_F(PullsPartTest, AFailedReadEndsTheReceiveInError) {
  read(*make(peer_), 3000, 3000);
  end(Completion::Status::undeliverable);
  EXPECT_EQ(calls_of("complete"), Calls{"complete 3000 in error"});
  EXPECT_EQ(calls_of("read").size(), 2u);
  EXPECT_EQ(calls_of("read").back(), "read 0 at 0") << "given up";
  end();
  EXPECT_TRUE(pulls_.idle());
}

// An initiator that withdrew the source needs no report. [SES-091]
TEST_F(PullsPartTest, AWithdrawnSourceIsNotReported) {
  read(*make(peer_), 3000, 3000);
  end(Completion::Status::refused, wire::ReturnCode::bad_mkey);
  EXPECT_EQ(calls_of("read").size(), 1u);
  EXPECT_FALSE(pulls_.is_known(peer_, 77));
}

// [T-02] A peer may use as many read places as stay free; its next read starts when one is free.
TEST_F(PullsPartTest, APeerCannotTakeAllPlaces) {
  res_.config.rendezvous_reads = 4;
  for (uint64_t key = 1; key <= 4; ++key) read(*make(peer_, key), 3000, 3000);
  EXPECT_EQ(calls_of("read").size(), 2u);
  read(*make(another_peer(2), 9), 3000, 3000);
  EXPECT_EQ(calls_of("read").size(), 3u);
  end();
  EXPECT_EQ(calls_of("read").size(), 4u);
}

// Without a slot for its read a message is tried again later. [SES-089]
TEST_F(PullsPartTest, AReadThatCannotBePostedComesLater) {
  answers().may_post = false;
  read(*make(peer_), 3000, 3000);
  EXPECT_EQ(calls(), Calls{});
  EXPECT_FALSE(pulls_.next_deadline().is_never());
  answers().may_post = true;
  pulls_.retry();
  EXPECT_EQ(calls(), Calls{}) << "not yet";
  res_.now = pulls_.next_deadline();
  pulls_.retry();
  EXPECT_EQ(calls(), Calls{"read 2000 at 1000"});
}

// [T-02, T-61] Peers share the records, too.
TEST_F(PullsPartTest, APeerHasItsShareOfTheRecords) {
  uint64_t made = 0;
  while (make(peer_, made + 1) != nullptr) ++made;
  EXPECT_EQ(made, (2u * res_.config.unexpected_messages + res_.config.rx_messages) / 2);
  EXPECT_NE(make(another_peer(2), 1), nullptr);
}

// A closing endpoint ends what waits for a place. [SES-177]
TEST_F(PullsPartTest, AClosingEndpointEndsItsMessages) {
  answers().may_post = false;
  read(*make(peer_), 3000, 3000);
  pulls_.close(*ep_);
  EXPECT_EQ(calls_of("complete"), Calls{"complete 3000 in error"});
  EXPECT_TRUE(pulls_.idle());
}

}  // namespace
}  // namespace uet::ses::test

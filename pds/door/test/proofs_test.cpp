// Unproven sources: what goes to them, and how they are asked. [PDS-252]
#include "pds/door/proofs.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class ProofsPartTest : public AllParts {
 protected:
  Pdc& unproven() {
    Pdc& pdc = target(Mode::rud, false);
    proofs_.begin(peer_);
    return pdc;
  }
  static void earn(Pdc& pdc, uint32_t octets) {
    std::vector<std::byte> bytes(octets);
    RxDatagram d;
    d.bytes = bytes;
    Proofs::earn(pdc, d);
  }
};

// [PDS-252] Three octets for each that came, and for proven sources as many as there are.
TEST_F(ProofsPartTest, AnUnprovenSourceGetsThreeTimesItsOctets) {
  Pdc& pdc = unproven();
  earn(pdc, 100);
  EXPECT_TRUE(proofs_.spend(pdc, 300));
  EXPECT_FALSE(proofs_.spend(pdc, 1));
  EXPECT_EQ(counted(Count::drop_unproven), 1u);
  EXPECT_TRUE(proofs_.spend(target(), 1'000'000));
  EXPECT_TRUE(proofs_.spend(initiator(), 1'000'000));
}

// [PDS-252] A proof ends that, once, and what waited for it goes on.
TEST_F(ProofsPartTest, AProofEndsTheLimit) {
  Pdc& pdc = unproven();
  EXPECT_EQ(peers_[peer_].half_open, 1u);
  for (int i = 0; i < 2; ++i) proofs_.confirm(pdc);
  EXPECT_EQ(proofs_.half_open(), 0u);
  EXPECT_EQ(peers_[peer_].half_open, 0u);
  EXPECT_EQ(calls(), Calls{"want_send"});
  EXPECT_TRUE(proofs_.spend(pdc, 1));
}

// [PDS-252] A NACK is a proof if it names both PDCIDs: one of them is easily guessed.
TEST_F(ProofsPartTest, ANackWithoutThePeersPdcidProvesNothing) {
  Pdc& pdc = unproven();
  wire::Nack nack;
  proofs_.confirm(pdc, nack);
  EXPECT_FALSE(pdc.proof.is_confirmed());
  nack.spdcid = kPeerId;
  proofs_.confirm(pdc, nack);
  EXPECT_TRUE(pdc.proof.is_confirmed());
}

// [PDS-255] From then on its kept responses count for its peer.
TEST_F(ProofsPartTest, KeptResponsesCountForAProvenPeer) {
  Pdc& pdc = unproven();
  StoredResponse response;
  response.trigger.psn = kFirst;
  pdc.responses.add(response);
  proofs_.confirm(pdc);
  EXPECT_EQ(peers_[peer_].responses, 1u);
  pdc.responses.drop(response);
  static_cast<ListNode<StoredTag>&>(response).unlink();
}

// [PDS-252] Return data waits for a proof: the peer is asked at growing intervals, until a limit.
TEST_F(ProofsPartTest, AnUnprovenSourceIsAskedWhileDataWaits) {
  Pdc& pdc = unproven();
  Instant next = Instant::never();
  EXPECT_TRUE(proofs_.check_proof(pdc, next, kNow + kRto));
  EXPECT_FALSE(pdc.tail.is_due()) << "nothing waits";
  pdc.messages.start(kMessage, false);
  EXPECT_TRUE(proofs_.check_proof(pdc, next, kNow + kRto));
  EXPECT_TRUE(pdc.tail.is_due());
  pdc.tail.cancel();
  pdc.tail.send(kFirst, kNow + kRto);
  EXPECT_EQ(proofs_.proof_wait(pdc), kRto * 2);
  EXPECT_TRUE(proofs_.check_proof(pdc, next, kNow + kRto * 2));
  EXPECT_FALSE(pdc.tail.is_due());
  EXPECT_FALSE(proofs_.check_proof(pdc, next, kNow + res_.config.peer_timeout));
}

// [PDS-252] An initiator that waits for return data shows by a Probe that its address is its own.
TEST_F(ProofsPartTest, AnInitiatorThatWaitsForDataProvesItself) {
  Pdc& pdc = initiator();
  EXPECT_FALSE(proofs_.owes_proof(pdc)) << "it waits for nothing";
  pdc.messages.start(kMessage, true);
  EXPECT_TRUE(proofs_.owes_proof(pdc));
  Instant next = Instant::never();
  proofs_.check_owed_proof(pdc, next, kNow + kRto);
  EXPECT_TRUE(pdc.tail.is_due());
  pdc.rx.accept(res_.rx_pool, kFirst, false);
  EXPECT_FALSE(proofs_.owes_proof(pdc)) << "return data has come";
}

}  // namespace
}  // namespace uet::pds::part

// Taking and giving back the room for unexpected messages.
#include "ses/receives/kept_room.h"

#include "pds/share.h"

namespace uet::ses {

Result<void> KeptRoom::create(Arena& arena, const Config& config, pds::PeerTable& peers) {
  peers_ = &peers;
  UET_CHECK(records_.create(arena, config.unexpected_messages, Reuse::rested));
  return pool_.create(arena, config.unexpected_bytes, config.keeps_octets);
}

void KeptRoom::report() {
  if (res_ == nullptr || res_->pds == nullptr) return;
  const uint64_t used = pool_.pages() - pool_.free_pages();
  res_->pds->set_pressure(used * UnexpectedPool::kPageBytes, res_->now);
}

bool KeptRoom::has_record(const Sender& sender) const {
  const uint32_t free = records_.capacity() - records_.size();
  const pds::Peer& peer = (*peers_)[sender.peer];
  const uint64_t of_host = peers_->host_of(peer).kept_messages;
  return pds::is_within_shares(peer.kept_messages, of_host, 1, free, records_.capacity()) &&
         (sender.is_confirmed || pds::leaves_reserve(1, free, records_.capacity()));
}

bool KeptRoom::has_pages(const Sender& sender, uint64_t pages) const {
  const uint32_t free = pool_.free_pages();
  const pds::Peer& peer = (*peers_)[sender.peer];
  const uint64_t of_host = peers_->host_of(peer).kept_pages;
  return pds::is_within_shares(peer.kept_pages, of_host, pages, free, pool_.pages()) &&
         (sender.is_confirmed || pds::leaves_reserve(pages, free, pool_.pages()));
}

UnexpectedMessage* KeptRoom::admit(const Sender& sender, uint32_t bytes) {
  if (!has_record(sender) || !has_pages(sender, UnexpectedPool::whole(bytes))) return nullptr;
  UnexpectedMessage* const u = records_.alloc();
  UET_ASSERT(u != nullptr);
  u->pages = UnexpectedPool::list_of(bytes);
  u->envelope.peer = sender.peer;
  pds::Peer& peer = (*peers_)[sender.peer];
  ++peer.kept_messages;
  ++peers_->host_of(peer).kept_messages;
  peers_->add_ref(sender.peer);  // its ID must not come to mean another peer while kept
  return u;
}

bool KeptRoom::store(UnexpectedMessage& u, uint32_t offset, std::span<const std::byte> payload,
                     bool is_confirmed) {
  const uint32_t pages = pool_.missing(u.pages, offset, payload.size());
  if (pages != 0 && !has_pages({u.envelope.peer, is_confirmed}, pages)) return false;
  pool_.write(u.pages, offset, payload);
  if (pages == 0) return true;
  pds::Peer& peer = (*peers_)[u.envelope.peer];
  peer.kept_pages += pages;
  peers_->host_of(peer).kept_pages += pages;
  report();
  return true;
}

void KeptRoom::drop(UnexpectedMessage& u) {
  const PeerId id = u.envelope.peer;
  pds::Peer& peer = (*peers_)[id];
  UET_ASSERT(peer.kept_messages > 0 && peer.kept_pages >= u.pages.held);
  pds::Host& host = peers_->host_of(peer);
  --peer.kept_messages;
  --host.kept_messages;
  peer.kept_pages -= u.pages.held;
  host.kept_pages -= u.pages.held;
  pool_.release(u.pages);
  report();
  ++released_total_;
  records_.free(&u);
  peers_->drop_ref(id);
}

}  // namespace uet::ses

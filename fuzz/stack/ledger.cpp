// Judging completions. An oracle that does not hold aborts.
#include "fuzz/stack/ledger.h"

namespace uet::fuzz {

using ses::Completion;
using ses::OpKind;

Post& Ledger::open(uint32_t node, OpKind kind, uint32_t bytes) {
  Post& post = posts_.emplace_back();
  post.id = static_cast<uint32_t>(posts_.size());
  post.node = node;
  post.kind = kind;
  post.room = Room(bytes);
  ++open_count_;
  return post;
}

void Ledger::end(Post& post) {
  UET_ASSERT(post.is_open);
  post.is_open = false;
  --open_count_;
  ended_.push_back(&post);
}

void Ledger::withdraw(Post& post) { end(post); }

void Ledger::on_completion(uint32_t node, const Completion& c) {
  if (c.context.op == nullptr) {
    UET_ASSERT(c.kind == OpKind::remote_write || c.kind == OpKind::remote_read);
    UET_ASSERT(++unasked_[node] <= reserved_[node]);
    return;
  }
  const uint64_t id = c.context.user;
  UET_ASSERT(id >= 1 && id <= posts_.size());
  Post& post = posts_[id - 1];
  UET_ASSERT(c.context.op == &post);
  UET_ASSERT(post.is_open && post.node == node && post.kind == c.kind);
  post.room.check_guards();
  if (post.is_receive()) {
    judge_receive(post, c);
  } else {
    judge_sender(post, c);
  }
  if (!post.is_multi || c.multi_done) end(post);
}

void Ledger::judge_sender(const Post& post, const Completion& c) const {
  const bool is_read = post.kind == OpKind::read;
  if (!is_read && !post.is_injected) {
    UET_ASSERT(post.room.holds(post.id, 0, post.room.size(), 0));
  }
  if (!exact_) return;
  // A slow application does not count as an error: its end lives. [SES-191]
  const bool is_not_ready =
      c.code == wire::ReturnCode::no_match || c.code == wire::ReturnCode::disabled_gen;
  UET_ASSERT(c.status != Completion::Status::refused || !is_not_ready);
  if (!c.ok() || post.to >= kNodes) return;
  if (post.kind != OpKind::read && post.kind != OpKind::write) return;
  const Region& region = regions_[post.to][post.region];
  const bool is_same = region.generation == post.region_generation;
  if (is_read) {
    UET_ASSERT(c.bytes == post.room.size());
    if (is_same && post.region == static_cast<uint32_t>(RegionUse::source)) {
      UET_ASSERT(post.room.holds(region.pattern, 0, post.room.size(), post.offset));
    }
  } else if (is_same && !region.is_shared) {
    UET_ASSERT(region.room.holds(post.id, post.offset, post.room.size(), 0));
  }
}

void Ledger::judge_receive(Post& post, const Completion& c) {
  const bool has_message = c.ok() || c.status == Completion::Status::truncated;
  if (!has_message) return;
  UET_ASSERT(c.bytes <= post.room.size());
  uint64_t at = 0;
  if (post.is_multi) {
    const std::span<std::byte> room = post.room.octets();
    const auto* const buffer = static_cast<const std::byte*>(c.buffer);
    UET_ASSERT(buffer >= room.data() && buffer <= room.data() + room.size());
    at = static_cast<uint64_t>(buffer - room.data());
    UET_ASSERT(c.bytes <= room.size() - at);
  } else if (exact_) {
    UET_ASSERT(post.room.is_untouched_from(c.bytes));
  }
  if (exact_) judge_message(post, c, at);
}

// All messages of honest ends carry the id of their post as header data.
void Ledger::judge_message(const Post& receive, const Completion& c, uint64_t at) {
  UET_ASSERT(c.has_data && c.data >= 1 && c.data <= posts_.size());
  Post& sent = posts_[c.data - 1];
  UET_ASSERT(sent.to == receive.node);
  UET_ASSERT(receive.is_shared ? sent.slot < kSharingSlots : sent.slot == receive.slot);
  const bool is_tagged = receive.kind == OpKind::tagged_recv;
  UET_ASSERT(sent.kind == (is_tagged ? OpKind::tagged_send : OpKind::send));
  UET_ASSERT(!is_tagged ||
             (c.tag == sent.tag && ((sent.tag ^ receive.tag) & ~receive.ignore) == 0));
  UET_ASSERT(!sent.was_delivered || sent.is_datagram);  // the network may duplicate those
  sent.was_delivered = true;
  UET_ASSERT(c.bytes <= sent.room.size());
  UET_ASSERT(!c.ok() || c.bytes == sent.room.size());
  UET_ASSERT(receive.room.holds(sent.id, at, c.bytes, 0));
}

void Ledger::check_closed(uint32_t node, uint32_t slot) const {
  for (const Post& post : posts_) {
    UET_ASSERT(!post.is_open || post.is_shared || post.node != node || post.slot != slot);
  }
}

void Ledger::lose(uint32_t node) {
  for (Post& post : posts_) {
    if (post.is_open && post.node == node) end(post);
  }
  reserved_[node] = unasked_[node] = 0;
}

void Ledger::release_ended() {
  for (Post* post : ended_) {
    post->room.check_guards();
    post->room.release();
  }
  ended_.clear();
}

Post* Ledger::find_open(uint32_t node, uint32_t n) {
  Post* found = nullptr;
  for (auto post = posts_.rbegin(); post != posts_.rend(); ++post) {
    if (!post->is_open || post->node != node) continue;
    found = &*post;
    if (n-- == 0) break;
  }
  return found;
}

bool Ledger::has_open_operation() const {
  for (const Post& post : posts_) {
    if (post.is_open && !post.is_receive()) return true;
  }
  return false;
}

void Ledger::check_guards() const {
  for (const Post& post : posts_) post.room.check_guards();
  for (const Regions& regions : regions_) {
    for (const Region& region : regions) region.room.check_guards();
    for (RegionUse use : {RegionUse::source, RegionUse::closed}) {
      const Region& region = regions[static_cast<size_t>(use)];
      UET_ASSERT(region.room.is_released() ||
                 region.room.holds(region.pattern, 0, region.room.size(), 0));
    }
  }
}

}  // namespace uet::fuzz

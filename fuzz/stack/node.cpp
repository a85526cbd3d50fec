// Posts operations of the program, and checks every packet and every step.
#include "fuzz/stack/node.h"

#include <algorithm>
#include <utility>

namespace uet::fuzz {
namespace {

constexpr uint32_t kReceives = 16;  // of a queue at once
constexpr pds::Mode kModes[kSlots] = {pds::Mode::rud, pds::Mode::rod, pds::Mode::uud};

// Few octets mostly, now and then some packets full.
uint32_t size_from(Program& program) {
  const uint8_t drawn = program.u8();
  return drawn < 100 ? drawn : drawn < 220 ? (drawn - 99) * 17u : (drawn - 219) * 160u;
}

}  // namespace

FabricAddress address_of(uint32_t number) { return FabricAddress::v4(0x0A000000U | number); }

Node::Node(uint32_t index, const fep::Config& config, uint64_t seed, bool shares, Ledger& ledger,
           std::array<Regions, kNodes>& regions, Instant now, const tss::JobTable* jobs)
    : index_(index), shares_(shares), ledger_(ledger), regions_(regions) {
  auto made = fep::FabricEndpoint::create(config, address_of_node(index), seed);
  UET_ASSERT(made.ok());
  fep_ = std::move(*made);
  if (jobs != nullptr) fep_->secure(*jobs);
  if (shares_) shared_ = *fep_->ses().open_shared(kReceives);
  for (uint32_t slot = 0; slot < kSlots; ++slot) open_endpoint(slot);
  for (uint32_t i = 0; i < kPeers; ++i) {
    peers_[i] = *fep_->peers().find_or_add(address_of_node(i), now);
    fep_->peers().add_ref(peers_[i]);
  }
  for (uint32_t region = 0; region < kRegions; ++region) {
    regions_[index_][region].id = {};  // of the end that was here before
    renew_region(region);
  }
}

void Node::open_endpoint(uint32_t slot) {
  const ses::EndpointName name{JobId(kJob), pid_of(slot), index_of(slot), 100 + index_, false};
  ses::EndpointOptions options;
  options.mode = kModes[slot];
  options.tx_size = 16;
  options.rx_size = kReceives;
  if (shares(slot)) options.shared = shared_;
  ses::CompletionSink sink;
  sink.owner = this;
  sink.complete = [](void* me, const ses::Completion& c) {
    Node& node = *static_cast<Node*>(me);
    node.ledger_.on_completion(node.index_, c);
  };
  sink.reserve = [](void* me) {
    Node& node = *static_cast<Node*>(me);
    return node.ledger_.reserve(node.index_);
  };
  const auto endpoint = fep_->ses().open_endpoint(name, options, sink, sink);
  UET_ASSERT(endpoint.ok());
  endpoints_[slot] = *endpoint;
}

ses::Destination Node::destination(Program& program, Post& post) const {
  const uint8_t where = program.u8();
  const uint32_t peer = where % 16 == 15 ? 2 : where % 16 == 14 ? index_ : 1 - index_;
  post.to = peer < kNodes ? peer : kNodes;
  ses::Destination to{peers_[peer], pid_of(post.slot), index_of(post.slot), 100 + peer, false};
  to.capabilities = ses::kEveryProfile | ses::kTakesSmallHeader;
  if (where >= 0xF0) to.ri = ResourceIndex(77);  // an unused address
  return to;
}

uint32_t Node::flags(Program& program, Post& post) const {
  const uint8_t drawn = program.u8();
  uint32_t flags = drawn & (ses::kOpDeliveryComplete | ses::kOpFence | ses::kOpQuiet |
                            ses::kOpRudi | ses::kOpRemoteData);
  if (post.room.size() <= ses::kInjectBytes && post.kind != ses::OpKind::read) {
    flags |= drawn & ses::kOpInject;
  }
  post.is_injected = (flags & ses::kOpInject) != 0;
  const bool is_rma = post.kind == ses::OpKind::write || post.kind == ses::OpKind::read;
  if (!is_rma && ledger_.exact()) flags |= ses::kOpRemoteData;
  return flags;
}

std::span<const IoSlice> Node::slices(Program& program, const Post& post) {
  const std::span<std::byte> room = post.room.octets();
  const uint8_t drawn = program.u8();
  const uint32_t count = drawn < 0xC0 ? 1 : drawn < 0xF8 ? 1 + drawn % 4 : 5 + drawn % 8;
  const auto part = static_cast<uint32_t>(room.size() / count);
  slices_.clear();
  for (uint32_t i = 0; i + 1 < count; ++i) slices_.push_back({room.data() + i * part, part});
  const uint32_t done = (count - 1) * part;
  slices_.push_back({room.data() + done, room.size() - done});
  return slices_;
}

void Node::finish_post(Post& post, bool is_posted) {
  if (!is_posted) return ledger_.withdraw(post);
  // Injected payload has been copied.
  if (post.is_injected) std::ranges::fill(post.room.octets(), std::byte{0xEE});
}

void Node::send(Program& program, Instant now) {
  const uint8_t how = program.u8();
  const bool is_tagged = (how & 1) != 0;
  Post& post = ledger_.open(index_, is_tagged ? ses::OpKind::tagged_send : ses::OpKind::send,
                            size_from(program));
  post.slot = (how >> 1) % kSlots;
  post.is_datagram = kModes[post.slot] == pds::Mode::uud;
  post.room.fill(post.id);
  ses::SendRequest request;
  request.to = destination(program, post);
  request.iov = slices(program, post);
  request.tagged = is_tagged;
  request.tag = post.tag = is_tagged ? how >> 5 : 0;
  request.data = post.id;
  request.flags = flags(program, post);
  request.context = {&post, post.id};
  finish_post(post, fep_->ses().send(endpoints_[post.slot], request, now).ok());
}

void Node::rma(Program& program, Instant now) {
  const uint8_t how = program.u8();
  const bool is_read = (how & 1) != 0;
  Post& post =
      ledger_.open(index_, is_read ? ses::OpKind::read : ses::OpKind::write, size_from(program));
  post.slot = (how >> 1) % 2;
  if (!is_read) post.room.fill(post.id);
  ses::RmaRequest request;
  request.to = destination(program, post);
  Region& region = regions_[post.to % kNodes][(how >> 2) % kRegions];
  post.region = (how >> 2) % kRegions;
  post.region_generation = region.generation;
  post.offset = region.claimed;
  const bool fits = region.claimed + post.room.size() <= kRegionBytes;
  if (is_read || !fits) post.offset = program.u8() * 8u;
  if (!is_read && fits) region.claimed += post.room.size();
  if (!is_read && !fits) region.is_shared = true;
  request.remote_offset = post.offset;
  request.read = is_read;
  request.iov = slices(program, post);
  request.key = region.key;
  if ((how & 0xF0) == 0xF0) request.key ^= uint64_t{1} << program.below(64);
  request.data = post.id;
  request.flags = flags(program, post);
  request.context = {&post, post.id};
  finish_post(post, fep_->ses().rma(endpoints_[post.slot], request, now).ok());
}

ses::ReceiveRequest Node::receive_request(Program& program, Post& post) {
  static constexpr uint64_t kIgnored[] = {0, 1, 6, ~uint64_t{0}};
  const uint8_t how = program.u8();
  ses::ReceiveRequest request;
  request.tagged = post.kind == ses::OpKind::tagged_recv;
  request.tag = post.tag = request.tagged ? how & 7 : 0;
  request.ignore = post.ignore = request.tagged ? kIgnored[(how >> 3) % 4] : 0;
  request.directed = (how & 0xE0) == 0xE0;
  request.from = peers_[1 - index_];
  request.from_initiator = 100 + (1 - index_);
  request.multi = post.is_multi = !request.tagged && (how & 0x18) == 0x18;
  request.multi_min = 32;
  request.iov = slices(program, post);
  request.context = {&post, post.id};
  return request;
}

void Node::receive(Program& program, Instant now) {
  const uint8_t how = program.u8();
  const bool is_tagged = (how & 1) != 0;
  Post& post = ledger_.open(index_, is_tagged ? ses::OpKind::tagged_recv : ses::OpKind::recv,
                            size_from(program));
  post.slot = (how >> 1) % kSlots;
  post.is_shared = shares(post.slot);
  const ses::ReceiveRequest request = receive_request(program, post);
  const bool is_claimable = claim_slot_ == post.slot || (post.is_shared && shares(claim_slot_));
  uint32_t claim = 0;
  if (is_claimable && !post.is_multi && (how & 0x80) != 0) claim = claim_;
  // A claimed message is taken whatever its tag.
  if (claim != 0) post.ignore = ~uint64_t{0};
  const Result<void> posted = post_receive(post, request, claim, now);
  // When the receive is refused the message stays claimed until end_claim().
  const bool is_over = posted.ok() || posted.error() == Errc::not_found;
  if (claim != 0 && is_over) claim_ = 0;
  finish_post(post, posted.ok());
}

// `claim`: of the message that this receive is for; 0: of whatever comes.
Result<void> Node::post_receive(const Post& post, const ses::ReceiveRequest& request,
                                uint32_t claim, Instant now) {
  ses::Ses& ses = fep_->ses();
  const ses::EndpointId endpoint = endpoints_[post.slot];
  if (claim == 0) {
    return post.is_shared ? ses.receive(shared_, request, now)
                          : ses.receive(endpoint, request, now);
  }
  return post.is_shared ? ses.claims().receive(shared_, claim, request, now)
                        : ses.claims().receive(endpoint, claim, request, now);
}

void Node::cancel(Program& program, Instant now) {
  Post* const post = ledger_.find_open(index_, program.u8() % 16);
  if (post != nullptr) cancel(*post, now);
}

bool Node::cancel(Post& post, Instant now) {
  if (post.is_shared) return fep_->ses().cancel(shared_, &post, now).ok();
  return fep_->ses().cancel(endpoints_[post.slot], &post, now);
}

void Node::cancel_receives(Instant now) {
  claim_ = 0;
  for (Post& post : ledger_.posts()) {
    if (!post.is_open || post.node != index_ || !post.is_receive()) continue;
    const bool is_cancelled = cancel(post, now);
    UET_ASSERT(is_cancelled && !post.is_open);
  }
}

void Node::take_all(Instant now) {
  constexpr uint32_t kRoom = 8192;  // longer messages are cut
  for (uint32_t i = 0; i < takers_.size(); ++i) {
    if (takers_[i] != nullptr && takers_[i]->is_open) continue;
    const bool is_tagged = i % 2 == 1;
    Post& post =
        ledger_.open(index_, is_tagged ? ses::OpKind::tagged_recv : ses::OpKind::recv, kRoom);
    post.slot = i / 2;
    post.is_shared = shares(post.slot);
    post.ignore = ~uint64_t{0};
    const IoSlice room{post.room.octets().data(), kRoom};
    ses::ReceiveRequest request;
    request.tagged = is_tagged;
    request.ignore = post.ignore;
    request.iov = {&room, 1};
    request.context = {&post, post.id};
    takers_[i] = &post;
    bool is_posted = post_receive(post, request, 0, now).ok();
    if (!is_posted && cancel_one_receive(post.slot, now)) {
      is_posted = post_receive(post, request, 0, now).ok();
    }
    finish_post(post, is_posted);
  }
}

// Makes room in the queue of that endpoint, which may be full of receives that match nothing.
bool Node::cancel_one_receive(uint32_t slot, Instant now) {
  for (Post& post : ledger_.posts()) {
    const bool is_of_queue = post.slot == slot || (shares(slot) && post.is_shared);
    if (!post.is_open || post.node != index_ || !post.is_receive() || !is_of_queue) continue;
    if (std::ranges::find(takers_, &post) != takers_.end()) continue;
    return cancel(post, now);
  }
  return false;
}

void Node::peek(Program& program, Instant now) {
  const uint8_t how = program.u8();
  ses::ReceiveRequest filter;
  filter.tagged = (how & 1) != 0;
  filter.ignore = ~uint64_t{0};
  const uint32_t slot = (how >> 1) % kSlots;
  const bool claims = (how & 0x80) != 0 && claim_ == 0;
  const ses::Peeked found = fep_->ses().claims().peek(endpoints_[slot], filter, claims, now);
  if (!claims || !found.found) return;
  claim_ = found.claim;
  claim_slot_ = slot;
}

void Node::end_claim(Instant now) {
  const uint32_t claim = std::exchange(claim_, 0);
  if (claim != 0) fep_->ses().claims().discard(endpoints_[claim_slot_], claim, now);
}

void Node::discard_kept(Instant now) {
  ses::ReceiveRequest all;
  all.ignore = ~uint64_t{0};
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    for (const bool tagged : {false, true}) {
      all.tagged = tagged;
      for (uint32_t n = 0; n < fep_->config().ses.unexpected_messages; ++n) {
        const ses::Peeked found =
            fep_->ses().claims().peek(endpoints_[slot], all, /*claim=*/true, now);
        if (!found.found) break;
        fep_->ses().claims().discard(endpoints_[slot], found.claim, now);
      }
    }
  }
}

void Node::close_endpoint(uint32_t slot, Instant now) {
  if (claim_slot_ == slot && !shares(slot)) claim_ = 0;  // may be a message of the other, shared
  fep_->ses().close_endpoint(endpoints_[slot], now);
  ledger_.check_closed(index_, slot);
  open_endpoint(slot);
}

void Node::renew_region(uint32_t which) {
  static constexpr uint32_t kRights[kRegions] = {ses::kRemoteRead,
                                                 ses::kRemoteRead | ses::kRemoteWrite,
                                                 ses::kRemoteRead | ses::kRemoteWrite, 0};
  Region& region = regions_[index_][which];
  ses::MemoryRegions& memory = fep_->ses().memory();
  if (region.id != ses::RegionId{}) memory.remove(region.id);
  region.room.check_guards();
  const uint32_t pattern = 1000 + index_ * kRegions + which;
  const uint32_t generation = region.generation + 1;
  region = {};
  region.generation = generation;
  region.pattern = pattern;
  region.room = Room(kRegionBytes);
  region.room.fill(pattern);
  const std::span<std::byte> octets = region.room.octets();
  const IoSlice halves[] = {{octets.data(), kRegionBytes / 2},
                            {octets.data() + kRegionBytes / 2, kRegionBytes / 2}};
  ses::RegionRequest request;
  request.iov = halves;
  request.access = kRights[which];
  request.idempotent_safe = which < static_cast<uint32_t>(RegionUse::ordered);
  request.optimized = which == static_cast<uint32_t>(RegionUse::target);
  region.id = *memory.add(request);
  memory.enable(region.id);
  region.key = memory.key(region.id);
}

void Node::receive(std::span<RxDatagram> datagrams, Instant now) {
  for (RxDatagram datagram : datagrams) {
    // A block of exactly this size, so that a sanitizer sees one octet too far.
    const auto octets = std::make_unique<std::byte[]>(datagram.bytes.size());
    std::ranges::copy(datagram.bytes, octets.get());
    datagram.bytes = {octets.get(), datagram.bytes.size()};
    fep_->receive({&datagram, 1}, now);
  }
}

void Node::advance(Instant now) {
  fep_->advance(now);
  UET_ASSERT(fep_->next_deadline() > now);
}

void Node::check() const {
  const pds::Config& config = fep_->config().pds;
  const pds::Usage usage = fep_->pds().usage();
  UET_ASSERT(usage.pdcs <= config.max_pdcs);
  UET_ASSERT(usage.stored_responses <= config.gd_entries + config.gd_extra());
  UET_ASSERT(usage.reordered_packets <= config.reorder_packets);
  UET_ASSERT(usage.return_messages <= config.return_messages);
  UET_ASSERT(usage.rudi_packets <= config.rudi_packets);
  UET_ASSERT(usage.rudi_answers <= config.rudi_answers);
  UET_ASSERT(fep_->ses().memory().size() == kRegions);
}

}  // namespace uet::fuzz

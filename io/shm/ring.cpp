// Writing and reading a ring. Each side keeps its own position; the position of the other side is
// checked, because a broken or hostile process may write any value there.
#include "io/shm/ring.h"

#include "base/assert.h"

#include <cstring>
#include <type_traits>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace uet::io {

// Marks that a cell holds the packet of a position. Zero memory holds none.
using Turn = uint32_t;

struct ShmCell {
  struct Description {
    uint32_t bytes;
    uint32_t place;  // in the memory for long packets; kInCell
    int64_t sent_ns;
    uint16_t ev;
    uint8_t tos;
    uint8_t unused[5];
  };
  alignas(64) Turn turn;
  uint32_t unused;
  Description description;
  std::byte octets[kShmInlineBytes];
};
static_assert(sizeof(ShmCell) == kShmCellBytes);

// Each word has a separate cache line.
struct ShmPositions {
  alignas(64) uint32_t head;    // packets that the reader is done with
  alignas(64) uint32_t asleep;  // 1: the reader sleeps; the writer takes it back and wakes it
};
static_assert(sizeof(ShmPositions) <= kShmHeadBytes);
static_assert(kShmRingBytes == kShmHeadBytes + kShmCells * sizeof(ShmCell) + kShmDataBytes);

namespace {

constexpr uint32_t kInCell = UINT32_MAX;
constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kLine = 64;
// With more than this written since it was empty, it is worth asking whether it is empty again.
constexpr uint64_t kWarmBytes = 64 * 1024;

using Word = std::atomic_ref<uint32_t>;

ShmPositions& positions_of(std::byte* memory) { return *reinterpret_cast<ShmPositions*>(memory); }
ShmCell* cells_of(std::byte* memory) { return reinterpret_cast<ShmCell*>(memory + kShmHeadBytes); }
std::byte* data_of(std::byte* memory) {
  return memory + kShmHeadBytes + size_t{kShmCells} * kShmCellBytes;
}

Turn turn_of(uint32_t position) { return position + 1; }

// Both ends of a ring can be in one process, which then maps the memory twice. To ThreadSanitizer
// these are different words, so annotations must show the synchronisation.
#if defined(__SANITIZE_THREAD__)
char given;
void note_given() { __tsan_release(&given); }
void note_taken() { __tsan_acquire(&given); }
#else
void note_given() {}
void note_taken() {}
#endif

void gather(const TxPacket& packet, std::byte* to) {
  std::memcpy(to, packet.header, packet.header_bytes);
  to += packet.header_bytes;
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    std::memcpy(to, packet.slices[i].data, packet.slices[i].length);
    to += packet.slices[i].length;
  }
}

}  // namespace

ShmRingWriter::ShmRingWriter(std::byte* memory)
    : positions_(positions_of(memory)), cells_(cells_of(memory)), data_(data_of(memory)) {}

// False: the reader claims to have read unwritten data, or less than before.
bool ShmRingWriter::learn_head() {
  const uint32_t head = Word(positions_.head).load(std::memory_order_acquire);
  note_taken();
  if (head - head_ > tail_ - head_) return false;
  if (head != head_) data_head_ = data_ends_[(head - 1) % kShmCells];
  head_ = head;
  if (head_ == tail_) data_head_ = data_tail_ = 0;
  return true;
}

void ShmRingWriter::begin() {
  // An invalid position shows in put(), which then finds no room.
  if (data_tail_ > kWarmBytes) (void)learn_head();
}

uint32_t ShmRingWriter::place(uint32_t bytes) {
  const uint32_t needed = (bytes + kLine - 1) / kLine * kLine;
  const auto at = static_cast<uint32_t>(data_tail_ % kShmDataBytes);
  const uint32_t skipped = at + needed > kShmDataBytes ? kShmDataBytes - at : 0;
  if (data_tail_ + skipped + needed - data_head_ > kShmDataBytes) return kNone;
  data_tail_ += skipped + needed;
  return skipped != 0 ? 0 : at;
}

ShmPut ShmRingWriter::put(const TxPacket& packet, Instant now) {
  const uint32_t bytes = packet.bytes();
  UET_ASSERT(bytes <= kShmPacketBytesMax);
  if (tail_ - head_ == kShmCells) {
    if (!learn_head()) return ShmPut::broken;
    if (tail_ - head_ == kShmCells) return ShmPut::full;
  }
  uint32_t at = kInCell;
  if (bytes > kShmInlineBytes) {
    at = place(bytes);
    if (at == kNone) {
      if (!learn_head()) return ShmPut::broken;
      at = place(bytes);
      if (at == kNone) return ShmPut::full;
    }
  }
  ShmCell& cell = cells_[tail_ % kShmCells];
  gather(packet, at == kInCell ? cell.octets : data_ + at);
  const auto tos = static_cast<uint8_t>(packet.dscp << 2 | static_cast<uint8_t>(packet.ecn));
  cell.description = {bytes, at, now.ns(), packet.ev.value(), tos, {}};
  data_ends_[tail_ % kShmCells] = data_tail_;
  note_given();
  Word(cell.turn).store(turn_of(tail_), std::memory_order_release);
  ++tail_;
  return ShmPut::done;
}

bool ShmRingWriter::end() {
  shm_fence();
  Word asleep(positions_.asleep);
  if (asleep.load(std::memory_order_relaxed) == 0) return false;
  return asleep.exchange(0, std::memory_order_acq_rel) != 0;
}

ShmRingReader::ShmRingReader(std::byte* memory)
    : positions_(positions_of(memory)), cells_(cells_of(memory)), data_(data_of(memory)) {}

bool ShmRingReader::has_packet() const {
  return Word(cells_[next_ % kShmCells].turn).load(std::memory_order_acquire) == turn_of(next_);
}

ShmTake ShmRingReader::take(ShmPacket& packet) {
  // A writer that overtakes the reader corrupts the data being read; it harms no other process.
  if (next_ - released_ == kShmCells || !has_packet()) return ShmTake::none;
  note_taken();
  ShmCell& cell = cells_[next_ % kShmCells];
  ShmCell::Description description;
  std::memcpy(&description, &cell.description, sizeof description);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the copy alone is looked at
  const uint32_t bytes = description.bytes;
  packet.is_short = description.place == kInCell;
  if (packet.is_short) {
    if (bytes > kShmInlineBytes) return ShmTake::broken;
    packet.octets = {cell.octets, bytes};
  } else {
    const uint32_t place = description.place;
    if (bytes > kShmPacketBytesMax || place % kLine != 0 || place >= kShmDataBytes ||
        bytes > kShmDataBytes - place) {
      return ShmTake::broken;
    }
    packet.octets = {data_ + place, bytes};
  }
  packet.sent = Instant::from_ns(description.sent_ns);
  packet.ev = Entropy(description.ev);
  packet.dscp = description.tos >> 2;
  packet.ecn = static_cast<Ecn>(description.tos & 3);
  ++next_;
  return ShmTake::packet;
}

void ShmRingReader::release() {
  if (released_ == next_) return;
  released_ = next_;
  note_given();
  Word(positions_.head).store(next_, std::memory_order_release);
}

void ShmRingReader::set_asleep(bool asleep) {
  Word word(positions_.asleep);
  if ((word.load(std::memory_order_relaxed) != 0) == asleep) return;
  word.store(asleep ? 1 : 0, std::memory_order_relaxed);
}

bool ShmRingReader::is_called() const {
  return Word(positions_.asleep).load(std::memory_order_relaxed) == 0;
}

}  // namespace uet::io

// The entropy values of one congestion context: a run of them, named by their index in the run.
// Where the run begins is random for each context. A backend with few ports takes an EV modulo its
// ports; the run begins at a multiple of its length, so that every port has its EV, and an EV
// leads back to its index. [CMS-149, CMS-156, CMS-157]
#pragma once

#include "cms/config.h"

#include "base/rng.h"
#include "base/serial.h"

#include <bit>
#include <optional>

namespace uet::cms {

inline constexpr uint32_t kTrackedEntropyMax = 256;  // EVs with separate state [CMS-157]

class EntropyRange {
 public:
  // limit: of the number of values, 1-65536. Fewer than `entropy_values` are used when the planes
  // would not have the same number each.
  EntropyRange(const Config& config, uint32_t limit, Rng& rng) {
    const uint32_t wanted = std::clamp<uint32_t>(config.entropy_values, 1, kEntropyCount);
    size_ = std::clamp<uint32_t>(limit, 1, wanted);
    planes_ = static_cast<uint8_t>(std::clamp<uint32_t>(config.entropy.planes, 1, kPlanesMax));
    if (planes_ > size_) planes_ = static_cast<uint8_t>(size_);
    size_ -= size_ % planes_;
    if (config.entropy.random_upper_bits) first_ = size_ * place(config.entropy, rng);
  }

  // The number of values that a context uses whose choice follows feedback: an EV without
  // congestion comes again within about `reuse_rtts` round trips. [CMS-153, CMS-157]
  static uint32_t tracked(const Config& config) {
    constexpr uint64_t kFewest = 16;  // a slow link has as many paths as a fast one
    if (config.entropy.reuse_rtts == 0) return kTrackedEntropyMax;
    const uint64_t packets = config.bdp_bytes() * config.entropy.reuse_rtts / config.mtu_bytes;
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(std::bit_floor(packets), kFewest, kTrackedEntropyMax));
  }

  uint32_t size() const { return size_; }
  uint32_t planes() const { return planes_; }
  Entropy at(uint32_t index) const {
    UET_ASSERT(index < size_);
    return Entropy(static_cast<uint16_t>(first_ + index));
  }
  // Nothing: this context does not send that EV.
  std::optional<uint32_t> index_of(Entropy ev) const {
    const uint32_t index = uint32_t{ev.value()} - first_;
    if (index >= size_) return std::nullopt;
    return index;
  }
  // The port that an EV leaves by: EVs are dealt to the planes in turn, and an EV modulo `planes`
  // is the plane as well. [CMS-156]
  uint32_t plane_of(uint32_t index) const { return index % planes_; }

 private:
  static constexpr uint32_t kEntropyCount = 65536;
  static constexpr uint32_t kPlanesMax = 32;  // bits of a mask

  // One of the runs without excluded values, by its number; 0 when there is none.
  uint32_t place(const EntropyConfig& config, Rng& rng) const {
    const uint32_t runs = kEntropyCount / size_;
    const uint32_t left_out = std::min<uint32_t>(config.left_out_first / size_, runs);
    const uint32_t following = std::clamp(config.left_out_last / size_ + 1, left_out, runs);
    const uint32_t count = runs - (following - left_out);
    if (count == 0) return 0;
    const auto drawn = static_cast<uint32_t>(rng.below(count));
    return drawn < left_out ? drawn : drawn + (following - left_out);
  }

  uint32_t size_;       // 1-65536, a multiple of planes_
  uint32_t first_ = 0;  // a multiple of size_
  uint8_t planes_;
};

}  // namespace uet::cms

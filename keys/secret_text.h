// Text in memory for secrets, of a size that is known before it is read. Overwritten when it goes.
#pragma once

#include "keys/secret_memory.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace uet::keys {

class SecretText {
 public:
  SecretText() = default;
  // All octets 0. Throws std::bad_alloc when the system has no memory.
  explicit SecretText(size_t bytes)
      : memory_(bytes == 0 ? nullptr : std::make_unique<SecretMemory>(bytes)), bytes_(bytes) {}

  // To be written to; valid as long as this object, also when that is moved.
  std::span<char> octets() {
    if (memory_ == nullptr) return {};
    return {reinterpret_cast<char*>(memory_->octets().data()), bytes_};
  }
  std::string_view view() const {
    if (memory_ == nullptr) return {};
    return {reinterpret_cast<const char*>(memory_->octets().data()), bytes_};
  }
  // Keeps the first `bytes`, at most the present ones.
  void shorten(size_t bytes) { bytes_ = bytes; }

 private:
  std::unique_ptr<SecretMemory> memory_;  // null: empty
  size_t bytes_ = 0;
};

}  // namespace uet::keys

// Values in a case: numbers, durations, addresses, variables and sums of them.
#pragma once

#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uet::conformance {

// Decimal, or hexadecimal with 0x.
std::optional<uint64_t> number_of(std::string_view text);

// A number with ns, us, ms or s behind it.
std::optional<Duration> duration_of(std::string_view text);
std::string duration_text(Duration duration);

// 10.0.0.1, 10.0.0.1:50000, fd00::1, [fd00::1]:50000; the port is 4793 if not given.
std::optional<FabricAddress> address_of(std::string_view text);
std::string address_text(const FabricAddress& address);

// The variables of a case. Variables set inside a block are forgotten at its end.
class Variables {
 public:
  void set(std::string_view name, uint64_t value);
  std::optional<uint64_t> get(std::string_view name) const;
  void begin_block() { blocks_.emplace_back(); }
  void end_block() { blocks_.pop_back(); }

  // $name, or a sum of numbers and variables: $psn+3, $a-$b, 5. Arithmetic is that of 64 bits, and
  // wraps. Nothing, and the error, for any other text or a variable without a value.
  std::optional<uint64_t> evaluate(std::string_view text, std::string& problem) const;

  // The text with the values of the variables in place of $name.
  std::string interpolate(std::string_view text, std::string& problem) const;

 private:
  using Block = std::map<std::string, uint64_t, std::less<>>;
  std::vector<Block> blocks_ = std::vector<Block>(1);
};

// The name in "$name", if the text is that and no more; else empty.
std::string_view variable_in(std::string_view text);

}  // namespace uet::conformance

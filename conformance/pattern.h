// Packets that a case expects, as text: names of headers, fields that matter, captures. And packets
// that it makes, with the values of variables in them.
#pragma once

#include "conformance/host.h"
#include "conformance/values.h"

#include "wire/field.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uet::conformance {

// A field, or a part around the headers, and its condition.
struct Condition {
  enum class Kind : uint8_t {
    is,        // field=value, or a bit by its name
    is_not,    // field!=value
    is_within  // field=low..high
  };
  std::string field;
  Kind kind = Kind::is;
  std::string value;
  std::string high;
  bool is_word = false;  // without "="
};

// field=value and its other forms. A word without "=" is a bit that is set.
Condition condition_of(std::string_view word);

struct HeaderPattern {
  std::vector<std::string> names;  // any of them
  std::vector<Condition> conditions;
};

class PacketPattern {
 public:
  // Takes the text after the first bar; empty: any packet. Names, fields and codes must exist.
  // Returns the error, or nothing.
  std::string take_headers(std::string_view text);
  // ev=, dscp=, ecn=, sdi=, octets=. False: no such option.
  bool take_option(std::string_view word);

  // Why the packet does not match, or nothing when it does; then variables that had no value get
  // theirs. `problem` is set when the pattern itself is wrong.
  std::string mismatch(const Datagram& packet, Variables& variables, std::string& problem) const;

 private:
  std::vector<Condition> options_;
  std::vector<HeaderPattern> headers_;
  bool ends_after_headers_ = false;     // NONE: no further header
  std::optional<std::string> payload_;  // words of octets; "?N": any N octets
};

// Whether the value satisfies the condition; a variable without a value gets it. Sums wrap in the
// bits of the field, and constants may be names of its codes; null: 64 bits and no codes.
bool meets(const Condition& condition, uint64_t value, const wire::Field* field,
           Variables& variables, std::string& problem);

// Octets from words, with variables in them. Returns the error, or nothing.
std::string octets_of(std::string_view text, const Variables& variables, Octets& out);

// The text of headers with the values of variables in place of the sums in it, fitted to the
// fields.
std::string with_values(std::string_view text, const Variables& variables, std::string& problem);

// The packet in the case language, with its direction, time and surroundings.
std::string describe(const Datagram& packet);

// The first difference between octets, or nothing.
std::string difference(const Octets& wanted, const Octets& found);

}  // namespace uet::conformance

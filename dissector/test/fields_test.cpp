// SPDX-License-Identifier: GPL-2.0-or-later
// The fields that the plugin registers against the lists of fields of wire/: the same names and
// widths, and no field on one side only, except those listed here with the reason. The test takes
// the place of Wireshark, and gets the rows of the field tables itself.
#include "dissector/fields_pds.h"
#include "dissector/names.h"

#include "wire/fields.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

// No dissection runs here, so there is no such memory: null means the process's memory.
extern "C" wmem_allocator_t* wmem_epan_scope(void) { return nullptr; }

namespace uet::dissector {

namespace {

std::vector<hf_register_info> registered;

}  // namespace

void register_rows(int /*protocol*/, std::span<hf_register_info> rows) {
  registered.insert(registered.end(), rows.begin(), rows.end());
}

namespace {

struct Kind {
  unsigned bits = 0;  // 0: octets
  bool is_signed = false;
  bool has_names = false;
  auto operator<=>(const Kind&) const = default;
};
using Kinds = std::map<std::string, std::set<Kind>>;  // a name may have two widths

std::string text_of(const std::set<Kind>& kinds) {
  std::string text;
  for (const Kind& kind : kinds) {
    text += std::to_string(kind.bits) + (kind.is_signed ? " signed" : "") +
            (kind.has_names ? " named; " : "; ");
  }
  return text;
}

// Filters of the plugin that stand for no field of the lists.
const std::map<std::string, std::string> kOnlyInPlugin = {
    {"uet.trimmed", "shown by the DSCP"},
    {"uet.payload", "octets behind the headers"},
    {"uet.surplus", "octets behind the headers"},
    {"uet.crc", "the trailer"},
    {"uet.crc.status", "what the plugin found out"},
    {"uet.joined.count", "about the capture"},
    {"uet.joined.number", "about the capture"},
    {"uet.entropy.rsvd", "reserved"},
    {"uet.tss.rsvd", "reserved"},
    {"uet.tss.ciphertext", "octets behind the header"},
    {"uet.tss.icv", "octets behind the header"},
    {"uet.tss.icv.status", "what the plugin found out"},
    {"uet.tss.key_line", "about the key file"},
    {"uet.tss.rekey", "derived from the counter by the key schedule"},
    {"uet.tss.nonce", "derived from SSI and counter by the key schedule"},
    {"uet.tss.plaintext", "octets behind the header"},
    {"uet.tss.analysis.epochs_behind", "follows from several packets"},
    {"uet.tss.analysis.same_nonce_frame", "follows from several packets"},
    {"uet.pds.flags", "all flags together"},
    {"uet.pds.flags.rsvd", "reserved"},
    {"uet.pds.pdc_info.rsvd", "reserved"},
    {"uet.pds.rsvd", "reserved"},
    {"uet.pds.negotiation", "octets behind the control packet"},
    {"uet.pds.mp_range", "mpr in packets"},
    {"uet.pds.service_time_ns", "service_time in another unit"},
    {"uet.ses.rsvd", "reserved"},
    {"uet.ses.sem_ctl.cacheable", "a bit of sem_ctl, which the list has whole"},
    {"uet.ses.sem_ctl.coherent", "a bit of sem_ctl, which the list has whole"},
    {"uet.ses.sem_ctl.rsvd", "reserved"},
    {"uet.ses.sem_ctl.vendor", "bits of sem_ctl, which the list has whole"},
};

// Bits of a value of that type, and whether it has a sign.
Kind kind_of(ftenum type) {
  switch (type) {
    case FT_BOOLEAN:
      return {1};
    case FT_UINT8:
      return {8};
    case FT_UINT16:
      return {16};
    case FT_UINT24:
      return {24};
    case FT_UINT32:
      return {32};
    case FT_UINT48:
      return {48};
    case FT_UINT64:
      return {64};
    case FT_INT16:
      return {16, true};
    default:
      return {};
  }
}

Kinds plugin_fields() {
  registered.clear();
  field::register_uet();
  field::tss::register_fields();
  field::pds::register_fields();
  field::ses::register_fields();
  Kinds out;
  for (const hf_register_info& row : registered) {
    const header_field_info& field = row.hfinfo;
    Kind kind = kind_of(field.type);
    if (field.bitmask != 0) kind.bits = static_cast<unsigned>(std::popcount(field.bitmask));
    kind.has_names = (field.display & BASE_EXT_STRING) != 0;
    out[field.abbrev].insert(kind);
  }
  return out;
}

void add(Kinds& out, const std::string& layer, const wire::FieldList& fields) {
  for (const wire::Field& f : fields) {
    const unsigned bits = f.meaning == wire::Meaning::octets ? 0 : f.bits;
    out[layer + "." + std::string(f.name)].insert(
        {bits, f.is_signed, f.meaning == wire::Meaning::code});
  }
}

// Every alternative of a variant of headers except the first, which stands for no header.
template <class Headers, size_t... index>
void add_all(Kinds& out, const std::string& layer, std::index_sequence<index...>) {
  (add(out, layer, wire::fields_of(Headers(std::in_place_index<index + 1>))), ...);
}
template <class Headers>
void add_all(Kinds& out, const std::string& layer) {
  add_all<Headers>(out, layer, std::make_index_sequence<std::variant_size_v<Headers> - 1>());
}

Kinds listed_fields() {
  Kinds out;
  add(out, "uet", wire::fields_of(wire::EntropyHeader{}));
  add(out, "uet.tss", wire::fields_of(wire::TssHeader{}));
  add_all<wire::PdsHeader>(out, "uet.pds");
  add_all<wire::SesHeader>(out, "uet.ses");
  add_all<wire::SesExtension>(out, "uet.ses");
  return out;
}

TEST(FieldsTest, EveryFieldOfTheListsIsRegisteredWithItsWidth) {
  const Kinds plugin = plugin_fields();
  const Kinds listed = listed_fields();
  EXPECT_GE(listed.size(), 90U);
  for (const auto& [name, kinds] : listed) {
    const auto found = plugin.find(name);
    ASSERT_NE(found, plugin.end()) << name << " is not registered";
    EXPECT_EQ(text_of(found->second), text_of(kinds)) << name;
  }
}

TEST(FieldsTest, EveryRegisteredFieldIsListedOrHasAReason) {
  const Kinds plugin = plugin_fields();
  const Kinds listed = listed_fields();
  for (const auto& [name, kinds] : plugin) {
    EXPECT_NE(listed.contains(name), kOnlyInPlugin.contains(name)) << name;
  }
  for (const auto& [name, reason] : kOnlyInPlugin) {
    EXPECT_TRUE(plugin.contains(name)) << name << " (" << reason << ") is not registered";
  }
}

}  // namespace
}  // namespace uet::dissector

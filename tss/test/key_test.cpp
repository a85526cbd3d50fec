// Key lines, good and bad; the legal values of a field are written out by hand from the reference.
#include "tss/key.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::tss {
namespace {

const std::string kSecret(64, '7');

std::string problem_of(const std::string& line) {
  const KeyLine parsed = parse_key_line(line);
  EXPECT_FALSE(parsed.key.has_value()) << line;
  if (parsed.problem == nullptr) return "";
  return parsed.field.empty() ? parsed.problem : std::string(parsed.field) + ": " + parsed.problem;
}

TEST(KeyLineTest, ACommentIsNeitherAKeyNorAnError) {
  for (const char* text : {"", "   \t", "# sdi=1", "  # anything", "\r"}) {
    const KeyLine parsed = parse_key_line(text);
    EXPECT_FALSE(parsed.key.has_value());
    EXPECT_EQ(parsed.problem, nullptr);
  }
}

// [TSS-024, TSS-037] The defaults of fields that the line lacks.
TEST(KeyLineTest, MissingFieldsHaveTheirDefaults) {
  const KeyLine parsed = parse_key_line("an=1 mode=cluster key=" + kSecret + " sdi=0xabcdef  # x");
  ASSERT_TRUE(parsed.key.has_value()) << parsed.problem;
  Key expected;
  expected.sdi = 0xABCDEF;
  expected.an = true;
  expected.mode = Mode::cluster;
  expected.secret.fill(std::byte{0x77});
  expected.clear_bytes = 0;
  expected.rekey_mask = 0x0000FFFF00000000;
  expected.rekey_shift = 32;
  expected.kdf_ssi_v6 = SsiContext::address;
  EXPECT_TRUE(*parsed.key == expected);
}

TEST(KeyLineTest, EveryFieldIsTaken) {
  const KeyLine parsed =
      parse_key_line("sdi=1 an=0 mode=cluster key=" + kSecret +
                     " clear=12 rekey_mask=0xff00 rekey_shift=8 kdf_ssi_v6=ssi epoch=7");
  ASSERT_TRUE(parsed.key.has_value()) << parsed.problem;
  EXPECT_EQ(parsed.key->clear_bytes, 12);
  EXPECT_EQ(parsed.key->rekey_mask, 0xFF00U);
  EXPECT_EQ(parsed.key->rekey_shift, 8);
  EXPECT_EQ(parsed.key->kdf_ssi_v6, SsiContext::ssi);
  EXPECT_EQ(parsed.key->epoch, 7);
}

// [TSS-031] SDK and IV mask of one client, in one epoch.
TEST(KeyLineTest, AClientHasItsIvMaskBehindItsKey) {
  const KeyLine parsed =
      parse_key_line("sdi=1 an=0 mode=client epoch=0 key=" + kSecret + "0102030405060708090a0b0c");
  ASSERT_TRUE(parsed.key.has_value()) << parsed.problem;
  for (size_t i = 0; i < kIvMaskBytes; ++i) {
    EXPECT_EQ(parsed.key->iv_mask[i], static_cast<std::byte>(i + 1));
  }
  EXPECT_EQ(parsed.key->secret[31], std::byte{0x77});
}

// [TSS-024, TSS-031, TSS-032, TSS-037]
TEST(KeyLineTest, EachMistakeIsNamed) {
  const std::string good = "sdi=1 an=0 mode=direct key=" + kSecret;
  ASSERT_TRUE(parse_key_line(good).key.has_value());
  const std::string needs = "a key needs sdi, an, mode and key";
  const std::string digits = "key is 64 hexadecimal digits, with mode client 88";
  EXPECT_EQ(problem_of("sdi=1 an=0 mode=direct"), needs);
  EXPECT_EQ(problem_of("an=0 mode=direct key=" + kSecret), needs);
  EXPECT_EQ(problem_of("sdi=1 mode=direct key=" + kSecret), needs);
  EXPECT_EQ(problem_of("sdi=1 an=0 key=" + kSecret), needs);
  EXPECT_EQ(problem_of(good + " word"), "word: a word is FIELD=VALUE");
  EXPECT_EQ(problem_of(good + " tag=1"), "tag: there is no such field");
  EXPECT_EQ(problem_of(good + " an=1"), "an: a field is given once");
  EXPECT_EQ(problem_of("sdi=16777216"), "sdi: sdi is a number of 24 bits");
  EXPECT_EQ(problem_of("sdi="), "sdi: sdi is a number of 24 bits");
  EXPECT_EQ(problem_of("sdi=0x"), "sdi: sdi is a number of 24 bits");
  EXPECT_EQ(problem_of("sdi=1x"), "sdi: sdi is a number of 24 bits");
  EXPECT_EQ(problem_of("an=2"), "an: an is 0 or 1");
  EXPECT_EQ(problem_of("mode=domain"), "mode: mode is direct, cluster, server or client");
  EXPECT_EQ(problem_of("key=12"), "key: " + digits);
  EXPECT_EQ(problem_of(good + "77"), "key: " + digits);
  EXPECT_EQ(problem_of("key=" + std::string(63, '7') + "g"), "key: " + digits);
  EXPECT_EQ(problem_of("sdi=1 an=0 mode=direct key=" + kSecret + std::string(24, '1')), digits);
  EXPECT_EQ(problem_of("sdi=1 an=0 mode=client epoch=0 key=" + kSecret), digits);
  EXPECT_EQ(problem_of(good + " clear=11"), "clear: clear is 0, or 12 to 64");
  EXPECT_EQ(problem_of(good + " clear=65"), "clear: clear is 0, or 12 to 64");
  EXPECT_EQ(problem_of(good + " rekey_shift=64"), "rekey_shift: rekey_shift is 0 to 63");
  EXPECT_EQ(problem_of(good + " rekey_shift=8"), "only mode cluster has rekey_mask, rekey_shift");
  EXPECT_EQ(problem_of(good + " rekey_mask=x"), "rekey_mask: rekey_mask is a number of 64 bits");
  EXPECT_EQ(problem_of(good + " kdf_ssi_v6=v6"), "kdf_ssi_v6: kdf_ssi_v6 is address or ssi");
  EXPECT_EQ(problem_of(good + " epoch=65536"), "epoch: epoch is a number of 16 bits");
  EXPECT_EQ(problem_of("sdi=1 an=0 mode=client key=" + kSecret + std::string(24, '1')),
            "mode client needs epoch: what it has is derived for one");
}

// Random contents of a file: no crash, and a key only from a whole line.
TEST(KeyLineTest, NoBeginningOfALineIsAKeyBeforeItsLastDigit) {
  const std::string line = "sdi=1 an=0 mode=direct key=" + kSecret;
  for (size_t length = 0; length < line.size(); ++length) {
    EXPECT_FALSE(parse_key_line(std::string_view(line).substr(0, length)).key.has_value());
  }
}

}  // namespace
}  // namespace uet::tss

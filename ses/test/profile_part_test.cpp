// The table of profiles alone, against the reference. [ses.md 8]
#include "ses/profile.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::ses {
namespace {

// "O" optional, "M" mandatory, "-" absent.
char letter(uint8_t profiles, Feature f) {
  return "-OM"[static_cast<unsigned>(support(profiles, f))];
}

// The letters of the three columns of the reference.
std::string letters(Feature f) { return {letter(kAiBase, f), letter(kAiFull, f), letter(kHpc, f)}; }

// [SES-185] Read off the table of the reference by hand.
TEST(ProfilePartTest, TheLettersAreThoseOfTheReference) {
  EXPECT_EQ(letters(Feature::rudi), "OOM");
  EXPECT_EQ(letters(Feature::read), "OMM");
  EXPECT_EQ(letters(Feature::tagged_send), "OMM");
  EXPECT_EQ(letters(Feature::tag_wildcards), "--M");
  EXPECT_EQ(letters(Feature::kept_messages), "-OM");
  EXPECT_EQ(letters(Feature::deferral), "-M-");
  EXPECT_EQ(letters(Feature::rendezvous), "OOM");
  EXPECT_EQ(letters(Feature::fetching_atomics), "OMM");
  EXPECT_EQ(letters(Feature::send_atomics), "--O");
  EXPECT_EQ(letters(Feature::mandatory), "MMM");
}

// [SES-185, SES-186] Several profiles require the maximum over them, and AI Base always counts.
TEST(ProfilePartTest, SeveralProfilesRequireTheirMaximum) {
  EXPECT_EQ(letter(kAiFull | kHpc, Feature::deferral), 'M');
  EXPECT_EQ(letter(kAiFull | kHpc, Feature::tag_wildcards), 'M');
  EXPECT_EQ(letter(kAiFull | kHpc, Feature::send_atomics), 'O');
  EXPECT_EQ(letter(kEveryProfile, Feature::rudi), 'M');
  EXPECT_EQ(letter(0, Feature::read), 'O');
  EXPECT_EQ(letter(0, Feature::deferral), '-');
  EXPECT_EQ(letter(kTakesSmallHeader, Feature::send_atomics), '-')
      << "that bit does not name a profile";
}

// [SES-187] The common subset; without capabilities, and beside all others, AI Base.
TEST(ProfilePartTest, TheCommonProfilesAreThoseOfBothEnds) {
  EXPECT_EQ(common_profiles(kEveryProfile, kHpc), kAiBase | kHpc);
  EXPECT_EQ(common_profiles(kAiBase | kAiFull, kAiBase | kHpc), kAiBase);
  EXPECT_EQ(common_profiles(kEveryProfile, 0), kAiBase);
  EXPECT_EQ(common_profiles(kEveryProfile, 0xFF), kEveryProfile);  // other bits are no profiles
}

// [SES-186, SES-103] The row of each opcode. Features that no row names are in every profile.
TEST(ProfilePartTest, EachOpcodeBelongsToARow) {
  using wire::SesOpcode;
  struct Case {
    SesOpcode opcode;
    Feature row;
  };
  const Case cases[] = {
      {SesOpcode::no_op, Feature::mandatory},
      {SesOpcode::write, Feature::mandatory},
      {SesOpcode::read, Feature::read},
      {SesOpcode::atomic, Feature::mandatory},
      {SesOpcode::fetching_atomic, Feature::fetching_atomics},
      {SesOpcode::send, Feature::mandatory},
      {SesOpcode::rendezvous_send, Feature::rendezvous},
      {SesOpcode::datagram_send, Feature::mandatory},
      {SesOpcode::deferrable_send, Feature::mandatory},
      {SesOpcode::tagged_send, Feature::tagged_send},
      {SesOpcode::rendezvous_tsend, Feature::rendezvous},
      {SesOpcode::deferrable_tsend, Feature::tagged_send},
      {SesOpcode::deferrable_rtr, Feature::deferral},
      {SesOpcode::tsend_atomic, Feature::send_atomics},
      {SesOpcode::tsend_fetch_atomic, Feature::send_atomics},
      {SesOpcode::msg_error, Feature::mandatory},
      {SesOpcode::extended, Feature::mandatory},
  };
  for (const Case& c : cases) EXPECT_EQ(feature_of(c.opcode), c.row) << wire::name(c.opcode);
  EXPECT_EQ(feature_of(SesOpcode{0x3B}), Feature::mandatory) << "a reserved one";
}

}  // namespace
}  // namespace uet::ses

// AES-GCM through the interface, against the published test cases of its authors (McGrew and Viega,
// which NIST took over), and what must not be accepted.
#include "tss/cipher.h"
#include "tss/test/vectors.h"

#include <gtest/gtest.h>

namespace uet::tss::test {
namespace {

struct GcmCase {
  const char* name;
  AeadKind kind;
  std::string key, nonce, aad, plaintext, ciphertext, icv;
};

const std::string kKey = "feffe9928665731c6d6a8f9467308308";
const std::string kNonce = "cafebabefacedbaddecaf888";
const std::string kAad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
const std::string kPlain60 =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const std::string kPlain64 = kPlain60 + "1aafd255";
const std::string kCipher128 =
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";
const std::string kCipher256 =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662";

std::string zeros(size_t octets) { return std::string(2 * octets, '0'); }

const GcmCase kCases[] = {
    {"1", AeadKind::aes_128_gcm, zeros(16), zeros(12), "", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {"2", AeadKind::aes_128_gcm, zeros(16), zeros(12), "", zeros(16),
     "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
    {"3", AeadKind::aes_128_gcm, kKey, kNonce, "", kPlain64, kCipher128 + "473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {"4", AeadKind::aes_128_gcm, kKey, kNonce, kAad, kPlain60, kCipher128,
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"13", AeadKind::aes_256_gcm, zeros(32), zeros(12), "", "", "",
     "530f8afbc74536b9a963b4f1c4cb738b"},
    {"14", AeadKind::aes_256_gcm, zeros(32), zeros(12), "", zeros(16),
     "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
    {"15", AeadKind::aes_256_gcm, kKey + kKey, kNonce, "", kPlain64, kCipher256 + "898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {"16", AeadKind::aes_256_gcm, kKey + kKey, kNonce, kAad, kPlain60, kCipher256,
     "76fc6ece0f4e1768cddf8853bb2d551b"},
};

Nonce nonce_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  Nonce nonce;
  std::copy(octets.begin(), octets.end(), nonce.begin());
  return nonce;
}

// A sealed packet: ciphertext and ICV behind each other.
Octets sealed(Aead& aead, const Nonce& nonce, const Octets& aad, std::span<const std::byte> head,
              std::span<const IoSlice> tail = {}) {
  size_t size = head.size();
  for (const IoSlice& slice : tail) size += slice.length;
  Octets out(size + kIcvBytes);
  const auto room = std::span(out);
  EXPECT_TRUE(
      aead.seal(nonce, aad, head, tail, room.first(size), room.subspan(size).first<kIcvBytes>()));
  return out;
}

bool unseal(Aead& aead, const Nonce& nonce, const Octets& aad, Octets& packet) {
  const auto room = std::span(packet);
  const size_t size = packet.size() - kIcvBytes;
  return aead.unseal(nonce, aad, room.first(size), room.subspan(size).first<kIcvBytes>());
}

// [TSS-026, TSS-134] The empty packet among them.
TEST(AeadTest, PacketsEqualThePublishedCases) {
  for (const GcmCase& c : kCases) {
    SCOPED_TRACE(c.name);
    Aead aead;
    ASSERT_TRUE(aead.create(c.kind).ok());
    ASSERT_TRUE(aead.set_key(octets_of(c.key)));
    const Octets plaintext = octets_of(c.plaintext);
    Octets packet = sealed(aead, nonce_of(c.nonce), octets_of(c.aad), plaintext);
    EXPECT_EQ(hex_of(packet), c.ciphertext + c.icv);
    ASSERT_TRUE(unseal(aead, nonce_of(c.nonce), octets_of(c.aad), packet));
    EXPECT_EQ(hex_of(packet), c.plaintext + c.icv);
  }
}

class LastCaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(aead_.create().ok());
    ASSERT_TRUE(aead_.set_key(octets_of(kKey + kKey)));
  }
  Octets packet() const { return octets_of(kCipher256 + "76fc6ece0f4e1768cddf8853bb2d551b"); }

  Aead aead_;
  const Nonce nonce_ = nonce_of(kNonce);
  const Octets aad_ = octets_of(kAad);
};

// One copy on the way out: the cipher gathers the pieces.
TEST_F(LastCaseTest, PiecesOfAnySizeGiveTheSamePacket) {
  const Octets plaintext = octets_of(kPlain60);
  for (size_t head = 0; head <= plaintext.size(); ++head) {
    for (const size_t second : {size_t{0}, size_t{1}, size_t{7}, size_t{16}}) {
      const size_t middle = std::min(second, plaintext.size() - head);
      const IoSlice tail[] = {{plaintext.data() + head, middle},
                              {nullptr, 0},
                              {plaintext.data() + head + middle, plaintext.size() - head - middle}};
      EXPECT_EQ(sealed(aead_, nonce_, aad_, std::span(plaintext).first(head), tail), packet());
    }
  }
}

// [TSS-027, TSS-131] A change in any bit of the ciphertext, the ICV or the authenticated data is
// detected. A refused packet contains no plaintext.
TEST_F(LastCaseTest, NoBitMayBeAnother) {
  const size_t bits = 8 * (packet().size() + aad_.size());
  const std::string nothing(2 * (packet().size() - kIcvBytes), '0');
  for (size_t bit = 0; bit < bits; ++bit) {
    Octets changed = packet();
    Octets aad = aad_;
    const auto mask = static_cast<std::byte>(1U << bit % 8);
    const size_t at = bit / 8;
    (at < changed.size() ? changed[at] : aad[at - changed.size()]) ^= mask;
    EXPECT_FALSE(unseal(aead_, nonce_, aad, changed)) << bit;
    EXPECT_EQ(hex_of(changed).substr(0, nothing.size()), nothing) << bit;
  }
  Octets good = packet();
  EXPECT_TRUE(unseal(aead_, nonce_, aad_, good)) << "a failure leaves no trace";
}

// [TSS-027] A shorter ICV is another ICV.
TEST_F(LastCaseTest, PacketsCutAnywhereAreRefused) {
  for (size_t size = kIcvBytes; size < packet().size(); ++size) {
    Octets cut = packet();
    cut.resize(size);
    EXPECT_FALSE(unseal(aead_, nonce_, aad_, cut)) << size;
  }
  Octets longer = packet();
  longer.push_back(std::byte{0});
  EXPECT_FALSE(unseal(aead_, nonce_, aad_, longer));
}

TEST_F(LastCaseTest, AnotherNonceOrKeyIsRefused) {
  for (size_t i = 0; i < nonce_.size(); ++i) {
    Nonce other = nonce_;
    other[i] ^= std::byte{1};
    Octets refused = packet();
    EXPECT_FALSE(unseal(aead_, other, aad_, refused));
  }
  ASSERT_TRUE(aead_.set_key(octets_of(zeros(32))));
  Octets refused = packet();
  EXPECT_FALSE(unseal(aead_, nonce_, aad_, refused));
}

// [TSS-081] The octets of a trimmed packet can be decrypted, but they are not verified.
TEST_F(LastCaseTest, TheBeginningCanBeReadWithoutTheRest) {
  for (const size_t size : {0U, 1U, 12U, 16U, 33U}) {
    Octets cut = packet();
    cut.resize(size);
    ASSERT_TRUE(aead_.decrypt_unverified(nonce_, cut));
    EXPECT_EQ(hex_of(cut), kPlain60.substr(0, 2 * size));
  }
}

// [TSS-136]
TEST_F(LastCaseTest, WithoutAKeyNothingIsSealedAndNothingOpened) {
  aead_.forget_key();
  Octets out = packet();
  EXPECT_FALSE(unseal(aead_, nonce_, aad_, out));
  out = packet();
  EXPECT_FALSE(aead_.decrypt_unverified(nonce_, out));
  EXPECT_EQ(hex_of(out), std::string(2 * out.size(), '0'));
  const Octets plaintext = octets_of(kPlain60);
  Icv icv;
  EXPECT_FALSE(aead_.seal(nonce_, aad_, plaintext, {}, std::span(out).first(60), icv));
  Aead never_created;
  EXPECT_FALSE(never_created.set_key(octets_of(kKey + kKey)));
  never_created.forget_key();
}

// 64 KiB and one octet more, in one piece and in many: more than any packet.
TEST_F(LastCaseTest, LargePacketsComeBack) {
  for (const size_t size : {size_t{8276}, size_t{65536}, size_t{65537}}) {
    Octets plaintext(size);
    for (size_t i = 0; i < size; ++i) plaintext[i] = static_cast<std::byte>(i * 7);
    Octets packet = sealed(aead_, nonce_, aad_, plaintext);
    std::vector<IoSlice> pieces;
    for (size_t at = 0; at < size; at += 511) {
      pieces.push_back({plaintext.data() + at, std::min<size_t>(511, size - at)});
    }
    EXPECT_EQ(packet, sealed(aead_, nonce_, aad_, {}, pieces));
    ASSERT_TRUE(unseal(aead_, nonce_, aad_, packet));
    packet.resize(size);
    EXPECT_EQ(packet, plaintext);
  }
}

TEST(BlockCipherTest, BlocksAreEncryptedSeparately) {
  // FIPS 197, C.3.
  BlockCipher cipher;
  ASSERT_TRUE(cipher.create().ok());
  const Octets key = octets_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  ASSERT_TRUE(cipher.set_key(std::span<const std::byte, kSdkBytes>(key)));
  const std::string plain = "00112233445566778899aabbccddeeff";
  Octets blocks = octets_of(plain + plain);
  ASSERT_TRUE(cipher.encrypt(blocks, blocks));
  const std::string secret = "8ea2b7ca516745bfeafc49904b496089";
  EXPECT_EQ(hex_of(blocks), secret + secret);
}

}  // namespace
}  // namespace uet::tss::test

// Key files: what is read, what is refused with which message, and the actions of a reload.
#include "keys/key_file.h"
#include "keys/changes.h"
#include "keys/test/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace uet::keys {
namespace {

const std::string kOne(64, '1');
const std::string kTwo(64, '2');

std::string domain(const std::string& more = "", const std::string& sdi = "7") {
  return "[[domain]]\nsdi = " + sdi + "\nmode = \"cluster\"\n" + more + "[[domain.key]]\nan = 0\n" +
         "secret = \"" + kOne + "\"\n";
}
std::string second_key() { return "[[domain.key]]\nan = 1\nsecret = \"" + kTwo + "\"\n"; }

KeyFile parse(const std::string& text) { return parse_key_file(text, "keys.toml"); }

std::string problem_of(const std::string& text) {
  try {
    parse(text);
  } catch (const KeyFileError& e) {
    EXPECT_EQ(std::string(e.what()).find("11111111"), std::string::npos) << "a secret is shown";
    return e.what();
  }
  return "";
}

// [TSS-037, TSS-051, TSS-054, TSS-077, TSS-105] The defaults of fields that the file lacks.
TEST(KeyFileTest, MissingFieldsHaveTheirDefaults) {
  const KeyFile file = parse(domain());
  ASSERT_EQ(file.domains.size(), 1u);
  const DomainEntry& one = file.domains[0];
  EXPECT_EQ(one.terms.sdi, 7u);
  EXPECT_EQ(one.terms.mode, tss::Mode::cluster);
  EXPECT_FALSE(one.terms.use_ssi);
  EXPECT_EQ(one.policy, tss::Policy::require);
  EXPECT_FALSE(one.transmit);
  EXPECT_EQ(one.terms.lifetime, Duration::seconds(86400));
  EXPECT_EQ(one.terms.forgeries_max, 1000u);
  ASSERT_EQ(one.keys.size(), 1u);
  tss::Key key;
  key.sdi = 7;
  key.mode = tss::Mode::cluster;
  key.secret.fill(std::byte{0x11});
  EXPECT_EQ(one.keys[0].key, key);
  EXPECT_TRUE(parse("").domains.empty());
}

TEST(KeyFileTest, EveryFieldIsTakenAndWrittenAgain) {
  const KeyFile file =
      parse(domain("ssi = 0x0a0b0c0d\npolicy = \"allow\"\njobs = [1, 2]\ntransmit = 1\nclear = 12\n"
                   "rekey_mask = 0xff00\nrekey_shift = 8\nkdf_ssi_v6 = \"ssi\"\nguard_s = 5\n"
                   "lifetime_s = 100\nrejects_late = false\nepoch_lifetime_max = 3\n"
                   "forgeries_max = 9\nforgery_action = \"latch\"\nstrict_direction = true\n"
                   "multi_counter = true\nclosing_s = 7\n") +
            second_key() + "created = 2026-11-26T01:02:03Z\nexpires = 2026-12-01T00:00:00+01:00\n");
  const DomainEntry& one = file.domains.at(0);
  EXPECT_EQ(one.terms.ssi, 0x0A0B0C0Du);
  EXPECT_EQ(one.policy, tss::Policy::allow);
  EXPECT_EQ(one.jobs, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(one.transmit);
  EXPECT_EQ(one.keys.at(1).key.clear_bytes, 12);
  EXPECT_EQ(one.keys[1].key.rekey_mask, 0xFF00u);
  EXPECT_EQ(one.keys[1].key.rekey_shift, 8);
  EXPECT_EQ(one.keys[1].key.kdf_ssi_v6, tss::SsiContext::ssi);
  EXPECT_EQ(one.terms.guard, Duration::seconds(5));
  EXPECT_EQ(one.terms.lifetime, Duration::seconds(100));
  EXPECT_FALSE(one.terms.rejects_late);
  EXPECT_EQ(one.terms.epoch_lifetime_max, 3);
  EXPECT_EQ(one.terms.forgeries_max, 9u);
  EXPECT_EQ(one.terms.forgery_action, tss::ForgeryAction::latch);
  EXPECT_TRUE(one.terms.strict_direction);
  EXPECT_TRUE(one.terms.is_multi_counter);
  EXPECT_EQ(one.terms.closing, Duration::seconds(7));
  EXPECT_EQ(one.keys[1].created, 1795654923);  // date -u -d 2026-11-26T01:02:03Z +%s
  EXPECT_EQ(one.keys[1].expires, 1796079600);  // date -d 2026-12-01T00:00:00+01:00 +%s
  const std::string text = text_of(file);
  EXPECT_EQ(text_of(parse(text)), text);
  EXPECT_EQ(parse(text).domains[0].keys, one.keys);
  EXPECT_TRUE(changes(file, parse(text)).empty());
}

// [TSS-145] Every limit is a field: its default, its minimum and maximum, and values one beyond
// these.
TEST(KeyFileTest, LimitsAreFields) {
  EXPECT_EQ(parse(domain()).limits, Limits());
  struct Row {
    const char* field;
    uint32_t Limits::*member;
    uint32_t min, max;
  };
  for (const Row& row :
       {Row{"domains", &Limits::domains, 1, 65536},
        Row{"ready_keys", &Limits::ready_keys, 2, 1048576},
        Row{"clients", &Limits::clients, 1, 1048576}, Row{"members", &Limits::members, 1, 1048576},
        Row{"sources", &Limits::sources, 1, 1048576},
        Row{"replay_packets", &Limits::replay_packets, 64, 1048576},
        Row{"derivations_per_second", &Limits::derivations_per_second, 1, 100'000'000},
        Row{"derivations_at_once", &Limits::derivations_at_once, 1, 1'000'000},
        Row{"secure_starts", &Limits::secure_starts, 1, 1048576},
        Row{"rebases_max", &Limits::rebases_max, 1, 255},
        Row{"trim_nacks_per_second", &Limits::trim_nacks_per_second, 1, 1'000'000}}) {
    const auto with = [&](int64_t value) {
      return "[limits]\n" + std::string(row.field) + " = " + std::to_string(value) + "\n";
    };
    for (const uint32_t value : {row.min, row.max}) {
      Limits expected;
      expected.*row.member = value;
      const KeyFile file = parse(with(value));
      EXPECT_EQ(file.limits, expected) << row.field;
      EXPECT_EQ(parse(text_of(file)).limits, expected) << row.field;
    }
    const std::string at = "keys.toml:2: " + std::string(row.field) + ": is ";
    EXPECT_EQ(problem_of(with(row.min - 1)), at + "at least " + std::to_string(row.min));
    EXPECT_EQ(problem_of(with(int64_t{row.max} + 1)),
              at + "a whole number from 0 to " + std::to_string(row.max));
  }
  EXPECT_EQ(problem_of("[limits]\nreplay_packets = 100\n"),
            "keys.toml:1: replay_packets: is a power of two");
  EXPECT_EQ(problem_of("[limits]\nmemory = 1\n"), "keys.toml:2: memory: there is no such limit");
}

// [TSS-147] The clients of a server with SSIs.
TEST(KeyFileTest, AServerListsItsClients) {
  const auto server = [](const std::string& clients, const std::string& mode = "server") {
    return "[[domain]]\nsdi = 7\nmode = \"" + mode + "\"\nclients = " + clients +
           "\n[[domain.key]]\nan = 0\nsecret = \"" + kOne + "\"\n";
  };
  const std::string two =
      "[{ address = \"10.0.0.5\", ssi = 5 }, { address = \"fd00::6\", ssi = 0x6 }]";
  const KeyFile file = parse(server(two));
  const DomainEntry& one = file.domains.at(0);
  EXPECT_TRUE(one.terms.use_ssi);
  EXPECT_TRUE(one.terms.has_clients);
  ASSERT_EQ(one.clients.size(), 2u);
  EXPECT_EQ(one.clients[0].address, wire::IpAddress::v4(0x0A000005));
  EXPECT_EQ(one.clients[1].address, *wire::parse_ip_address("fd00::6"));
  EXPECT_EQ(one.clients[1].ssi, 6u);
  EXPECT_EQ(text_of(parse(text_of(file))), text_of(file));
  EXPECT_TRUE(changes(file, parse(text_of(file))).empty());
  EXPECT_EQ(changes(file, parse(server("[]"))).size(), 1u) << "the list is a term";
  const std::string at = "keys.toml:4: clients: ";
  EXPECT_EQ(problem_of(server("5")), at + "is a list of clients");
  EXPECT_EQ(problem_of(server("[5]")), at + "each is { address = \"ADDRESS\", ssi = NUMBER }");
  EXPECT_EQ(problem_of(server("[{ address = \"x\", ssi = 5 }]")),
            "keys.toml:4: address: is an IP address");
  for (const char* const same :
       {"{ address = \"10.0.0.5\", ssi = 6 }", "{ address = \"10.0.0.6\", ssi = 5 }"}) {
    EXPECT_EQ(
        problem_of(server("[{ address = \"10.0.0.5\", ssi = 5 }, " + std::string(same) + "]")),
        at + "two have the same address or ssi");
  }
  EXPECT_EQ(problem_of(server("[]", "cluster")),
            "keys.toml:1: clients: only a domain of mode server has clients");
}

// [TSS-088] Members are the only sources that a domain accepts: addresses, or SSIs if it has them.
TEST(KeyFileTest, ADomainListsItsMembers) {
  const KeyFile file = parse(domain("members = [\"10.0.0.5\", \"fd00::6\"]\n"));
  const DomainEntry& one = file.domains.at(0);
  EXPECT_TRUE(one.terms.has_members);
  EXPECT_EQ(one.members, (std::vector{tss::Identity::of(wire::IpAddress::v4(0x0A000005)),
                                      tss::Identity::of(*wire::parse_ip_address("fd00::6"))}));
  EXPECT_EQ(text_of(parse(text_of(file))), text_of(file));
  EXPECT_TRUE(changes(file, parse(text_of(file))).empty());
  EXPECT_EQ(changes(file, parse(domain("members = []\n"))).size(), 1u) << "the list is a term";
  EXPECT_FALSE(parse(domain()).domains.at(0).terms.has_members) << "without a list all are taken";
  const KeyFile ssis = parse(domain("ssi = 1\nmembers = [1, 0x20]\n"));
  EXPECT_EQ(ssis.domains.at(0).members,
            (std::vector{tss::Identity::of(1), tss::Identity::of(0x20)}));
  EXPECT_EQ(text_of(parse(text_of(ssis))), text_of(ssis));
  const std::string at = "keys.toml:4: members: ";
  EXPECT_EQ(problem_of(domain("members = 5\n")), at + "is a list of sources");
  EXPECT_EQ(problem_of(domain("members = [\"x\"]\n")), at + "each is an IP address or an SSI");
  EXPECT_EQ(problem_of(domain("members = [-1]\n")), at + "is a whole number from 0 to 4294967295");
  for (const char* const odd : {"members = [5]\n", "ssi = 1\nmembers = [\"10.0.0.5\"]\n"}) {
    EXPECT_EQ(problem_of(domain(odd)),
              "keys.toml:1: members: are SSIs where the domain has SSIs, else addresses");
  }
}

// [TSS-052, TSS-055] From a key manager that counts epochs.
TEST(KeyFileTest, AKeyHasItsEpochs) {
  const KeyFile file = parse(domain() + "epoch = 5\nepoch_floor = 65535\n");
  const KeyEntry& one = file.domains.at(0).keys.back();
  EXPECT_EQ(one.epoch, 5);
  EXPECT_EQ(one.epoch_floor, 65535);
  EXPECT_FALSE(one.key.epoch.has_value()) << "the key is for all epochs";
  EXPECT_EQ(text_of(parse(text_of(file))), text_of(file));
  const auto later = changes(file, parse(domain() + "epoch = 6\nepoch_floor = 65535\n"));
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].kind, ChangeKind::epochs_changed);
  EXPECT_EQ(changes(file, parse(domain() + "epoch = 5\n")), later);
  for (const char* const field : {"epoch", "epoch_floor"}) {
    const std::string problem = problem_of(domain() + field + " = 65536\n");
    EXPECT_NE(problem.find(std::string(field) + ": is a whole number from 0 to 65535"),
              std::string::npos)
        << problem;
  }
}

// [TSS-031]
TEST(KeyFileTest, AClientHasAPairForOneEpoch) {
  const std::string text =
      "[[domain]]\nsdi = 7\nmode = \"client\"\n[[domain.key]]\nan = 0\n"
      "epoch = 5\nsecret = \"" +
      kOne + std::string(24, '3') + "\"\n";
  const KeyFile file = parse(text);
  EXPECT_EQ(file.domains[0].keys[0].key.epoch, 5);
  EXPECT_EQ(file.domains[0].keys[0].key.iv_mask[11], std::byte{0x33});
  EXPECT_EQ(parse(text_of(file)).domains[0].keys, file.domains[0].keys);
}

TEST(KeyFileTest, EachMistakeIsNamedWithItsLineAndField) {
  const std::string at = "keys.toml:";
  EXPECT_EQ(problem_of("x = 1\n"), at + "1: x: a key file has tables [[domain]]");
  EXPECT_EQ(problem_of("[[domain]\n"), at + "1: TOML: this is not TOML");
  EXPECT_EQ(problem_of("[[domain]]\nmode = \"cluster\"\n"), at + "1: sdi: is missing");
  EXPECT_EQ(problem_of("[[domain]]\nsdi = 7\n"), at + "1: mode: is missing");
  EXPECT_EQ(problem_of("[[domain]]\nsdi = 7\nmode = \"x\"\n"),
            at + "3: mode: is one of direct, cluster, server, client");
  EXPECT_EQ(problem_of("[[domain]]\nsdi = 7\nmode = \"direct\"\n"),
            at + "1: key: a domain has one key or two");
  EXPECT_EQ(problem_of(domain("tag = 1\n")), at + "4: tag: there is no such field of a domain");
  EXPECT_EQ(problem_of(domain("ssi = -1\n")),
            at + "4: ssi: is a whole number from 0 to 4294967295");
  EXPECT_EQ(problem_of(domain("jobs = 5\n")), at + "4: jobs: is a list of JobIDs");
  EXPECT_EQ(problem_of(domain("clear = 11\n")), at + "5: clear: clear is 0, or 12 to 64");
  EXPECT_EQ(problem_of(domain("rejects_late = 1\n")), at + "4: rejects_late: is true or false");
  EXPECT_EQ(problem_of(domain("transmit = 1\n")), at + "1: transmit: no key has this an");
  EXPECT_EQ(problem_of(domain("", "0")), at + "1: sdi: sdi is 1 to 16777215");
  EXPECT_EQ(problem_of(domain() + domain()), at + "7: sdi: two domains have the same");
  EXPECT_EQ(problem_of(domain() + "created = 2026-11-26\n"),
            at + "7: created: is a date and a time with zone, like 2026-11-30T12:00:00Z");
  EXPECT_EQ(problem_of(domain() + "key = \"" + kOne + "\"\n"),
            at + "7: key: there is no such field of a key");
  EXPECT_EQ(problem_of("[[domain]]\nsdi = 7\nmode = \"direct\"\n[[domain.key]]\nan = 0\n"
                       "secret = \"" +
                       kOne + "11\"\n"),
            at + "4: secret: key is 64 hexadecimal digits, with mode client 88");
  std::string twice = second_key();
  twice.replace(twice.find("an = 1"), 6, "an = 0");
  EXPECT_EQ(problem_of(domain() + twice), at + "7: an: two keys have the same");
}

// The parser has undefined behaviour with some of them in names: U+3079 (found by fuzz/key_agent).
TEST(KeyFileTest, LettersBeyondAsciiAreForComments) {
  EXPECT_EQ(problem_of("# gr\xC3\xBC\xC3\x9F\n  # \xE3\x81\xB9\n" + domain()), "");
  const std::string refused = ": TOML: only lines that begin with # may have letters beyond ASCII";
  EXPECT_EQ(problem_of(domain() + "[[domain.\xE3\x81\xB9key]]\n"), "keys.toml:7" + refused);
  EXPECT_EQ(problem_of("x = 1 # \xE3\x81\xB9\n"), "keys.toml:1" + refused);
}

// [TSS-136, T-55] A file that other users can read is not secret.
TEST(KeyFileTest, AFileThatOtherUsersMayReadIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path("keys.toml");
  write_key_file(parse(domain()), path);
  struct stat s {};
  ASSERT_EQ(stat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
  EXPECT_EQ(read_key_file(path).domains.size(), 1u);
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    chmod(path.c_str(), mode);
    EXPECT_THROW(read_key_file(path), KeyFileError) << mode;
  }
  chmod(path.c_str(), 0400);
  EXPECT_NO_THROW(read_key_file(path));
  EXPECT_THROW(read_key_file(folder.path("other")), KeyFileError);
  EXPECT_THROW(read_key_file(folder.path("")), KeyFileError) << "a folder";
}

TEST(KeyFileTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  const std::string path = folder.path("keys.toml");
  write_key_file(parse(domain()), path);
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  EXPECT_THROW(read_key_file(path), KeyFileError);
}

// The lines that Wireshark and uet_pcap read.
TEST(KeyFileTest, AKeyLineIsReadAsTheSameKey) {
  for (const char* more : {"",
                           "clear = 12\nrekey_mask = 0xff00\nrekey_shift = 8\n"
                           "kdf_ssi_v6 = \"ssi\"\n"}) {
    const tss::Key key = parse(domain(more)).domains[0].keys[0].key;
    const tss::KeyLine parsed = tss::parse_key_line(key_line(key));
    ASSERT_TRUE(parsed.key.has_value()) << parsed.problem;
    EXPECT_EQ(*parsed.key, key);
  }
}

// AES-256-CMAC of "uet key check v1", the first 8 octets; from Python's cryptography package.
TEST(KeyFileTest, TheCheckValueDistinguishesKeys) {
  EXPECT_EQ(check_value(parse(domain()).domains[0].keys[0].key), "dde94c36d5adac6a");
}

// [TSS-045, TSS-046] A rollover, as a reload sees it.
TEST(ChangesTest, StepsOfARolloverAreChanges) {
  const KeyFile one = parse(domain());
  const KeyFile two = parse(domain() + second_key());
  const KeyFile sends = parse(domain("transmit = 1\n") + second_key());
  const KeyFile none = parse("");
  using enum ChangeKind;
  using All = std::vector<Change>;
  EXPECT_EQ(changes(none, one),
            (All{{domain_added, 7, false}, {key_added, 7, false}, {transmit, 7, false}}));
  EXPECT_EQ(changes(one, two), (All{{key_added, 7, true}}));
  EXPECT_EQ(changes(two, sends), (All{{transmit, 7, true}}));
  EXPECT_EQ(changes(two, one), (All{{key_removed, 7, true}}));
  EXPECT_EQ(changes(one, none), (All{{domain_removed, 7, false}}));
  EXPECT_EQ(changes(one, one), All{});
  EXPECT_EQ(changes(one, parse(domain("forgeries_max = 5\n"))), (All{{terms_changed, 7, false}}));
  std::string other = domain();
  other.replace(other.find(kOne), 64, kTwo);
  EXPECT_EQ(changes(one, parse(other)),
            (All{{key_removed, 7, false}, {key_added, 7, false}, {transmit, 7, false}}));
}

}  // namespace
}  // namespace uet::keys

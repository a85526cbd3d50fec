// Two hosts that seal and open by their key files, through rollovers and restarts.
#include "keys/keyring.h"
#include "keys/secret_memory.h"
#include "keys/test/temporary_folder.h"

#include "tss/opener.h"
#include "tss/sealer.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <set>

namespace uet::keys {
namespace {

constexpr Instant kBegin = Instant::from_ns(1'000'000'000);
constexpr int64_t kUnix = 1'800'000'000;
constexpr uint32_t kSdi = 7;

std::string key(int an, char digit, const std::string& more = "") {
  return "[[domain.key]]\nan = " + std::to_string(an) + "\nsecret = \"" + std::string(64, digit) +
         "\"\n" + more;
}
std::string domain(int transmit, const std::string& keys) {
  return "[[domain]]\nsdi = 7\nmode = \"cluster\"\njobs = [5]\ntransmit = " +
         std::to_string(transmit) + "\n" + keys;
}

struct Files {
  std::string keys, counters, log;
};

// A process on one host.
class Process {
 public:
  Process(const Files& files, uint32_t host, Present present = {kBegin, kUnix})
      : own(wire::IpAddress::v4(0x0A000000 + host)), memory(8 * sizeof(tss::KeySecret)) {
    tss::DomainsConfig config;
    config.domains = 4;
    config.ready_keys = 8;
    config.sources = 8;
    config.members = 1;
    EXPECT_TRUE(domains.create(arena, config, memory.as<tss::KeySecret>(8), 1).ok());
    ring =
        std::make_unique<Keyring>(std::make_unique<FileSource>(files.keys),
                                  KeyringPaths{files.counters, files.log}, own, domains, present);
  }

  std::vector<std::byte> seal(const Process& to, Instant now = kBegin) {
    std::vector<std::byte> content(40, std::byte{0x11});
    std::vector<std::byte> room(content.size() + tss::kSealBytesMax);
    tss::ClearPacket packet{.header = content,
                            .payload = {},
                            .sdi = kSdi,
                            .route = route(to),
                            .client_ssi = {},
                            .room = room};
    sealer.seal(packet, now);
    room.resize(packet.sealed_bytes);
    return room;
  }
  bool opens(std::vector<std::byte> packet, const Process& from, Instant now = kBegin) {
    return opener.unseal(packet, from.route(*this), now).ok();
  }
  tss::Route route(const Process& to) const {
    return {.source = own, .destination = to.own, .entropy = 1, .destination_port = 4793};
  }

  wire::IpAddress own;
  SecretMemory memory;
  Arena arena;
  tss::Domains domains;
  tss::Sealer sealer{domains};
  tss::Opener opener{domains};
  std::unique_ptr<Keyring> ring;
};

class KeyringTest : public ::testing::Test {
 protected:
  Files paths(const std::string& host) {
    Files p{folder_.path("keys"), folder_.path("counters-" + host), ""};
    if (made_.insert(host).second) CounterMarks::create(p.counters);
    return p;
  }
  void write(const std::string& text) {
    write_key_file(parse_key_file(text, "test"), folder_.path("keys"));
  }
  const TemporaryFolder folder_;
  std::set<std::string> made_;
};

// [TSS-045..048] A rekey while packets are under way, one host after the other: none is lost.
TEST_F(KeyringTest, ARolloverLosesNothing) {
  write(domain(0, key(0, '1')));
  Process a(paths("a"), 1), b(paths("b"), 2);
  const auto works = [&] { return b.opens(a.seal(b), a) && a.opens(b.seal(a), b); };
  EXPECT_TRUE(works());
  auto under_way = a.seal(b);
  write(domain(0, key(0, '1') + key(1, '2')));
  a.ring->reload({kBegin, kUnix});
  EXPECT_TRUE(works());
  b.ring->reload({kBegin, kUnix});
  EXPECT_TRUE(works());
  write(domain(1, key(0, '1') + key(1, '2')));
  a.ring->reload({kBegin, kUnix});
  EXPECT_TRUE(works()) << "a sends with the new key, b with the old one";
  b.ring->reload({kBegin, kUnix});
  EXPECT_TRUE(works());
  EXPECT_TRUE(b.opens(under_way, a));
  write(domain(1, key(1, '2')));
  const auto done = b.ring->reload({kBegin, kUnix});
  EXPECT_EQ(done, (std::vector<Change>{{ChangeKind::key_removed, kSdi, false}}));
  EXPECT_TRUE(works());
  EXPECT_FALSE(b.opens(under_way, a));
}

// [TSS-039, TSS-043] All packets of all lives of a process have different counters.
TEST_F(KeyringTest, ARestartedProcessNeverRepeatsACounter) {
  write(domain(0, key(0, '1')));
  std::set<uint64_t> counters;
  for (int life = 0; life < 10; ++life) {
    Process a(paths("a"), 1);
    for (int i = 0; i < 20; ++i) {
      const auto packet = a.seal(a);
      ASSERT_FALSE(packet.empty());
      wire::Reader r(packet);
      EXPECT_TRUE(counters.insert(wire::TssHeader::parse(r)->tsc).second);
    }
  }
  EXPECT_EQ(counters.size(), 200u);
}

// [TSS-043] Grants follow the use of counters; no mark is written while half of a grant is left.
TEST_F(KeyringTest, CountersAreGrantedAhead) {
  write(domain(0, key(0, '1')));
  Process a(paths("a"), 1);
  tss::SecureDomain& of = *a.domains.find(kSdi);
  const tss::TxCounter& counter = of.slot(false).secret->counter;
  EXPECT_EQ(counter.granted(), tss::kCountersAhead);
  a.ring->run(kBegin);
  EXPECT_EQ(counter.granted(), tss::kCountersAhead);
  of.grant(false, tss::kCountersAhead - 10, tss::kCountersAhead);
  a.ring->run(kBegin);
  EXPECT_EQ(counter.granted(), 2 * tss::kCountersAhead);
  EXPECT_EQ(counter.next(), tss::kCountersAhead - 10) << "what was left is used first";
}

// A wrong file changes nothing.
TEST_F(KeyringTest, AWrongFileLeavesTheKeysInUse) {
  write(domain(0, key(0, '1')));
  Process a(paths("a"), 1), b(paths("b"), 2);
  std::ofstream(folder_.path("keys"), std::ios::trunc) << "[[domain]]\nsdi = 8\n";
  EXPECT_THROW(a.ring->reload({kBegin, kUnix}), KeyFileError);
  std::ofstream(folder_.path("keys"), std::ios::trunc)
      << domain(0, key(0, '1')) << "[[domain]]\nsdi = 9\nmode = \"direct\"\n"
      << key(0, '2');
  EXPECT_TRUE(b.opens(a.seal(b), a));
  EXPECT_EQ(a.ring->reload({kBegin, kUnix}).size(), 3u) << "a second domain";
}

using Events = std::vector<DomainEvent>;
using Kind = DomainEvent::Kind;

// [TSS-146] A domain that is named no more: its keys stay for its time to close, then they go.
TEST_F(KeyringTest, ADomainThatIsTakenAwayClosesFirst) {
  write(domain(0, "closing_s = 3\n" + key(0, '1')));
  Process a(paths("a"), 1), b(paths("b"), 2);
  EXPECT_EQ(a.ring->take_events(), (Events{{Kind::back, kSdi, {}}}));
  write("");
  const Instant begin = kBegin + 1_s;
  EXPECT_EQ(a.ring->reload({begin, kUnix}),
            (std::vector<Change>{{ChangeKind::domain_removed, kSdi}}));
  EXPECT_EQ(a.ring->take_events(), (Events{{Kind::closing, kSdi, 3_s}}));
  EXPECT_EQ(a.ring->deadline(), begin + 3_s);
  const Instant last = begin + 3_s - 1_ns;
  a.ring->run(last);
  EXPECT_TRUE(a.ring->take_events().empty());
  EXPECT_TRUE(b.opens(a.seal(b, last), a, last)) << "what was begun may end";
  EXPECT_TRUE(a.opens(b.seal(a, last), b, last));
  tss::SecureDomain& of = *a.domains.find(kSdi);
  of.grant(false, tss::kCountersAhead - 10, tss::kCountersAhead);
  a.ring->run(last);
  EXPECT_EQ(of.slot(false).secret->counter.granted(), 2 * tss::kCountersAhead);
  a.ring->run(begin + 3_s);
  EXPECT_EQ(a.ring->take_events(), (Events{{Kind::gone, kSdi, {}}}));
  EXPECT_EQ(a.domains.find(kSdi), nullptr);
  EXPECT_TRUE(a.seal(b, begin + 3_s).empty());
  EXPECT_EQ(a.ring->deadline(), Instant::never());
}

// [TSS-146] No time to close: its keys are gone when the reload is over.
TEST_F(KeyringTest, ADomainWithoutTimeToCloseIsGoneAtOnce) {
  write(domain(0, "closing_s = 0\n" + key(0, '1')));
  Process a(paths("a"), 1);
  a.ring->take_events();
  write("");
  a.ring->reload({kBegin, kUnix});
  EXPECT_EQ(a.ring->take_events(), (Events{{Kind::closing, kSdi, {}}, {Kind::gone, kSdi, {}}}));
  EXPECT_TRUE(a.seal(a).empty());
}

// [TSS-146] A domain is named again before its end: the old one ends, and it starts again with its
// present keys and new counters.
TEST_F(KeyringTest, ADomainThatComesBackRestarts) {
  write(domain(0, key(0, '1')));
  Process a(paths("a"), 1), b(paths("b"), 2);
  const auto recorded = a.seal(b);
  a.ring->take_events();
  write("");
  a.ring->reload({kBegin, kUnix});
  a.ring->take_events();
  write(domain(0, key(0, '1')));
  a.ring->reload({kBegin + 1_s, kUnix + 1});
  EXPECT_EQ(a.ring->take_events(), (Events{{Kind::gone, kSdi, {}}, {Kind::back, kSdi, {}}}));
  const auto packet = a.seal(b, kBegin + 1_s);
  EXPECT_TRUE(b.opens(packet, a, kBegin + 1_s));
  wire::Reader before(recorded), after(packet);
  EXPECT_GT(wire::TssHeader::parse(after)->tsc, wire::TssHeader::parse(before)->tsc);
  a.ring->run(kBegin + 60_s);
  EXPECT_FALSE(a.seal(b, kBegin + 60_s).empty()) << "the old end is forgotten";
}

// A key is used until its time of expiry, and not at all if it is read later.
TEST_F(KeyringTest, AKeyExpires) {
  write(domain(0, key(0, '1', "expires = 2027-01-15T08:00:10Z\n")));  // kUnix + 10
  Process a(paths("a"), 1);
  EXPECT_FALSE(a.seal(a, kBegin + 9_s).empty());
  EXPECT_TRUE(a.seal(a, kBegin + 10_s).empty());
  Process late(paths("b"), 2, {kBegin, kUnix + 10});
  EXPECT_TRUE(late.seal(a).empty()) << "expired before it was read";
}

// [TSS-045] A key with a changed end time stays in use; it is neither removed nor added.
TEST_F(KeyringTest, ANewTimeOfExpiryKeepsTheKey) {
  write(domain(0, key(0, '1', "expires = 2027-01-15T08:00:10Z\n")));  // kUnix + 10
  Process a(paths("a"), 1), b(paths("b"), 2);
  EXPECT_TRUE(b.opens(a.seal(b), a));
  write(domain(0, key(0, '1', "expires = 2027-01-15T08:00:20Z\n")));
  const std::vector<Change> later{{ChangeKind::expiry_changed, kSdi, false}};
  EXPECT_EQ(a.ring->reload({kBegin, kUnix}), later);
  b.ring->reload({kBegin, kUnix});
  const auto packet = a.seal(b, kBegin + 15_s);
  EXPECT_FALSE(packet.empty());
  EXPECT_TRUE(b.opens(packet, a, kBegin + 15_s));
  EXPECT_TRUE(a.seal(b, kBegin + 20_s).empty());
  // Expired and overwritten; then its time is longer again.
  a.ring->run(kBegin + 21_s);
  write(domain(0, key(0, '1')));
  a.ring->reload({kBegin + 22_s, kUnix + 22});
  EXPECT_FALSE(a.seal(b, kBegin + 22_s).empty());
}

// The year 9999 means never, and so does a time beyond the clock's range.
TEST_F(KeyringTest, AKeyWithAFarTimeOfExpiryNeverExpires) {
  write(domain(0, key(0, '1', "expires = 9999-12-31T23:59:59Z\n")));
  Process a(paths("a"), 1);
  EXPECT_FALSE(a.seal(a).empty());
  EXPECT_FALSE(a.seal(a, kBegin + Duration::seconds(1'000'000'000)).empty());
}

// The marks cannot be written while keys are replaced: a later call succeeds, and everything
// continues.
TEST_F(KeyringTest, AFailedWriteOfTheMarksIsRepeatedLater) {
  write(domain(0, key(0, '1')));
  const Files p = paths("a");
  Process a(p, 1);
  write(domain(1, key(1, '2')));
  ASSERT_EQ(chmod(p.counters.c_str(), 0644), 0);
  EXPECT_THROW(a.ring->reload({kBegin, kUnix}), KeyFileError);
  EXPECT_TRUE(a.seal(a).empty()) << "no counter was granted";
  ASSERT_EQ(chmod(p.counters.c_str(), 0600), 0);
  a.ring->run(kBegin);
  EXPECT_FALSE(a.seal(a).empty());
}

// [TSS-017] A changed source replaces the domain; its counters continue.
TEST_F(KeyringTest, TermsMayChange) {
  write(domain(0, key(0, '1')));
  Process a(paths("a"), 1);
  a.seal(a);
  write(domain(0, "ssi = 5\n" + key(0, '1')));
  a.ring->reload({kBegin, kUnix});
  const auto packet = a.seal(a);
  wire::Reader r(packet);
  const auto header = wire::TssHeader::parse(r);
  ASSERT_TRUE(header.ok());
  EXPECT_TRUE(header->sp);
  EXPECT_EQ(header->ssi, 5u);
  EXPECT_TRUE(a.opens(packet, a));
}

// [TSS-088] The list of members is a term of the domain: a reload replaces it.
TEST_F(KeyringTest, OnlyMembersAreTaken) {
  const auto with = [](const std::string& members) {
    return "[[domain]]\nsdi = 7\nmode = \"cluster\"\nmembers = [" + members + "]\ntransmit = 0\n" +
           key(0, '1');
  };
  write(with("\"10.0.0.1\""));
  Process a(paths("a"), 1), b(paths("b"), 2), c(paths("c"), 3);
  EXPECT_TRUE(b.opens(a.seal(b), a));
  EXPECT_FALSE(b.opens(c.seal(b), c));
  write(with("\"10.0.0.3\""));
  b.ring->reload({kBegin, kUnix});
  EXPECT_FALSE(b.opens(a.seal(b), a));
  EXPECT_TRUE(b.opens(c.seal(b), c));
  write(with("\"10.0.0.1\", \"10.0.0.3\""));
  EXPECT_THROW(b.ring->reload({kBegin, kUnix}), KeyFileError) << "more than there is room for";
  EXPECT_TRUE(b.opens(a.seal(b), a)) << "the first of them fits, and the keys work";
}

// [TSS-052, TSS-055] A key manager that counts epochs states them in the keys that it gives.
TEST_F(KeyringTest, EpochsComeWithTheKeys) {
  write(domain(0, key(0, '1', "epoch = 30000\n")));
  Process a(paths("a"), 1);
  write(domain(0, key(0, '1', "epoch_floor = 30017\n")));
  Process b(paths("b"), 2);
  EXPECT_FALSE(b.opens(a.seal(b), a)) << "17 epochs behind";
  write(domain(0, key(0, '1', "epoch = 30001\n")));
  EXPECT_EQ(a.ring->reload({kBegin, kUnix}).size(), 1u);
  EXPECT_TRUE(b.opens(a.seal(b), a));
  write(domain(0, key(0, '1', "epoch = 30000\n")));
  EXPECT_THROW(a.ring->reload({kBegin, kUnix}), KeyFileError);
  EXPECT_TRUE(b.opens(a.seal(b), a)) << "an older epoch changes nothing";
  write(domain(0, key(0, '1')));
  b.ring->reload({kBegin, kUnix});
  write(domain(0, key(0, '1', "epoch = 5\n")));
  Process c(paths("c"), 3);
  EXPECT_TRUE(b.opens(c.seal(b), c)) << "without a floor no first packet is too old";
  write(domain(0, key(0, '1', "epoch = 40000\n")));
  EXPECT_NO_THROW(Process(paths("d"), 4)) << "any epoch may be the first";
}

// [TSS-074]
TEST_F(KeyringTest, JobsAreBoundAsTheFileSays) {
  write(domain(0, key(0, '1')));
  const Process a(paths("a"), 1);
  Arena arena;
  tss::JobTable jobs;
  ASSERT_TRUE(jobs.create(arena, 4, 1).ok());
  ASSERT_TRUE(bind_jobs(a.ring->file(), jobs).ok());
  EXPECT_EQ(jobs.domain_of(JobId(5)), kSdi);
}

// The key log: a line for each key, before its first packet, for the owner alone.
TEST_F(KeyringTest, InstalledKeysAreLoggedWhereThatIsAskedFor) {
  write(domain(0, key(0, '1') + key(1, '2')));
  Files p = paths("a");
  p.log = folder_.path("log");
  const Process a(p, 1);
  struct stat s {};
  ASSERT_EQ(stat(p.log.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
  std::ifstream in(p.log);
  std::string line;
  for (const char digit : {'1', '2'}) {
    ASSERT_TRUE(std::getline(in, line));
    const tss::KeyLine parsed = tss::parse_key_line(line);
    ASSERT_TRUE(parsed.key.has_value());
    EXPECT_EQ(parsed.key->secret[0], static_cast<std::byte>((digit - '0') * 0x11));
  }
  EXPECT_FALSE(std::getline(in, line));
}

// A file of another owner, or readable by others, gets no key; nor does the target of a link.
TEST_F(KeyringTest, AKeyLogThatOtherUsersMayReadIsRefused) {
  const std::string log = folder_.path("log");
  std::ofstream(log) << "";
  ASSERT_EQ(chmod(log.c_str(), 0666), 0);
  EXPECT_THROW(append_to_key_log(log, tss::Key{}), KeyFileError);
  ASSERT_EQ(chmod(log.c_str(), 0600), 0);
  append_to_key_log(log, tss::Key{});
  const std::string link = folder_.path("link");
  ASSERT_EQ(symlink(log.c_str(), link.c_str()), 0);
  EXPECT_THROW(append_to_key_log(link, tss::Key{}), KeyFileError);
  EXPECT_EQ(mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(append_to_key_log(folder_.path("pipe"), tss::Key{}), KeyFileError);
}

}  // namespace
}  // namespace uet::keys

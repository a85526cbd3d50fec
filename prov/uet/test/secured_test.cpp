// FI_UET_TSS=file: only processes with the same key communicate.
#include "prov/uet/test/secured_roles.h"

#include "keys/key_file.h"
#include "tss/kdf.h"

namespace uet::prov::test {
namespace {

const std::string kSecret = "the quick brown fox jumps over the lazy dog";

std::vector<uint8_t> secrets(size_t bytes) {
  std::vector<uint8_t> all(bytes);
  for (size_t i = 0; i < bytes; ++i) all[i] = static_cast<uint8_t>(kSecret[i % kSecret.size()]);
  return all;
}

NodeOptions at(const char* address) {
  NodeOptions options;
  options.address = address;
  return options;
}

constexpr const char* kTargetAt = "127.0.48.2";
constexpr const char* kWriterAt = "127.0.48.3";

class SecuredTest : public SecuredRolesTest {
 protected:
  // A region to write to, and one message.
  static void be_target(const Line& line) {
    Target target(at(kTargetAt));
    std::vector<uint8_t> got(kBytes);
    ASSERT_EQ(fi_recv(target.node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    target.introduce(line);
    const Done done = await(target.node.rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(got, secrets(kBytes));
    EXPECT_EQ(target.memory, secrets(kBytes));
    EXPECT_GT(counter(target.node, "tss_in_auth_pkts"), 20u);
    EXPECT_GT(counter(target.node, "tss_out_auth_pkts"), 0u);
    EXPECT_EQ(counter(target.node, "tss_in_auth_fail_pkts"), 0u);
    EXPECT_EQ(counter(target.node, "tss_in_rx_encryption_bypass_pkts"), 0u);
    line.tell(1);
    line.hear_value();
  }
  // Writes, reads back, then sends.
  static void write(const Line& line) {
    Node node(at(kWriterAt));
    const Remote peer(node, line);
    std::vector<uint8_t> mine = secrets(kBytes);
    ASSERT_EQ(
        fi_write(node.ep, mine.data(), kBytes, nullptr, peer.addr, peer.base, peer.key, nullptr),
        0);
    EXPECT_EQ(await(node.tx_cq).err, 0);
    std::vector<uint8_t> back(kBytes);
    ASSERT_EQ(
        fi_read(node.ep, back.data(), kBytes, nullptr, peer.addr, peer.base, peer.key, nullptr), 0);
    EXPECT_EQ(await(node.tx_cq).err, 0);
    EXPECT_EQ(back, mine);
    ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, peer.addr, nullptr), 0);
    const Done done = await(node.tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(line.hear_value(), 1u);
    line.tell(1);
  }
  // Both ends with these settings; returns their captures.
  std::vector<Captured> talk(const Settings& more) {
    Settings target = secured(more), writer = secured(more);
    target.push_back({"FI_UET_PCAP", kept(path("target.pcapng"))});
    writer.push_back({"FI_UET_PCAP", kept(path("writer.pcapng"))});
    const pid_t a = start(0, target, be_target);
    const pid_t b = start(1, writer, write);
    finish(a);
    finish(b);
    std::vector<Captured> all = read_capture(path("target.pcapng"));
    const std::vector<Captured> others = read_capture(path("writer.pcapng"));
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
  // Every packet is of type 1 (five bits), of domain 7, and its payload is not readable.
  void expect_hidden(const std::vector<Captured>& packets) {
    EXPECT_GT(packets.size(), 100u);
    for (const Captured& c : packets) {
      ASSERT_GT(c.payload.size(), 28u);
      ASSERT_EQ(c.payload[0] >> 3, 1);
      ASSERT_EQ(c.payload[3], 7);
    }
    for (const char* const name : {"target.pcapng", "writer.pcapng"}) {
      const std::vector<uint8_t> octets = octets_of(path(name));
      EXPECT_EQ(std::search(octets.begin(), octets.end(), kSecret.begin(), kSecret.begin() + 12),
                octets.end());
    }
  }

  // Waits for a message that does not come; says how many packets moved each of the counters.
  static void wait_in_vain(const Line& line) {
    Node node(at(kTargetAt));
    std::vector<uint8_t> got(kBytes);
    ASSERT_EQ(fi_recv(node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    line.tell(node.name());
    Done done;
    const auto counted = [&](const char* name) { return find_counter(node, name).value_or(0); };
    uint64_t dropped = 0;
    while (dropped < 3) {
      ASSERT_FALSE(read_one(node.rx_cq, done));
      dropped = counted("tss_in_auth_fail_pkts") + counted("tss_in_rx_encryption_bypass_pkts") +
                counted("drop_type_unsupported");
    }
    line.tell(counted("tss_in_auth_fail_pkts"));
    line.tell(counted("tss_in_rx_encryption_bypass_pkts"));
    line.tell(counted("drop_type_unsupported"));
    EXPECT_EQ(counted("tss_in_auth_pkts") + counted("rx_requests"), 0u);
    EXPECT_EQ(counted("tx_acks"), 0u);
    line.hear_value();
  }
  static void send_in_vain(const Line& line) {
    Node node(at(kWriterAt));
    const fi_addr_t to = node.insert(line.hear());
    const std::vector<uint8_t> mine = secrets(kBytes);
    ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, to, nullptr), 0);
    forgeries_ = line.hear_value();
    clear_ = line.hear_value();
    unknown_type_ = line.hear_value();
    Done done;
    EXPECT_FALSE(read_one(node.tx_cq, done));
    EXPECT_EQ(find_counter(node, "tss_in_auth_pkts").value_or(0), 0u);
    line.tell(1);
    _exit(HasFailure() ? 1 : what_moved());
  }
  // Two that must not hear each other: which counter of the target moved.
  int talk_in_vain(const Settings& target, const Settings& writer) {
    const pid_t a = start(0, target, wait_in_vain);
    const pid_t b = start(1, writer, send_in_vain);
    finish(a);
    int status = 0;
    waitpid(b, &status, 0);
    return WEXITSTATUS(status);
  }
  static constexpr int kForged = 11, kInClear = 12, kUnknownType = 13;
  static int what_moved() {
    if (forgeries_ >= 3) return kForged;
    if (clear_ >= 3) return kInClear;
    return unknown_type_ >= 3 ? kUnknownType : 0;
  }

  static NodeOptions of_job(const char* address, uint32_t job) {
    NodeOptions options = at(address);
    options.domain_job = job;
    return options;
  }
  // Takes a message of job 5, then two of job 6; sleeps on job 5 meanwhile.
  static void take_of_two_jobs(const Line& line) {
    Node five(of_job(kTargetAt, 5)), six(of_job(kTargetAt, 6));
    std::vector<uint8_t> got(kBytes);
    const auto take = [&](Node& node) {
      ASSERT_EQ(fi_recv(node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
      EXPECT_EQ(await(node.rx_cq).err, 0);
    };
    line.tell(five.name());
    line.tell(six.name());
    take(five);
    take(six);
    line.tell(1);
    take(six);
  }

  inline static uint64_t forgeries_ = 0, clear_ = 0, unknown_type_ = 0;
};

// [TSS-002, TSS-076] All packets of both ends, over UDP sockets.
TEST_F(SecuredTest, ProcessesWithTheKeyCommunicateAndTheCaptureIsSealed) {
  expect_hidden(talk({}));
}

// [TSS-022, TSS-076] The source port that the seal covers is the same by sockets and by shared
// memory.
TEST_F(SecuredTest, SharedMemoryCarriesSealedPackets) {
  expect_hidden(talk({{"FI_UET_SHM", "auto"}}));
}

// [TSS-039, TSS-040, TSS-080] A resent packet is sealed again; a copy of a packet does not
// count as forged.
TEST_F(SecuredTest, LostDoubledAndLatePacketsAreSentAgain) {
  const std::vector<Captured> packets =
      talk({{"FI_UET_FAULT", "loss=0.03,dup=0.02,reorder=0.05,seed=5"}});
  expect_hidden(packets);
  std::set<std::vector<uint8_t>> counters;
  const size_t before = packets.size();
  size_t sent = 0;
  for (const Captured& c : packets) {
    if (c.destination[3] != 2) continue;  // by the writer, in both captures
    ++sent;
    counters.insert({c.payload.begin(), c.payload.begin() + 12});
  }
  EXPECT_LT(sent, before);
  EXPECT_GT(counters.size(), sent / 2 - 20) << "each packet once in each capture";
}

// [TSS-031] A domain of a server and its clients; here both have the server's key.
TEST_F(SecuredTest, WithAnSsiTheHeaderIsLonger) {
  write_keys("ssi2", domain_text(key_text(0, '1'), "ssi = 2\n"));
  write_keys("ssi3", domain_text(key_text(0, '1'), "ssi = 3\n"));
  const pid_t a = start(0, secured({}, "ssi2"), be_target);
  const pid_t b = start(1, secured({}, "ssi3"), write);
  finish(a);
  finish(b);
}

// [TSS-090, TSS-096, TSS-108, T-54] Nothing is delivered, opened or answered.
TEST_F(SecuredTest, AnotherKeyIsNotHeard) {
  write_keys("other", domain_text(key_text(0, '2')));
  EXPECT_EQ(talk_in_vain(secured(), secured({}, "other")), kForged);
}

// [TSS-077, TSS-084, T-17] Neither from one side nor from the other.
TEST_F(SecuredTest, ClearAndSecuredProcessesDoNotHearEachOther) {
  const Settings clear = {{"FI_UET_SHM", "off"}, {"FI_UET_IO", "udp"}};
  EXPECT_EQ(talk_in_vain(secured(), clear), kInClear);
}
TEST_F(SecuredTest, ASecuredProcessIsNotHeardInTheClear) {
  const Settings clear = {{"FI_UET_SHM", "off"}, {"FI_UET_IO", "udp"}};
  EXPECT_EQ(talk_in_vain(clear, secured()), kUnknownType);
}

// [TSS-077, TSS-103] One process may have jobs of either kind, where the key file says so.
TEST_F(SecuredTest, AJobMayTalkInTheClearWhereItsDomainSaysSo) {
  write_keys("both",
             domain_text(key_text(0, '1'), "jobs = [5]\n") +
                 "[[domain]]\nsdi = 8\nmode = \"cluster\"\npolicy = \"none\"\njobs = [6]\n" +
                 key_text(0, '3'));
  const auto send_both = [](const Line& line) {
    for (const uint32_t job : {5u, 6u}) {
      NodeOptions options = at(kWriterAt);
      options.domain_job = job;
      Node node(options);
      const fi_addr_t to = node.insert(line.hear());
      const std::vector<uint8_t> mine = secrets(kBytes);
      ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, to, nullptr), 0);
      EXPECT_EQ(await(node.tx_cq).err, 0);
      EXPECT_EQ(counter(node, "tss_out_auth_pkts") != 0, job == 5);
      EXPECT_EQ(counter(node, "tss_out_rx_encryption_bypass_pkts") != 0, job == 6);
      line.hear_value();
    }
  };
  const auto take_both = [](const Line& line) {
    for (const uint32_t job : {5u, 6u}) {
      NodeOptions options = at(kTargetAt);
      options.domain_job = job;
      Node node(options);
      std::vector<uint8_t> got(kBytes);
      ASSERT_EQ(fi_recv(node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
      line.tell(node.name());
      EXPECT_EQ(await(node.rx_cq).err, 0);
      EXPECT_EQ(got, secrets(kBytes));
      EXPECT_EQ(counter(node, "tss_in_auth_pkts") != 0, job == 5);
      EXPECT_EQ(counter(node, "tss_in_rx_encryption_bypass_pkts") != 0, job == 6);
      line.tell(1);
    }
  };
  const pid_t a = start(0, secured({}, "both"), take_both);
  const pid_t b = start(1, secured({}, "both"), send_both);
  finish(a);
  finish(b);
}

// [TSS-075, TSS-093, TSS-100, T-18, T-19] A process with the key of one domain cannot reach the
// jobs of another one, whatever its own key file says.
TEST_F(SecuredTest, AJobIsReachedInItsOwnDomainOnly) {
  const auto two = [](int job_of_7, int job_of_8) {
    return domain_text(key_text(0, '1'), "jobs = [" + std::to_string(job_of_7) + "]\n") +
           "[[domain]]\nsdi = 8\nmode = \"cluster\"\njobs = [" + std::to_string(job_of_8) + "]\n" +
           key_text(0, '2');
  };
  write_keys("right", two(1, 6));
  write_keys("insider", two(6, 1));
  const auto wait = [](const Line& line) {
    Node node(at(kTargetAt));
    std::vector<uint8_t> got(kBytes);
    ASSERT_EQ(fi_recv(node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    line.tell(node.name());
    EXPECT_EQ(line.hear_value(), 1u);
    Done done;
    EXPECT_FALSE(read_one(node.rx_cq, done));
    EXPECT_GT(counter(node, "rx_other_domain"), 0u);
    EXPECT_EQ(counter(node, "tss_in_auth_fail_pkts"), 0u);
  };
  const auto send = [](const Line& line) {
    Node node(at(kWriterAt));
    const std::vector<uint8_t> mine = secrets(kBytes);
    ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, node.insert(line.hear()), nullptr), 0);
    EXPECT_GT(await(node.tx_cq).err, 0);
    line.tell(1);
  };
  const pid_t a = start(0, secured({}, "right"), wait);
  const pid_t b = start(1, secured({}, "insider"), send);
  finish(b);
  finish(a);
}

// [TSS-043, TSS-109, T-17] What cannot be secured does not run, least of all in the clear.
TEST_F(SecuredTest, WithoutKeysNoDomainOpens) {
  write_keys("open", domain_text(key_text(0, '1')), 0644);
  write_keys("wrong", "[[domain]]\n");
  write_keys("two", domain_text(key_text(0, '1')) + "[[domain]]\nsdi = 8\nmode = \"cluster\"\n" +
                        key_text(0, '2'));
  const Settings good = secured();
  const char* const counters = kept(path("counters"));
  for (const Settings& settings :
       {secured({}, "missing"), secured({}, "open"), secured({}, "wrong"), secured({}, "two"),
        secured({{"FI_UET_TSS_COUNTERS", kept(path("no counters"))}}),
        Settings{{"FI_UET_TSS_KEYS", kept(path("keys"))}, {"FI_UET_TSS_COUNTERS", counters}}}) {
    finish(start(0, settings, cannot_open));
  }
}

// [TSS-146] The domain of one of two jobs is removed from the key file of a running process: its
// job may post nothing more, started operations fail with the reason, and the other job continues.
TEST_F(SecuredTest, ADomainIsTakenAwayWhileItIsInUse) {
  const std::string stays =
      "[[domain]]\nsdi = 8\nmode = \"cluster\"\njobs = [6]\n" + key_text(0, '2');
  write_keys("two", domain_text(key_text(0, '1'), "jobs = [5]\nclosing_s = 1\n") + stays);
  write_keys("peer", domain_text(key_text(0, '1'), "jobs = [5]\n") + stays);
  const pid_t a = start(0, secured({{"FI_UET_HELPER", "0"}}, "peer"), take_of_two_jobs);
  const pid_t b = start(1, secured({}, "two"), [&](const Line& line) {
    Node closes(of_job(kWriterAt, 5)), other(of_job(kWriterAt, 6));
    const fi_addr_t peer = closes.insert(line.hear()), other_peer = other.insert(line.hear());
    const std::vector<uint8_t> mine = secrets(kBytes);
    const auto post = [&](Node& node, fi_addr_t to) {
      return fi_send(node.ep, mine.data(), kBytes, nullptr, to, nullptr);
    };
    ASSERT_EQ(post(closes, peer), 0);
    EXPECT_EQ(await(closes.tx_cq).err, 0);
    ASSERT_EQ(post(other, other_peer), 0);
    EXPECT_EQ(await(other.tx_cq).err, 0);
    line.hear_value();
    ASSERT_EQ(post(closes, peer), 0);  // no operation waits for its completion
    write_keys("two", stays);
    ssize_t posted = 0;
    int begun = 1;
    Done done;
    for (const auto end = Clock::now() + kPatience; posted != -FI_ENOKEY && Clock::now() < end;) {
      posted = post(closes, peer);
      if (posted == 0) ++begun;
      EXPECT_FALSE(read_one(closes.tx_cq, done));
    }
    EXPECT_EQ(posted, -FI_ENOKEY);
    const auto closed = Clock::now();
    for (; begun != 0; --begun) {
      done = await(closes.tx_cq);
      ASSERT_EQ(done.err, FI_ENOKEY) << done.text;
    }
    EXPECT_LT(Clock::now() - closed, seconds(4)) << "closing_s is 1";
    EXPECT_EQ(counter(closes, "tss_domains_closed"), 1u);
    EXPECT_EQ(post(closes, peer), -FI_ENOKEY);
    ASSERT_EQ(post(other, other_peer), 0);
    EXPECT_EQ(await(other.tx_cq).err, 0) << "the other domain goes on";
  });
  finish(b);
  finish(a);
}

// [TSS-033, TSS-044, TSS-147] A server and a client with its own pair. To an address without a
// client a server sends nothing.
TEST_F(SecuredTest, AServerTalksToItsClients) {
  const std::string client = "{ address = \"127.0.48.3\", ssi = 5 }";
  const auto server = [](const std::string& clients) {
    return "[[domain]]\nsdi = 7\nmode = \"server\"\nclients = [" + clients + "]\n" +
           key_text(0, '1');
  };
  write_keys("server", server(client));
  write_keys("no clients", "[[domain]]\nsdi = 7\nmode = \"server\"\nssi = 1\n" + key_text(0, '1'));
  keys::KeyFile pair = keys::parse_key_file(server(client), "test");
  keys::DomainEntry& at_client = pair.domains[0];
  tss::Key& key = at_client.keys[0].key;
  tss::Kdf kdf;
  tss::KeyMaterial made;
  ASSERT_TRUE(kdf.create().ok() && kdf.set_master(key.secret));
  ASSERT_TRUE(kdf.derive(key, {.sp = true, .ssi = 5}, {}, made));
  std::ranges::copy(made.sdk(), key.secret.begin());
  std::ranges::copy(made.iv_mask(), key.iv_mask.begin());
  key.mode = at_client.terms.mode = tss::Mode::client;
  key.epoch = 0;
  at_client.clients.clear();
  at_client.terms.has_clients = false;
  at_client.terms.ssi = 5;
  keys::write_key_file(pair, path("client"));
  keys::CounterMarks::create(path("client counters"));

  const pid_t a = start(0, secured({}, "server"), be_target);
  const pid_t b =
      start(1, secured({{"FI_UET_TSS_COUNTERS", kept(path("client counters"))}}, "client"), write);
  finish(a);
  finish(b);
  finish(start(0, secured({}, "no clients"), cannot_open));
  finish(start(0, secured({}, "server"), [](const Line&) {
    Node node(at(kTargetAt));
    const std::vector<uint8_t> mine = secrets(kBytes);  // not copied
    ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, node.insert(node.name()), nullptr), 0);
    EXPECT_EQ(await(node.tx_cq).err, FI_ENOKEY) << "its own address has no client";
  }));
}

// [TSS-145] The limits of the key file count when a domain opens: here the number of secure
// domains.
TEST_F(SecuredTest, TheLimitsOfTheKeyFileAreThoseOfTheProcess) {
  const std::string two = domain_text(key_text(0, '1'), "jobs = [5]\n") +
                          "[[domain]]\nsdi = 8\nmode = \"cluster\"\njobs = [6]\n" +
                          key_text(0, '2');
  write_keys("enough", "[limits]\ndomains = 2\nready_keys = 2\n" + two);
  write_keys("one less", "[limits]\ndomains = 1\n" + two);
  finish(
      start(0, secured({}, "enough"), [](const Line&) { const Node node(of_job(kTargetAt, 5)); }));
  finish(start(0, secured({}, "one less"), cannot_open));
}

// [TSS-069, TSS-145] Limits of packet delivery, too. The target forgets each new start before it is
// used, so the writer gets one after the other.
TEST_F(SecuredTest, TheLimitsOfTheKeyFileReachPacketDelivery) {
  write_keys("one move", "[limits]\nrebases_max = 1\n" + domain_text(key_text(0, '1')));
  const Settings late = {{"FI_UET_FAULT", "delay=5ms"}, {"FI_UET_NEW_PDC_TIME", "100us"}};
  const pid_t a = start(0, secured(late, "one move"), [](const Line& line) {
    const Node node(at(kTargetAt));
    line.tell(node.name());
    line.hear_value();
  });
  const pid_t b = start(1, secured(late, "one move"), [](const Line& line) {
    Node node(at(kWriterAt));
    const std::vector<uint8_t> mine = secrets(kBytes);
    const fi_addr_t to = node.insert(line.hear());
    ASSERT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, to, nullptr), 0);
    const auto end = Clock::now() + kPatience;
    uint64_t moves = 0, failures = 0;
    Done done;
    for (bool is_over = false; failures == 0 && !is_over && Clock::now() < end;) {
      is_over = read_one(node.tx_cq, done);
      moves = find_counter(node, "psn_rebased").value_or(0);
      failures = find_counter(node, "psn_rebase_limit").value_or(0);
    }
    EXPECT_GT(failures, 0u);
    EXPECT_GT(moves, 0u);
    EXPECT_LT(moves, 4u) << "as many as without the limit";
    line.tell(1);
  });
  finish(b);
  finish(a);
}

// [TSS-074, TSS-077] A job without a domain may not talk.
TEST_F(SecuredTest, AJobWithoutADomainGetsNoEndpoint) {
  write_keys("job", domain_text(key_text(0, '1'), "jobs = [5]\n"));
  const auto cannot_enable = [](const Line&) {
    NodeOptions options = at(kTargetAt);
    options.is_enabled = false;
    Node node(options);
    EXPECT_EQ(fi_enable(node.ep), -FI_ENOKEY);
  };
  finish(start(0, secured({}, "job"), cannot_enable));
}

}  // namespace
}  // namespace uet::prov::test

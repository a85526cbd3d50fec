// `uet_ctl paths` and `uet_ctl record` as a user runs them, against processes that use the provider
// through libfabric.
#include "prov/uet/test/roles.h"
#include "tools/ctl/test/neighbours.h"
#include "tools/ctl/test/program.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace uet::prov::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr uint32_t kPeers = 600;

void busy_pair(const Line& line) { pass_until_told(line, "127.0.47.71", "127.0.47.72", 200'000); }

// Sends a message to each of many addresses without a process.
void lonely_role(const Line& line) {
  NodeOptions options;
  options.address = "127.0.47.73";
  options.tx_size = options.cq_size = 2048;
  Node a(options);
  const uint8_t octet = 0;
  for (uint32_t i = 0; i < kPeers; ++i) {
    const std::string to = "127.48." + std::to_string(i / 250) + '.' + std::to_string(i % 250 + 1);
    fi_addr_t peer = FI_ADDR_UNSPEC;
    ASSERT_EQ(fi_av_insertsvc(a.av, to.c_str(), "7", &peer, 0, nullptr), 1);
    ssize_t posted = -FI_EAGAIN;
    for (int tries = 0; tries < 100'000 && posted == -FI_EAGAIN; ++tries) {
      posted = fi_send(a.ep, &octet, 1, nullptr, peer, nullptr);
      fi_cq_read(a.tx_cq, nullptr, 0);
    }
    ASSERT_EQ(posted, 0) << i;
  }
  line.tell(1);
  line.hear_value();
}

class UetCtlPathsTest : public RolesTest {
 protected:
  void SetUp() override {
    RolesTest::SetUp();
    std::string name = fs::temp_directory_path() / "uet_ctl_contexts_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::remove_all(folder_);
    RolesTest::TearDown();
  }
  pid_t start_role(void (*role)(const Line&), const Settings& settings = {}) {
    const pid_t pid = start(1, settings, role);
    EXPECT_EQ(ends_[0].hear_value(), 1u);
    return pid;
  }
  std::string file(const char* name) const { return folder_ / name; }
  // The lines of a recording.
  std::vector<json> lines(const std::string& name) const {
    std::vector<json> out;
    std::ifstream in(name);
    for (std::string line; std::getline(in, line);) {
      out.push_back(json::parse(line, nullptr, false));
      EXPECT_TRUE(out.back().is_object()) << line;
    }
    return out;
  }

  fs::path folder_;
};

// The context of the sender of a busy pair, once it has heard an answer.
json sender_of(pid_t pid) {
  for (int tries = 0; tries < 500; ++tries) {
    const Outcome outcome = uet_ctl("paths --json " + std::to_string(pid));
    EXPECT_EQ(outcome.status, 0) << outcome.out;
    const json domains = json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(domains.size(), 2u) << outcome.out;
    for (const json& domain : domains) {
      if (domain.at("address") != "127.0.47.71" || domain.at("held") == true) continue;
      for (const json& path : domain.at("paths").at("listed")) {
        if (path.at("rtt_ns") > 0) return path;
      }
    }
  }
  ADD_FAILURE() << "no context has a round trip";
  return {};
}

TEST_F(UetCtlPathsTest, ABusyContextHasItsNumbers) {
  const pid_t pid = start_role(
      busy_pair, {{"FI_UET_CC", "nscc"}, {"FI_UET_MODE", "rud"}, {"FI_UET_ENTROPY_VALUES", "16"}});
  const json path = sender_of(pid);
  EXPECT_EQ(path.at("peer"), "127.0.47.72 4793");
  EXPECT_EQ(path.at("tc"), 0);
  EXPECT_EQ(path.at("kind"), "sprayed");
  EXPECT_EQ(path.at("algorithm"), "nscc");
  EXPECT_GE(path.at("window_bytes"), 8192) << "a packet";
  EXPECT_GT(path.at("base_rtt_ns"), 0);
  EXPECT_GT(path.at("acks"), 0);
  EXPECT_EQ(path.at("marked"), 0) << "loopback marks nothing";
  EXPECT_EQ(path.at("ecn_permille"), 0);
  EXPECT_EQ(path.at("evs"), 16);
  EXPECT_EQ(path.at("evs_excluded"), 0);
  EXPECT_FALSE(path.contains("credit_bytes"));
  const Outcome text = uet_ctl("paths " + std::to_string(pid));
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(contains(text.out, std::to_string(pid) +
                                     " uet_ctl_test: lo/127.0.47.71, "
                                     "127.0.47.71 port 4793: 1 congestion contexts\n"))
      << text.out;
  EXPECT_TRUE(std::regex_search(
      text.out, std::regex("\n  127\\.0\\.47\\.72 4793  0   sprayed  nscc  +[0-9]+ +[0-9]+ +[0-9]+ "
                           "+[0-9.]+ +[0-9.]+ +0\\.0 +16 +[0-9]+ +0 +- +(yes|no)\n")))
      << text.out;
  const Outcome watched = uet_ctl("paths --json --watch 0.01 --count 3 " + std::to_string(pid));
  EXPECT_EQ(std::count(watched.out.begin(), watched.out.end(), '\n'), 3) << watched.out;
  ends_[0].tell(0);
  EXPECT_GT(ends_[0].hear_value(), 0u);
  RolesTest::finish(pid);
}

// In order: a context for itself, with one entropy value at a time.
TEST_F(UetCtlPathsTest, AContextInOrderHasALane) {
  const pid_t pid = start_role(busy_pair, {{"FI_UET_CC", "aimd"}, {"FI_UET_MODE", "rod"}});
  const json path = sender_of(pid);
  EXPECT_EQ(path.at("kind"), "single");
  EXPECT_EQ(path.at("lane"), 1);
  EXPECT_EQ(path.at("algorithm"), "aimd");
  EXPECT_EQ(path.at("evs"), 1);
  EXPECT_TRUE(contains(uet_ctl("paths " + std::to_string(pid)).out, "  lane 1  aimd  "));
  ends_[0].tell(0);
  EXPECT_GT(ends_[0].hear_value(), 0u);
  RolesTest::finish(pid);
}

// More contexts than an answer holds: each is listed once, and the list and the recording are
// limited.
TEST_F(UetCtlPathsTest, ManyPeersComeInPages) {
  const pid_t pid = start_role(lonely_role, {{"FI_UET_PEER_TIMEOUT", "10min"}});
  const std::string id = std::to_string(pid);
  const json all = json::parse(uet_ctl("paths --json --most 100000 " + id).out, nullptr, false);
  ASSERT_EQ(all.size(), 1u);
  const json& paths = all[0].at("paths");
  EXPECT_EQ(paths.at("count"), kPeers);
  std::set<std::string> peers;
  for (const json& path : paths.at("listed")) peers.insert(path.at("peer"));
  EXPECT_EQ(peers.size(), kPeers);
  EXPECT_EQ(paths.at("listed").size(), kPeers);
  EXPECT_FALSE(paths.contains("next"));
  const Outcome brief = uet_ctl("paths --most 3 " + id);
  EXPECT_EQ(std::count(brief.out.begin(), brief.out.end(), '\n'), 1 + 1 + 3 + 1) << brief.out;
  EXPECT_TRUE(contains(brief.out, "\n  and 597 more\n")) << brief.out;

  const Outcome some = uet_ctl("record --quiet --interval 10ms --for 100ms --most 5 --out " +
                               file("some") + ' ' + id);
  EXPECT_EQ(some.status, 0) << some.out;
  EXPECT_TRUE(contains(some.out, " samples of 5 contexts in ")) << some.out;
  EXPECT_TRUE(contains(some.out, "; 595 contexts left out (--most)\n")) << some.out;
  EXPECT_EQ(lines(file("some")).back().at("left_out"), 595);
  const Outcome full = uet_ctl("record --quiet --interval 10ms --most 600 --max-mb 0.2 --out " +
                               file("full") + ' ' + id);
  EXPECT_EQ(full.status, 0) << full.out;
  EXPECT_TRUE(contains(full.out, "the file has the size of --max-mb")) << full.out;
  EXPECT_LE(fs::file_size(file("full")), 200'000u);
  EXPECT_GE(fs::file_size(file("full")), 140'000u);
  EXPECT_EQ(lines(file("full")).back().at("end"), "full");
  EXPECT_EQ(uet_ctl("plot " + file("full") + " --out " + file("page")).status, 0);
  EXPECT_GT(fs::file_size(file("page")), 200'000u);
  kill_and_reap(pid);  // its sends would hold up the close
}

TEST_F(UetCtlPathsTest, ARecordingHasSamples) {
  const pid_t pid = start_role(busy_pair, {{"FI_UET_MODE", "rud"}});
  const Outcome outcome = uet_ctl("record --interval 20ms --for 1500ms --out " + file("record") +
                                  " --page " + file("page") + ' ' + std::to_string(pid));
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(std::regex_search(
      outcome.out, std::regex("^1 s of 2 s, [0-9]+ samples of [12] contexts, [0-9]+ octets\n")))
      << outcome.out;
  const std::vector<json> all = lines(file("record"));
  ASSERT_GT(all.size(), 4u);
  EXPECT_EQ(all[0].at("uet_ctl_record"), 1);
  EXPECT_EQ(all[0].at("interval_ms"), 20);
  ASSERT_EQ(all[0].at("columns").size(), 12u);
  EXPECT_EQ(all[0].at("columns")[2], "inflight_bytes");
  EXPECT_EQ(all[1].at("path"), 0);
  EXPECT_EQ(all[1].at("pid"), pid);
  EXPECT_EQ(all[1].at("kind"), "sprayed");
  EXPECT_EQ(all.back().at("end"), "time");
  int64_t before = -1, acks = 0;
  uint64_t samples = 0;
  for (const json& line : all) {
    if (!line.contains("rows")) continue;
    ++samples;
    EXPECT_GT(line.at("t_us"), before);
    before = line.at("t_us");
    for (const json& row : line.at("rows")) {
      ASSERT_EQ(row.size(), 12u);
      if (row[0] == 0) acks = std::max(acks, row[6].get<int64_t>());
    }
  }
  EXPECT_EQ(all.back().at("samples"), samples);
  EXPECT_GT(samples, 1u);
  EXPECT_LE(samples, 75u);
  EXPECT_GT(acks, 0);
  EXPECT_GT(fs::file_size(file("page")), 100'000u);
  ends_[0].tell(0);
  EXPECT_GT(ends_[0].hear_value(), 0u);
  RolesTest::finish(pid);
}

// Ctrl-C ends it as time does; the file is whole.
TEST_F(UetCtlPathsTest, AnInterruptedRecordingIsKept) {
  const pid_t pid = start_role(busy_pair);
  const Outcome outcome = test::finish(
      begin("record --quiet --interval 10ms --out " + file("record") + ' ' + std::to_string(pid),
            "timeout --preserve-status -s INT 1 "));
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "; interrupted\n")) << outcome.out;
  const std::vector<json> all = lines(file("record"));
  ASSERT_GT(all.size(), 3u);
  EXPECT_EQ(all.back().at("end"), "interrupted");
  EXPECT_GT(all.back().at("samples"), 1);
  ends_[0].tell(0);
  EXPECT_GT(ends_[0].hear_value(), 0u);
  RolesTest::finish(pid);
}

TEST_F(UetCtlPathsTest, ARecordingEndsWithItsProcess) {
  const pid_t pid = start_role(busy_pair);
  std::FILE* const pipe = begin("record --interval 10ms --out - " + std::to_string(pid));
  std::string out;
  for (char line[400]; !contains(out, "\"rows\"") && std::fgets(line, sizeof line, pipe);)
    out += line;
  kill_and_reap(pid);
  const Outcome outcome = test::finish(pipe, out);
  EXPECT_TRUE(contains(outcome.out, "{\"end\":\"gone\",")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "; all processes have ended\n")) << outcome.out;
}

TEST_F(UetCtlPathsTest, ImpossibleRequestsAreReported) {
  const std::string self = std::to_string(getpid());  // opens no domain
  for (const std::string command : {"paths ", "record --out /dev/null "}) {
    const Outcome outcome = uet_ctl(command + self);
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "process " + self + " has no open uet domain here"));
  }
  for (const char* arguments :
       {"paths --most 0", "paths --count 3", "record", "record --out f --interval 1ms",
        "record --out f --interval 10", "record --out f --for soon", "record --out f --for -1s",
        "record --out - --page p", "record --out f --max-mb 0", "plot", "plot file",
        "plot /nowhere/file --out page", "plot /dev/zero --out page"}) {
    const Outcome outcome = uet_ctl(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  }
}

TEST_F(UetCtlPathsTest, AFileThatCannotBeWrittenIsReported) {
  const pid_t pid = start_role(busy_pair);
  for (const char* name : {"/nowhere/file", "/dev/full"}) {
    const Outcome outcome =
        uet_ctl(std::string("record --for 1s --out ") + name + ' ' + std::to_string(pid));
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, std::string(name) + " cannot be written: ")) << outcome.out;
  }
  kill_and_reap(pid);
}

// A file that is not a recording, or a broken one, is refused with its line; a truncated one is
// drawn.
TEST_F(UetCtlPathsTest, RecordingsAreChecked) {
  const std::string head =
      R"({"uet_ctl_record":1,"began_unix_ms":0,"interval_ms":100,"columns":["path","window_bytes",)"
      R"("inflight_bytes","waiting_bytes","rtt_ns","base_rtt_ns","acks","marked","evs",)"
      R"("evs_resting","evs_excluded","credit_bytes"]})";
  const auto plot = [&](const std::string& text) {
    std::ofstream(file("record")) << text;
    return uet_ctl("plot " + file("record") + " --out " + file("page"));
  };
  const std::string path = "\n{\"path\":0}\n";
  const struct {
    std::string text, complaint;
  } broken[] = {
      {"", ": this is not a recording"},
      {"no JSON", ":1: this is not a recording"},
      {"[]\n", ":1: this is not a recording"},
      {"{\"uet_ctl_record\":2}\n", ":1: a recording of another version"},
      {head + "\nno JSON\n{}\n", ":2: is not a JSON object"},
      {head + "\n{}\n", ":2: a line that is neither"},
      {head + "\n{\"path\":1}\n", ":2: a context out of turn"},
      {head + "\n{\"t_us\":1,\"rows\":[[0,1,1,1,1,1,1,1,1,1,1,1]]}\n", ":2: a row that names no"},
      {head + path + "{\"t_us\":1,\"rows\":[[0,1]]}\n", ":3: a row that names no context"},
      {head + path + "{\"t_us\":1,\"rows\":[[0,1,1,1,1,1,1,1,1,1,1,1e300]]}\n", ":3: a row with"},
      {head + path + "{\"t_us\":1,\"rows\":7}\n", ":3: a row that names no context"},
  };
  for (const auto& [text, complaint] : broken) {
    const Outcome outcome = plot(text);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_TRUE(contains(outcome.out, complaint)) << text << '\n' << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  }
  const std::string cut = head + path + "{\"t_us\":1,\"rows\":[[0,1,1,1,1,1,1,1,1,1,1,1]]}\n{\"t_u";
  EXPECT_EQ(plot(cut).status, 0);
  EXPECT_EQ(plot(head + "\n").status, 0) << "no sample yet";
}

}  // namespace
}  // namespace uet::prov::test

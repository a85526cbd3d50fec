// FI_UET_* parameters and the end of a process, each in a child process: the library reads the
// environment once.
#include "prov/uet/api/compat.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace uet::prov {
namespace {

// The answer of fi_getinfo for loopback in this process.
int ask(fi_info** info) {
  fi_info* hints = fi_allocinfo();
  hints->fabric_attr->prov_name = strdup("uet");
  const int result = fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints, info);
  fi_freeinfo(hints);
  return result;
}

// The exit status of a child that runs `role` after setting `name` (null: nothing); -1 when it did
// not end by itself within ten seconds.
template <class Role>
int in_child(const char* name, const char* value, Role role) {
  const pid_t child = fork();
  if (child == 0) {
    if (name != nullptr) setenv(name, value, 1);
    exit(role());
  }
  for (int i = 0; i < 1000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

int found() {
  fi_info* info = nullptr;
  const int result = ask(&info);
  fi_freeinfo(info);
  return -result;
}

// Opens a domain on loopback and leaves it open, in sight of leak checkers.
fi_info* kept_info = nullptr;
fid_fabric* kept_fabric = nullptr;
fid_domain* kept_domain = nullptr;

int open_domain() {
  if (ask(&kept_info) != 0) return FI_ENODATA;
  if (fi_fabric(kept_info->fabric_attr, &kept_fabric, nullptr) != 0) return FI_ENODATA;
  return -fi_domain(kept_fabric, kept_info, &kept_domain, nullptr);
}

// Text of a child on its standard error with that variable; `status` is its exit status.
std::string said(const char* name, const char* value, int& status,
                 const char* log_level = nullptr) {
  const int file = memfd_create("log", MFD_CLOEXEC);
  const auto role = [&] {
    unsetenv("FI_LOG_LEVEL");
    setenv("FI_LOG_PROV", "uet", 1);
    if (log_level != nullptr) setenv("FI_LOG_LEVEL", log_level, 1);
    dup2(file, STDERR_FILENO);
    found();  // fi_getinfo is asked again and again
    return found();
  };
  status = in_child(name, value, role);
  std::string text(1 << 16, '\0');
  text.resize(static_cast<size_t>(pread(file, text.data(), text.size(), 0)));
  close(file);
  return text;
}

size_t times(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct Setting {
  const char* name;
  const char* value;
};

// [LF-135, ABI-018, LF-129, LF-130, PDS-221] A wrong value leaves the default, as with other
// providers, and the user reads one warning, at any FI_LOG_LEVEL.
TEST(ParamsTest, WrongValuesLeaveTheDefaultAndTheUserReadsIt) {
  const Setting cases[] = {
      {"FI_UET_STATS", "/some/path"},
      {"FI_UET_PID_ON_FEP", "4096"},
      {"FI_UET_ADDR_MODE", "relative"},
      {"FI_UET_MODE", "fast"},
      {"FI_UET_PAYLOAD_MTU", "1500"},
      {"FI_UET_PAYLOAD_MTU", "16384"},
      {"FI_UET_IO", "carrier_pigeon"},
      {"FI_UET_PORT_RANGE", "16385-20479"},
      {"FI_UET_PORT_RANGE", "20000"},
      {"FI_UET_STRICT_PORT", "maybe"},
      {"FI_UET_SOCKBUF", "1"},
      {"FI_UET_HELPER", "2"},
      {"FI_UET_DSCP_DATA", "64"},
      {"FI_UET_TIMERS", "hard"},
      {"FI_UET_PROFILE", "ai"},
      {"FI_UET_MAX_PDCS", "0"},
      {"FI_UET_TX_WINDOW", "many"},
      {"FI_UET_PDC_PER_JOB", "2"},
      {"FI_UET_UNEXPECTED_BYTES", "64MB"},
      {"FI_UET_PEER_TIMEOUT", "60sec"},
      {"FI_UET_INTEROP", "everybody"},
  };
  for (const Setting& c : cases) {
    int status = -1;
    const std::string text = said(c.name, c.value, status);
    EXPECT_EQ(status, 0) << c.name << "=" << c.value;
    const std::string line = "uet: " + std::string(c.name) + "=" + c.value +
                             " is not valid, so the default is used; set it to: ";
    EXPECT_EQ(times(line, text), 1u) << text;
  }
}

// [LF-135] If the default would be less safe than the requested value, or something else, the
// provider offers nothing; the user reads a warning.
TEST(ParamsTest, WrongValuesOfStrictSettingsAreRefusedAndTheUserReadsIt) {
  const Setting cases[] = {
      {"FI_UET_JOB_ID", "0"},         {"FI_UET_JOB_ID", "16777216"},  {"FI_UET_JOB_ID", "seven"},
      {"FI_UET_FAULT", "loss=often"}, {"FI_UET_ALLOW", "10.0.0.1/8"},
  };
  for (const Setting& c : cases) {
    int status = -1;
    const std::string text = said(c.name, c.value, status);
    EXPECT_EQ(status, FI_ENODATA) << c.name << "=" << c.value;
    const std::string line = "uet: " + std::string(c.name) + "=" + c.value +
                             " is not valid, so the provider offers nothing; set it to: ";
    EXPECT_EQ(times(line, text), 1u) << text;
  }
}

// [LF-135] Protection that does not exist is refused, and the user reads why.
TEST(ParamsTest, RequestedProtectionWithoutSupportOffersNothing) {
  int status = -1;
  const std::string text = said("FI_UET_DATA_PROTECT", "2", status);
  EXPECT_EQ(status, FI_ENODATA);
  EXPECT_EQ(times("FI_UET_DATA_PROTECT=2 asks for protection that uet does not have", text), 1u)
      << text;
}

TEST(ParamsTest, ValuesThatMakeSenseAreTaken) {
  const struct {
    const char* name;
    const char* value;
  } cases[] = {
      {"FI_UET_JOB_ID", "16777215"},  {"FI_UET_PID_ON_FEP", "0x10"},
      {"FI_UET_ADDR_MODE", "abs"},    {"FI_UET_MODE", "rod"},
      {"FI_UET_PAYLOAD_MTU", "2048"}, {"FI_UET_PORT_RANGE", "16384-16399"},
      {"FI_UET_SOCKBUF", "0"},        {"FI_UET_FAULT", "loss=0.01,dup=0.001"},
      {"FI_UET_IFACE", "lo"},         {"FI_UET_IFACE", "127.0.0.1"},
      {"FI_UET_PROFILE", "ai_full"},  {"FI_UET_ALLOW", "::1,127.0.0.0/8"},
      {"FI_UET_MAX_PDCS", "65000"},   {"FI_UET_NO_SUCH_SETTING", "1"},
      {"FI_UET_INTEROP", "refprov"},  {"FI_UET_DATA_PROTECT", "0"},
      {"FI_UET_PEER_TIMEOUT", "90s"}, {"FI_UET_UNEXPECTED_BYTES", "128MiB"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(in_child(c.name, c.value, found), 0) << c.name << "=" << c.value;
  }
}

// A line says what the setting takes; unknown names and interfaces get a warning, too. With a log
// level the warnings are only in the log.
TEST(ParamsTest, TheWarningNamesTheRemedy) {
  int status = -1;
  const std::string value = said("FI_UET_MAX_PDCS", "0", status);
  EXPECT_NE(value.find("set it to: contexts, 1 to 65000, for example FI_UET_MAX_PDCS="), value.npos)
      << value;
  for (const char* const level : {static_cast<const char*>(nullptr), "warn"}) {
    const std::string name = said("FI_UET_MAX_PDC", "64", status, level);
    EXPECT_EQ(times("FI_UET_MAX_PDC is not a setting of uet and is ignored", name), 1u) << name;
    EXPECT_EQ(times("<warn> FI_UET_MAX_PDC", name), level != nullptr ? 1u : 0u) << name;
    EXPECT_EQ(status, 0);
    const std::string interface = said("FI_UET_IFACE", "no_such_interface", status, level);
    EXPECT_EQ(times("FI_UET_IFACE=no_such_interface is neither an interface", interface), 1u)
        << interface;
    EXPECT_EQ(status, FI_ENODATA);
    EXPECT_EQ(times("FI_UET", said("FI_UET_MAX_PDCS", "64", status, level)), 0u);
  }
}

TEST(ParamsTest, OtherInterfacesAreNotOffered) {
  EXPECT_EQ(in_child("FI_UET_IFACE", "no_such_interface", found), FI_ENODATA);
  EXPECT_EQ(in_child("FI_UET_IFACE", "127.0.0.8", found), FI_ENODATA);
}

// [LF-089] Without ROD messages are not ordered.
TEST(ParamsTest, UnorderedModeRefusesOrders) {
  const auto ordered = [] {
    fi_info* hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("uet");
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    fi_info* info = nullptr;
    const int result = -fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info);
    fi_freeinfo(hints);
    fi_freeinfo(info);
    return result;
  };
  EXPECT_EQ(in_child("FI_UET_MODE", "rud", ordered), FI_ENODATA);
  EXPECT_EQ(in_child("FI_UET_MODE", "auto", ordered), 0);
}

// [LF-081] Automatic progress is the helper thread's work.
TEST(ParamsTest, WithoutHelperThereIsNoAutomaticProgress) {
  const auto automatic = [] {
    fi_info* hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("uet");
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    fi_info* info = nullptr;
    const int result = -fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info);
    fi_freeinfo(hints);
    fi_freeinfo(info);
    return result;
  };
  EXPECT_EQ(in_child("FI_UET_HELPER", "0", automatic), FI_ENODATA);
}

// [PDS-221, LF-130] A domain opens with a tunable of the stack, and without one that is wrong.
TEST(ParamsTest, DomainsOpenWithStackTunables) {
  EXPECT_EQ(in_child("FI_UET_TX_WINDOW", "64", open_domain), 0);
  EXPECT_EQ(in_child("FI_UET_TX_WINDOW", "100000", open_domain), 0);
}

// [ABI-015] Threads stop before the library is unloaded.
TEST(ProcessEndTest, ApplicationMayLeaveWithoutClosing) {
  EXPECT_EQ(in_child(nullptr, nullptr, open_domain), 0);
}

TEST(ProcessEndTest, ForkedChildRefusesAndLeaves) {
  const auto fork_again = [] {
    if (open_domain() != 0) return 1;
    const int child = in_child(
        nullptr, nullptr, [] { return fi_close(&kept_domain->fid) == -FI_EOPBADSTATE ? 0 : 2; });
    return child == 0 ? -fi_close(&kept_domain->fid) : 3;
  };
  EXPECT_EQ(in_child(nullptr, nullptr, fork_again), 0);
}

}  // namespace
}  // namespace uet::prov

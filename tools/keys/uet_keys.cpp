// uet_keys: makes, shows, replaces and serves the keys of secure domains. docs/man/uet_keys.1.md is
// its manual.
#include "keys/counter_marks.h"
#include "keys/key_file.h"
#include "keys/timestamps.h"
#include "keys/words.h"
#include "tools/common/command_line.h"
#include "tools/keys/serve.h"
#include "wire/ip_address.h"

#include <nlohmann/json.hpp>

#include <sys/random.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <ctime>

namespace {

using namespace uet;
using namespace uet::keys;
using Json = nlohmann::ordered_json;

constexpr int kDone = 0;
constexpr int kFailed = 1;

struct Options {
  std::string file;
  uint32_t sdi = 0;
  std::string mode = "cluster";
  std::optional<uint32_t> ssi;
  std::string policy = "require";
  std::vector<uint32_t> jobs;
  uint32_t clear = 0;
  std::string client;
  uint32_t epoch = 0;
  std::string out;
  std::string socket;
  std::vector<std::string> allow;
  bool secrets = false;
  bool json = false;
  bool quiet = false;
};

// The output of a command, and the next step for the user.
struct Report {
  std::string file, done, next;
};

template <class T, size_t N>
T choice(const std::string_view (&words)[N], const std::string& given) {
  return static_cast<T>(std::find(std::begin(words), std::end(words), given) - std::begin(words));
}

void draw(std::span<std::byte> secret) {
  while (!secret.empty()) {
    const ssize_t n = getrandom(secret.data(), std::min<size_t>(secret.size(), 256), 0);
    if (n < 0) throw KeyFileError("the system gives no random numbers");
    secret = secret.subspan(static_cast<size_t>(n));
  }
}

KeyEntry new_key(const tss::Key& like, bool an) {
  KeyEntry entry;
  entry.key = like;
  entry.key.an = an;
  draw(entry.key.secret);
  entry.created = std::time(nullptr);
  return entry;
}

DomainEntry& domain_of(KeyFile& file, const Options& options) {
  DomainEntry* const domain = file.domain(options.sdi);
  if (domain == nullptr) {
    throw KeyFileError(options.file + ": there is no domain " + std::to_string(options.sdi) +
                       "; uet_keys inspect lists those that are there");
  }
  return *domain;
}

std::string of_domain(const Options& options) { return "domain " + std::to_string(options.sdi); }
std::string name_of(const tss::Key& key) {
  return std::string("AN ") + (key.an ? "1" : "0") + ", check " + check_value(key);
}
std::string command_line(const char* command, const Options& options) {
  return std::string("uet_keys ") + command + " " + options.file + " --sdi " +
         std::to_string(options.sdi);
}

// --- commands; each throws KeyFileError ---

Report generate(const Options& options) {
  KeyFile file;
  if (access(options.file.c_str(), F_OK) == 0) file = read_key_file(options.file);
  if (file.domain(options.sdi) != nullptr) {
    throw KeyFileError(options.file + ": domain " + std::to_string(options.sdi) +
                       " is there already; its next key is made by uet_keys roll");
  }
  DomainEntry domain;
  domain.terms.sdi = options.sdi;
  domain.terms.mode = choice<tss::Mode>(kModes, options.mode);
  domain.terms.use_ssi = options.ssi.has_value();
  domain.terms.ssi = options.ssi.value_or(0);
  domain.policy = choice<tss::Policy>(kPolicies, options.policy);
  domain.jobs = options.jobs;
  tss::Key like;
  like.sdi = options.sdi;
  like.mode = domain.terms.mode;
  like.clear_bytes = static_cast<uint8_t>(options.clear);
  domain.keys.push_back(new_key(like, false));
  file.domains.push_back(domain);
  parse_key_file(text_of(file), options.file);  // the options are legal together
  write_key_file(file, options.file);
  std::string next = "copy the file to all hosts of the domain";
  if (domain.terms.mode == tss::Mode::server) {
    next = "make a file for each client: " + command_line("client", options) +
           " --client CLIENT --out FILE";
  } else if (domain.terms.use_ssi) {
    next += ", and give each an ssi of its own in it";
  }
  return {options.file,
          of_domain(options) + " with a new key (" + name_of(domain.keys[0].key) + ")", next};
}

// Step 1 of a rollover: the next key, which is received and not yet sent with. [TSS-045]
Report roll(const Options& options) {
  KeyFile file = read_key_file(options.file);
  DomainEntry& domain = domain_of(file, options);
  if (domain.keys.size() > 1) {
    throw KeyFileError(options.file + ": the domain has two keys; retire the old one first");
  }
  if (domain.terms.mode == tss::Mode::client) {
    throw KeyFileError(options.file + ": the next key of a client comes from its server");
  }
  const tss::Key& now = domain.keys.front().key;
  domain.keys.push_back(new_key(now, !now.an));
  write_key_file(file, options.file);
  return {options.file,
          of_domain(options) + " has a second key (" + name_of(domain.keys[1].key) + ")",
          "copy the file to all hosts, then on each: " + command_line("activate", options)};
}

void require_two_keys(const DomainEntry& domain, const Options& options) {
  if (domain.keys.size() > 1) return;
  throw KeyFileError(options.file + ": domain " + std::to_string(options.sdi) +
                     " has one key only; make the next one with uet_keys roll");
}

// Step 2: send with the other key. [TSS-046]
Report activate(const Options& options) {
  KeyFile file = read_key_file(options.file);
  DomainEntry& domain = domain_of(file, options);
  require_two_keys(domain, options);
  domain.transmit = !domain.transmit;
  write_key_file(file, options.file);
  const auto guard_s = static_cast<long long>(domain.terms.guard.ms() / 1000);
  return {options.file,
          of_domain(options) + " sends with " + name_of(domain.key(domain.transmit)->key),
          "the same on all hosts, and " + std::to_string(guard_s) +
              " s later on each: " + command_line("retire", options)};
}

// Step 4: the key that is not sent with goes. [TSS-048]
Report retire(const Options& options) {
  KeyFile file = read_key_file(options.file);
  DomainEntry& domain = domain_of(file, options);
  require_two_keys(domain, options);
  std::erase_if(domain.keys, [&](const KeyEntry& k) { return k.key.an != domain.transmit; });
  write_key_file(file, options.file);
  return {options.file, of_domain(options) + " has one key (" + name_of(domain.keys[0].key) + ")",
          "the same on all hosts"};
}

// The domain and its keys go: processes close it. [TSS-146]
Report remove(const Options& options) {
  KeyFile file = read_key_file(options.file);
  const auto closing_s = static_cast<long long>(domain_of(file, options).terms.closing.ms() / 1000);
  std::erase_if(file.domains, [&](const DomainEntry& d) { return d.terms.sdi == options.sdi; });
  write_key_file(file, options.file);
  return {options.file,
          of_domain(options) + " is removed; processes close it within " +
              std::to_string(closing_s) + " s",
          "the same on all hosts"};
}

// The keys that a server gives one of its clients, named by address or SSI. [TSS-031, TSS-033]
Report give_client(const Options& options) {
  KeyFile file = read_key_file(options.file);
  const DomainEntry& server = domain_of(file, options);
  if (server.terms.mode != tss::Mode::server) {
    throw KeyFileError(options.file + ": domain " + std::to_string(options.sdi) +
                       " has no clients: only those of mode server have");
  }
  const auto address = wire::parse_ip_address(options.client);
  const bool is_v4 = address.ok() && address->family == wire::IpFamily::v4;
  uint32_t ssi = 0;
  const char* const end = options.client.data() + options.client.size();
  const auto number = std::from_chars(options.client.data(), end, ssi);
  const bool is_ssi = !address.ok() && number.ec == std::errc() && number.ptr == end;
  if (server.terms.use_ssi ? !is_ssi : !is_v4) {
    throw KeyFileError(server.terms.use_ssi ? "a client of this domain has an SSI, a number"
                                            : "a client of this domain has an IPv4 address");
  }
  KeyFile made;
  DomainEntry client = server;
  const auto listed = std::ranges::find(server.clients, ssi, &ClientEntry::ssi);
  if (server.terms.has_clients && listed == server.clients.end()) {
    throw KeyFileError(options.file + ": clients: none has this ssi");
  }
  client.clients.clear();
  client.terms.has_clients = false;
  client.terms.mode = tss::Mode::client;
  client.terms.ssi = ssi;
  const wire::TssHeader header{.sp = is_ssi, .ssi = ssi, .tsc = uint64_t{options.epoch} << 48};
  const wire::IpAddress owner = is_v4                            ? *address
                                : listed != server.clients.end() ? listed->address
                                                                 : wire::IpAddress{};
  for (KeyEntry& entry : client.keys) {
    tss::Kdf kdf;
    tss::KeyMaterial pair;
    const bool is_derived = kdf.create().ok() && kdf.set_master(entry.key.secret) &&
                            kdf.derive(entry.key, header, owner, pair);
    if (!is_derived) throw KeyFileError("the cipher library failed");
    std::copy(pair.sdk().begin(), pair.sdk().end(), entry.key.secret.begin());
    std::copy(pair.iv_mask().begin(), pair.iv_mask().end(), entry.key.iv_mask.begin());
    entry.key.mode = tss::Mode::client;
    entry.key.epoch = static_cast<uint16_t>(options.epoch);
  }
  made.domains.push_back(client);
  write_key_file(made, options.out);
  return {options.out, of_domain(options) + ", the keys of client " + options.client,
          "move the file to this client, which needs no other"};
}

Json json_of(const DomainEntry& domain, bool with_secrets) {
  Json out = {{"sdi", domain.terms.sdi},
              {"mode", word(kModes, domain.terms.mode)},
              {"policy", word(kPolicies, domain.policy)},
              {"jobs", domain.jobs},
              {"transmit", domain.transmit ? 1 : 0},
              {"keys", Json::array()}};
  if (domain.terms.use_ssi) out["ssi"] = domain.terms.ssi;
  for (const KeyEntry& entry : domain.keys) {
    Json key = {{"an", entry.key.an ? 1 : 0}, {"check", check_value(entry.key)}};
    if (entry.key.epoch) key["epoch"] = *entry.key.epoch;
    if (entry.epoch) key["epoch"] = *entry.epoch;
    if (entry.epoch_floor) key["epoch_floor"] = *entry.epoch_floor;
    if (entry.created) key["created"] = text_of_time(*entry.created);
    if (entry.expires) key["expires"] = text_of_time(*entry.expires);
    if (with_secrets) key["line"] = key_line(entry.key);
    out["keys"].push_back(key);
  }
  return out;
}

void print(const DomainEntry& domain, bool with_secrets) {
  std::printf("domain %u: mode %s, policy %s", domain.terms.sdi,
              word(kModes, domain.terms.mode).data(), word(kPolicies, domain.policy).data());
  if (domain.terms.use_ssi) std::printf(", ssi 0x%x", domain.terms.ssi);
  for (size_t i = 0; i < domain.jobs.size(); ++i) {
    std::printf("%s%u", i == 0 ? ", jobs " : " ", domain.jobs[i]);
  }
  std::printf("\n");
  for (const KeyEntry& entry : domain.keys) {
    std::printf("  AN %d: check %s%s", entry.key.an ? 1 : 0, check_value(entry.key).c_str(),
                entry.key.an == domain.transmit ? ", sends and receives" : ", receives");
    if (entry.created) std::printf(", created %s", text_of_time(*entry.created).c_str());
    if (entry.expires) std::printf(", expires %s", text_of_time(*entry.expires).c_str());
    std::printf("\n");
    if (with_secrets) std::printf("  %s\n", key_line(entry.key).c_str());
  }
}

Report inspect(const Options& options) {
  const KeyFile file = read_key_file(options.file);
  Json report = {{"domains", Json::array()}};
  for (const DomainEntry& domain : file.domains) {
    if (options.json) {
      report["domains"].push_back(json_of(domain, options.secrets));
    } else {
      print(domain, options.secrets);
    }
  }
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return {};
}

Report lines(const Options& options) {
  const KeyFile file = read_key_file(options.file);
  for (const DomainEntry& domain : file.domains) {
    for (const KeyEntry& entry : domain.keys) std::printf("%s\n", key_line(entry.key).c_str());
  }
  return {};
}

Report counters(const Options& options) {
  CounterMarks::create(options.file);
  return {options.file, "counters of this host, never to be copied or restored",
          "uet_keys generate KEY-FILE --sdi N, or copy the key file of another host"};
}

Report serve(const Options& options) {
  tools::serve({options.file, options.socket, options.allow});
  return {};
}

void tell(const Report& report, const Options& options) {
  if (report.file.empty() || options.quiet) return;
  if (options.json) {
    const Json out = {{"file", report.file}, {"done", report.done}, {"next", report.next}};
    std::printf("%s\n", out.dump(2).c_str());
  } else {
    std::printf("%s: %s. Next: %s\n", report.file.c_str(), report.done.c_str(),
                report.next.c_str());
  }
}

// --- command line ---

struct Command {
  const char* name;
  const char* text;
  Report (*run)(const Options&);
  bool needs_sdi;
  bool writes;
};

constexpr Command kCommands[] = {
    {"generate", "Add a domain with a new key to FILE", generate, true, true},
    {"inspect", "Show domains and keys, without secrets", inspect, false, false},
    {"lines", "Print the keys, with secrets, for Wireshark and uet_pcap", lines, false, false},
    {"roll", "Rollover, step 1: add a new key; hosts receive with both", roll, true, true},
    {"activate", "Rollover, step 2: send with the new key", activate, true, true},
    {"retire", "Rollover, step 3: remove the old key", retire, true, true},
    {"remove", "Take a domain out of use: remove it and its keys", remove, true, true},
    {"client", "Write the key file of one client of a domain of mode server", give_client, true,
     true},
    {"serve", "Key agent: give the keys to processes with FI_UET_TSS=agent", serve, false, false},
    {"counters", "Make the counter file of this host, once", counters, false, true},
};

void add_options(CLI::App& command, const std::string& name, Options& options) {
  if (name == "generate") {
    command.add_option("--mode", options.mode, "direct, cluster or server")
        ->check(CLI::IsMember({"direct", "cluster", "server"}))
        ->capture_default_str();
    command.add_option("--ssi", options.ssi, "Source identifier of this host");
    command.add_option("--policy", options.policy, "none, allow or require")
        ->check(CLI::IsMember({"none", "allow", "require"}))
        ->capture_default_str();
    command
        .add_option("--job", options.jobs,
                    "JobIDs of the domain (default: all that no other domain lists)")
        ->delimiter(',')
        ->check(CLI::Range(0, 0xFFFFFF));
    command
        .add_option("--clear", options.clear,
                    "Octets of each packet in the clear, authenticated: 0, 12 to 64")
        ->check(CLI::Range(0, 64));
  } else if (name == "inspect") {
    command.add_flag("--json", options.json, "Print JSON");
    command.add_flag("--secrets", options.secrets, "Also print the secrets");
  } else if (name == "serve") {
    command.add_option("--socket", options.socket, "Path of the socket to listen on")->required();
    command
        .add_option("--allow", options.allow,
                    "A user that gets the keys, may be repeated; without it our own user")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check([](const std::string& user) {
          return tools::user_of(user) ? "" : "there is no user " + user;
        });
  } else if (name == "client") {
    command.add_option("--client", options.client, "IPv4 address of the client, or its SSI")
        ->required();
    command.add_option("--epoch", options.epoch, "Epoch of the keys (default 0)")
        ->check(CLI::Range(0, 0xFFFF));
    command.add_option("--out", options.out, "Key file to write, for the client")->required();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Makes, shows, replaces and serves the keys of secure domains (key files). Files get mode "
      "0600.\n"
      "Exit status: 0 done, 1 a file is wrong or cannot be read or written, 2 wrong usage.",
      "uet_keys"};
  Options options;
  for (const Command& one : kCommands) {
    CLI::App* const command = app.add_subcommand(one.name, one.text);
    command->add_option("FILE", options.file, "The file")->required();
    if (one.needs_sdi) {
      command->add_option("--sdi", options.sdi, "The domain, 1 to 16777215")
          ->required()
          ->check(CLI::Range(1, 0xFFFFFF));
    }
    if (one.writes) {
      command->add_flag("--json", options.json,
                        "Print what was written and what to do next as JSON");
      command->add_flag("-q,--quiet", options.quiet, "Print nothing");
    }
    add_options(*command, one.name, options);
  }
  if (const auto status = tools::parse(app, argc, argv, tools::Commands::required)) return *status;
  for (const Command& one : kCommands) {
    if (!app.got_subcommand(one.name)) continue;
    try {
      tell(one.run(options), options);
    } catch (const KeyFileError& e) {
      std::fprintf(stderr, "uet_keys %s: %s\n", one.name, e.what());
      return kFailed;
    }
  }
  return tools::ended(app, kDone, kFailed);
}

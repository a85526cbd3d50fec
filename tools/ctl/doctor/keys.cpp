// Reads key and counter files as a domain does.
#include "tools/ctl/doctor/keys.h"

#include "prov/uet/settings/usual_paths.h"

#include "keys/counter_marks.h"
#include "keys/key_file.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace uet::tools {
namespace {

std::string path_or(const std::string& given, const char* usual) {
  return given.empty() ? usual : given;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A domain without jobs serves jobs that no other domain names.
bool serves(const keys::KeyFile& file, uint32_t job) {
  return std::any_of(file.domains.begin(), file.domains.end(), [&](const keys::DomainEntry& d) {
    return d.jobs.empty() || std::find(d.jobs.begin(), d.jobs.end(), job) != d.jobs.end();
  });
}

void look_at(const keys::KeyFile& file, uint32_t job, KeyFacts& facts) {
  facts.domains = static_cast<uint32_t>(file.domains.size());
  facts.serves_job = serves(file, job);
  for (const keys::DomainEntry& domain : file.domains) {
    const keys::KeyEntry* const key = domain.key(domain.transmit);
    const bool is_over = key != nullptr && key->expires && *key->expires <= ::time(nullptr);
    if (is_over) facts.expired.push_back(domain.terms.sdi);
  }
}

}  // namespace

KeyFacts look_at_keys(const prov::Settings& settings) {
  KeyFacts facts;
  facts.can_seal = true;
  const std::string path = path_or(settings.tss_keys, prov::kUsualKeyFile);
  const std::string counters = path_or(settings.tss_counters, prov::kUsualCounterFile);
  facts.remedy = is_there(path) ? "mend " + path + " (docs/howto/keys.md)"
                                : "copy it from another host, or make it with uet_keys generate " +
                                      path + " --sdi N; or set FI_UET_TSS_KEYS";
  try {
    look_at(keys::read_key_file(path), settings.job_id, facts);
    facts.remedy = is_there(counters) ? "mend " + counters + " (docs/howto/keys.md)"
                                      : "uet_keys counters " + counters +
                                            ", if this host has never sealed with these keys";
    const keys::CounterMarks readable(counters);
    facts.remedy.clear();
  } catch (const keys::KeyFileError& error) {
    facts.problem = error.what();
  }
  return facts;
}

}  // namespace uet::tools

// Files of secure domains where no setting names others.
#pragma once

namespace uet::prov {

inline constexpr const char* kUsualKeyFile = "/etc/uet/keys.toml";      // FI_UET_TSS_KEYS
inline constexpr const char* kUsualCounterFile = "/etc/uet/counters";   // FI_UET_TSS_COUNTERS
inline constexpr const char* kUsualAgentSocket = "/run/uet/keys.sock";  // FI_UET_TSS_AGENT

}  // namespace uet::prov

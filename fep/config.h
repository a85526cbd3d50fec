// The configs of all layers, which a FabricEndpoint is created from. The settings FI_UET_* that
// reach them, with unit, range and text, are rows of prov/uet/settings.
#pragma once

#include "fep/allow_list.h"

#include "cms/config.h"
#include "pds/config.h"
#include "ses/config.h"

namespace uet::fep {

struct Config {
  pds::Config pds;
  ses::Config ses;
  cms::Config cms;
  // Remote FEPs known at one time; memory is taken as they come. The number of PDCs, tombstones and
  // kept messages limits how many strangers can have known.
  uint32_t peers_max = 4'000'000;
  // Share of ses.unexpected_bytes in use from which on sources are asked for less; when all is
  // used, for the minimum; 0: never. [CMS-116]
  uint32_t pressure_percent = 0;
  // Large pools become memory step by step, for systems that do not overcommit. [decision 15]
  bool commit_in_steps = false;
  AllowList allow;  // sources whose packets are accepted
};

}  // namespace uet::fep

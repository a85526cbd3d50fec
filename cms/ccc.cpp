// Which algorithm a congestion control context uses.
#include "cms/ccc.h"

namespace uet::cms {
namespace {

std::variant<AimdWindow, FixedWindow> make(const Config& config) {
  if (config.algorithm == Algorithm::fixed) return FixedWindow(config);
  return AimdWindow(config);
}

}  // namespace

Ccc::Ccc(const Config& config) : algorithm_(make(config)) {}

}  // namespace uet::cms

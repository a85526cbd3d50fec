// A build without toml++ reads no files.
#include "sim/training/training_file.h"

#include "sim/traffic/traffic.h"

namespace uet::sim {

void read_training(Training&, std::string_view, const std::string& name) {
  throw TrafficError(name +
                     ": this build reads no TOML, because toml++ was not there "
                     "(Debian: libtomlplusplus-dev)");
}

void read_training_file(Training& training, const std::string& path) {
  read_training(training, {}, path);
}

}  // namespace uet::sim

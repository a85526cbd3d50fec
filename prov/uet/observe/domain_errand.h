// Work of an engine's helper thread for an open domain besides running the engine: answers uet_ctl,
// and checks once a second whether the network interface still works.
#pragma once

#include "prov/uet/observe/control_socket.h"
#include "prov/uet/progress/progress.h"

#include <memory>
#include <string>
#include <string_view>

namespace uet::prov {

class Domain;
struct DomainEngine;

class DomainErrand final : public Errand {
 public:
  // `domain` and `engine`, one of its engines, must outlive this object. Opens the socket of
  // uet_ctl unless FI_UET_STATS=0.
  DomainErrand(Domain& domain, const DomainEngine& engine);

  int fd() const override { return control_ != nullptr ? control_->fd() : -1; }
  Instant run(Instant now) override;

 private:
  void look_at_network(Instant now);
  std::string answer(std::string_view request) const;

  Domain& domain_;
  const DomainEngine& engine_;
  const Instant opened_;
  Instant look_at_;  // when the network is looked at next
  std::unique_ptr<ControlSocket> control_;
};

}  // namespace uet::prov

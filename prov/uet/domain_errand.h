// What the helper thread does for an open domain beside running its engine: answers uet_ctl.
#pragma once

#include "prov/uet/control_socket.h"
#include "prov/uet/progress.h"

#include <memory>

namespace uet::prov {

class Domain;

class DomainErrand final : public Errand {
 public:
  // `domain` and `engine` must outlive this object. Opens the socket of uet_ctl unless
  // FI_UET_STATS=0.
  DomainErrand(const Domain& domain, ProgressEngine& engine);

  int fd() const override { return control_ != nullptr ? control_->fd() : -1; }
  Instant run(Instant now) override;

 private:
  std::string answer() const;

  const Domain& domain_;
  ProgressEngine& engine_;
  const Instant opened_;
  std::unique_ptr<ControlSocket> control_;
};

}  // namespace uet::prov

// One message to send, by any of libfabric's calls.
#pragma once

#include "tools/stress/outbox.h"

namespace uet::stress {

class Sending : public Operation {
 public:
  static std::unique_ptr<Operation> make(const Options& options, Node& node, const PeerRef& peer,
                                         uint32_t slot, uint32_t incarnation, uint32_t stream,
                                         Rng& rng);

  ssize_t post(fid_ep* ep) override;
  void on_accepted() override;
  std::unique_ptr<Operation> finish(std::string& defect) override;
  bool has_completion() const override { return call_ != Call::inject; }
  size_t bytes() const override { return buffer_.size(); }
  std::string text() const override;

 private:
  enum class Call : uint8_t {
    send,
    vector,
    message,
    inject,
  };
  Sending(Count its_kind, const PeerRef& target) : Operation(its_kind, target) {}
  ssize_t post_plain(fid_ep* ep);
  ssize_t post_tagged(fid_ep* ep);
  size_t pieces(iovec* iov) const;

  MessageId id_;
  Call call_ = Call::send;
  bool carries_data_ = false;
  uint64_t flags_ = 0;     // of Call::message
  size_t pieces_max_ = 1;  // of Call::vector and Call::message
  std::vector<uint8_t> buffer_;
};

}  // namespace uet::stress

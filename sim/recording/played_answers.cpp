// Sinks and I/O of a replay; see played_answers.h.
#include "sim/recording/played_answers.h"

#include <optional>

namespace uet::recording {
namespace {

uint32_t op_number(const void* op) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(op));
}

}  // namespace

// The Engine's I/O: the script's datagrams, fates and errors.
class PlayedIo final : public io::PacketIo {
 public:
  explicit PlayedIo(PlayedAnswers& answers) : answers_(answers) {}
  io::IoCaps caps() const override { return {}; }
  FabricAddress local_address() const override { return {}; }
  int wait_fd() const override { return -1; }
  void send(std::span<TxPacket> packets) override { answers_.leave(packets); }
  std::span<RxDatagram> receive() override { return answers_.arrive(); }
  std::span<const io::PathError> path_errors() override { return answers_.path_errors(); }
  uint32_t route_mtu(const FabricAddress& to) override { return answers_.route_mtu(to); }

 private:
  PlayedAnswers& answers_;
};

std::unique_ptr<io::PacketIo> PlayedAnswers::io() { return std::make_unique<PlayedIo>(*this); }

ses::CompletionSink PlayedAnswers::sink_of(const Sink& shape) {
  PlayedSink& played = sinks_.emplace_back();
  played.answers = this;
  played.number = static_cast<uint32_t>(sinks_.size() - 1);
  ses::CompletionSink sink;
  sink.owner = &played;
  sink.complete = on_complete;
  if (shape.reserves) sink.reserve = on_reserve;
  if (shape.releases) sink.release = on_release;
  sink.carries_data = shape.carries_data;
  sink.all_remote = shape.all_remote;
  return sink;
}

void PlayedAnswers::on_complete(void* owner, const ses::Completion& c) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  PlayedAnswers& a = *sink.answers;
  Completed out = completed(sink.number, c);
  out.context = {op_number(c.context.op), c.context.user};
  if (const Pieces* const post = a.objects_.post_of(out.context)) {
    const MemoryImage& memory = a.objects_.memory();
    const auto at = c.buffer == nullptr ? std::nullopt : memory.offset_of(*post, c.buffer);
    out.buffer = at ? *at + 1 : 0;
    out.digest = memory.digest_of(*post, at.value_or(0), c.bytes);
  }
  a.said(Kind::completed, out);
  if (!a.script_.is_over()) ++a.outcome_.completions;
}

bool PlayedAnswers::on_reserve(void* owner) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  Script& script = sink.answers->script_;
  const Record* const record = script.peek(sink.answers->number_, Kind::reserved);
  Reserved recorded;
  if (record != nullptr && decode(record->body, recorded) && recorded.sink != sink.number) {
    sink.answers->said(Kind::reserved, Reserved{sink.number, recorded.answer});
    return false;
  }
  return script.asked(sink.answers->number_, Kind::reserved, recorded) && recorded.answer;
}

void PlayedAnswers::on_release(void* owner) {
  const PlayedSink& sink = *static_cast<PlayedSink*>(owner);
  sink.answers->said(Kind::released, Released{sink.number});
}

void PlayedAnswers::said_packets(std::span<const TxPacket> packets) {
  said(Kind::packets, packets_of(packets));
  if (!script_.is_over()) outcome_.packets += packets.size();
}

void PlayedAnswers::leave(std::span<TxPacket> packets) {
  said_packets(packets);
  Fates fates;
  script_.asked(number_, Kind::fates, fates);
  if (set_fates(fates, packets)) return;
  script_.fail("it has fates of other packets");
  set_fates(Fates{}, packets);
}

std::span<RxDatagram> PlayedAnswers::lend(Datagrams& datagrams) {
  lent_.clear();
  for (Datagrams::Datagram& d : datagrams.all) {
    d.about.bytes = d.octets;
    lent_.push_back(d.about);
  }
  return lent_;
}

std::span<RxDatagram> PlayedAnswers::arrive() {
  script_.asked(number_, Kind::datagrams, arrived_);
  return lend(arrived_);
}

std::span<const io::PathError> PlayedAnswers::path_errors() {
  PathErrors recorded;
  script_.asked(number_, Kind::path_errors, recorded);
  errors_.clear();
  for (const PathErrors::Error& e : recorded.all) {
    errors_.push_back({e.to, static_cast<int>(e.error)});
  }
  return errors_;
}

uint32_t PlayedAnswers::route_mtu(const FabricAddress& to) {
  RouteMtu recorded;
  const Record* const record = script_.peek(number_, Kind::route_mtu);
  if (record != nullptr && decode(record->body, recorded) && recorded.to != to) {
    said(Kind::route_mtu, RouteMtu{to, recorded.mtu_bytes});
    return 0;
  }
  script_.asked(number_, Kind::route_mtu, recorded);
  return recorded.mtu_bytes;
}

}  // namespace uet::recording

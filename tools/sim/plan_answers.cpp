// Tables for people, and the same as JSON.
#include "tools/sim/plan_answers.h"

#include "sim/traffic/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace uet::tools {

namespace {

using nlohmann::json;
using sim::quantity_text;
using sim::Unit;

[[gnu::format(printf, 2, 3)]] void add(std::string& out, const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  out += line;
}

// GPUs are whole, and there is one at least.
double ceiled(double value) { return std::max(std::ceil(value - 1e-6), 1.0); }

// "1,234": rounded up.
std::string whole(double value) {
  std::array<char, 400> all{};  // of any double
  std::snprintf(all.data(), all.size(), "%.0f", ceiled(value));
  std::string digits = all.data();
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string bytes_text(double value) { return quantity_text(value, Unit::bytes); }
std::string time_text(double seconds) { return quantity_text(seconds, Unit::time); }

void add_sizing(std::string& out, const SizingAnswer& a) {
  add(out, "work         %s, %s\n", quantity_text(a.flop, Unit::flop).c_str(), a.from.c_str());
  add(out, "GPU          %s sustained: %.3g %% of %s\n",
      quantity_text(a.tflops * a.utilisation, Unit::tflops).c_str(), a.utilisation * 100,
      quantity_text(a.tflops, Unit::tflops).c_str());
  if (!a.gpus) {
    const double hours = a.flop / (a.tflops * 1e12 * a.utilisation) / 3600;
    add(out, "GPU hours    %s\n", whole(hours).c_str());
    return;
  }
  add(out, "GPUs         %s%s\n", whole(*a.gpus).c_str(), a.is_gpus_given ? ", given" : "");
  add(out, "time         %s%s\n", time_text(*a.seconds).c_str(), a.is_gpus_given ? "" : ", given");
}

void add_bytes(std::string& out, const sim::StepBytes& bytes) {
  add(out, "bytes that a rank sends in a step, mean of all ranks:\n");
  add(out, "  %-6s", "");
  for (const char* level : sim::kLevelNames) add(out, " %11s", level);
  add(out, " %16s\n", "busiest rank");
  for (size_t cause = 0; cause < sim::kCauseNames.size(); ++cause) {
    add(out, "  %-6s", sim::kCauseNames[cause]);
    for (const double value : bytes.mean[cause]) add(out, " %11s", bytes_text(value).c_str());
    add(out, " %16s\n", bytes_text(bytes.most[cause]).c_str());
  }
  add(out, "fabric       %s for each rank, of which %.1f %% stay on their rail\n",
      bytes_text(bytes.fabric()).c_str(), bytes.rail_share() * 100);
}

void add_time(std::string& out, const sim::StepTime& t) {
  add(out, "step         %s: computing %s", time_text(t.total()).c_str(),
      time_text(t.compute).c_str());
  const struct {
    const char* name;
    double seconds;
  } parts[] = {{"TP", t.tp},        {"EP", t.ep},     {"bubble", t.bubble},
               {"PP", t.transfers}, {"FSDP", t.fsdp}, {"DP", t.dp}};
  for (const auto& [name, seconds] : parts) {
    if (seconds > 0) add(out, ", %s %s", name, time_text(seconds).c_str());
  }
  add(out, "\n");
}

void add_step(std::string& out, const StepAnswer& a) {
  const sim::Parallelism& p = a.training.parallelism;
  const uint32_t gpus = a.training.cluster.gpus_per_node;
  add(out, "ranks        %u on %u nodes: DP %u x FSDP %u x TP %u x PP %u; EP %u\n",
      a.training.ranks(), (a.training.ranks() + gpus - 1) / gpus, p.dp, p.fsdp, p.tp, p.pp, p.ep);
  const sim::RankMemory& m = a.memory;
  add(out, "memory       %s for each rank: weights %s, gradients %s, optimizer %s,\n",
      bytes_text(m.total()).c_str(), bytes_text(m.weights).c_str(), bytes_text(m.gradients).c_str(),
      bytes_text(m.optimizer).c_str());
  add(out, "             activations %s", bytes_text(m.activations).c_str());
  if (m.gathered > 0) add(out, ", gathered layers %s", bytes_text(m.gathered).c_str());
  add(out, "\n");
  add_bytes(out, a.bytes);
  add_time(out, a.time);
  const double tokens = a.training.tokens_of_step();
  add(out, "speed        %s tokens a step, %s a second; %.1f %% of the peak\n",
      quantity_text(tokens, Unit::count).c_str(),
      quantity_text(tokens / a.time.total(), Unit::count).c_str(), a.utilisation() * 100);
  if (a.tokens) {
    add(out, "training     %s tokens take %s\n", quantity_text(*a.tokens, Unit::count).c_str(),
        time_text(*a.tokens / tokens * a.time.total()).c_str());
  }
}

void add_all_reduce(std::string& out, const AllReduceAnswer& a) {
  add(out, "all-reduce   %s among %u ranks, %s and %s from host to host:\n",
      bytes_text(a.bytes).c_str(), a.ranks, quantity_text(a.cluster.link_gbps, Unit::gbps).c_str(),
      time_text(static_cast<double>(a.cluster.link_latency.ns()) * 1e-9).c_str());
  const auto line = [&](const std::string& name, double seconds) {
    // The time of a ring without latency is the bound for all of them.
    const double rate = 2.0 * (a.ranks - 1) / a.ranks * a.bytes * 8 / seconds * 1e-9;
    add(out, "  %-28s %-9s bus bandwidth %s\n", name.c_str(), time_text(seconds).c_str(),
        quantity_text(rate, Unit::gbps).c_str());
  };
  line("ring", a.ring);
  line("two trees, " + std::to_string(a.chunks) + " chunks", a.tree);
  line("halving and doubling", a.halving);
  if (a.levels > 0) {
    line("nodes of " + std::to_string(a.cluster.gpus_per_node) + ", then rails", a.levels);
  }
}

json json_of(const SizingAnswer& a) {
  json out = {{"flop", a.flop},
              {"work_from", a.from},
              {"gpu_tflops", a.tflops},
              {"utilisation", a.utilisation},
              {"gpu_hours", a.flop / (a.tflops * 1e12 * a.utilisation) / 3600}};
  if (a.gpus) out["gpus"] = ceiled(*a.gpus);
  if (a.seconds) out["seconds"] = *a.seconds;
  return out;
}

json json_of(const StepAnswer& a) {
  json bytes;
  for (size_t cause = 0; cause < sim::kCauseNames.size(); ++cause) {
    const sim::Levels& levels = a.bytes.mean[cause];
    bytes[sim::kCauseNames[cause]] = {{"scale_up", levels[0]},
                                      {"same_rail", levels[1]},
                                      {"cross_rail", levels[2]},
                                      {"busiest_rank", a.bytes.most[cause]}};
  }
  const double tokens = a.training.tokens_of_step();
  json out = {{"ranks", a.training.ranks()},
              {"memory_bytes",
               {{"weights", a.memory.weights},
                {"gathered", a.memory.gathered},
                {"gradients", a.memory.gradients},
                {"optimizer", a.memory.optimizer},
                {"activations", a.memory.activations},
                {"total", a.memory.total()}}},
              {"bytes_of_rank", bytes},
              {"fabric_bytes", a.bytes.fabric()},
              {"rail_share", a.bytes.rail_share()},
              {"seconds",
               {{"computing", a.time.compute},
                {"TP", a.time.tp},
                {"EP", a.time.ep},
                {"bubble", a.time.bubble},
                {"PP", a.time.transfers},
                {"FSDP", a.time.fsdp},
                {"DP", a.time.dp},
                {"total", a.time.total()}}},
              {"tokens_of_step", tokens},
              {"utilisation", a.utilisation()}};
  if (a.tokens) out["training_seconds"] = *a.tokens / tokens * a.time.total();
  return out;
}

json json_of(const AllReduceAnswer& a) {
  json out = {{"bytes", a.bytes},
              {"ranks", a.ranks},
              {"ring_seconds", a.ring},
              {"two_trees_seconds", a.tree},
              {"halving_doubling_seconds", a.halving}};
  if (a.levels > 0) out["two_levels_seconds"] = a.levels;
  return out;
}

}  // namespace

double StepAnswer::utilisation() const {
  const double work = 6 * training.model.active_parameters() * training.tokens_of_step();
  return work / (training.cluster.gpu_tflops * 1e12 * training.ranks() * time.total());
}

std::string text_of(const PlanAnswers& answers) {
  std::string out;
  if (answers.sizing) add_sizing(out, *answers.sizing);
  if (answers.step) add_step(out, *answers.step);
  if (answers.all_reduce) add_all_reduce(out, *answers.all_reduce);
  return out;
}

json json_of(const PlanAnswers& answers) {
  json out = json::object();
  if (answers.sizing) out["sizing"] = json_of(*answers.sizing);
  if (answers.step) out["step"] = json_of(*answers.step);
  if (answers.all_reduce) out["all_reduce"] = json_of(*answers.all_reduce);
  return out;
}

}  // namespace uet::tools

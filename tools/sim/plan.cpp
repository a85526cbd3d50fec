// Command line of uet_sim plan. The keys of a plan's file are options, too.
#include "tools/sim/plan.h"

#include "sim/traffic/quantity.h"
#include "sim/traffic/traffic.h"
#include "sim/training/collective_time.h"
#include "sim/training/sizing.h"
#include "sim/training/step_cost.h"
#include "sim/training/training_file.h"
#include "tools/common/command_line.h"
#include "tools/sim/plan_answers.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::tools {
namespace {

using sim::Unit;

struct PlanOptions {
  std::string file;
  std::vector<std::pair<const sim::TrainingKey*, std::string>> keys;  // as given
  std::optional<double> work, tokens, seconds, gpus, all_reduce, ranks;
  double utilisation = 0.4;
  uint32_t chunks = 8;
  bool is_json = false;
};

bool is_given(const PlanOptions& options, std::string_view name) {
  for (const auto& [key, value] : options.keys) {
    if (key->name == name) return true;
  }
  return false;
}

sim::Training training_of(const PlanOptions& options) {
  sim::Training training;
  if (!options.file.empty()) sim::read_training_file(training, options.file);
  for (const auto& [key, value] : options.keys) key->set(training, value);
  return training;
}

SizingAnswer size(const PlanOptions& o, const sim::Training& t) {
  SizingAnswer a;
  a.tflops = t.cluster.gpu_tflops;
  a.utilisation = o.utilisation;
  if (o.work) {
    a.flop = *o.work;
    a.from = "given";
  } else {
    const sim::Recompute recompute = t.parallelism.recompute;
    const char* const which = t.model.experts > 0 ? "active parameters" : "parameters";
    a.flop = sim::estimated_flop(t.model, *o.tokens, recompute);
    a.from = "estimated as " + std::to_string(static_cast<int>(sim::work_factor(recompute))) +
             " x " + sim::quantity_text(t.model.active_parameters(), Unit::count) + " " + which +
             " x " + sim::quantity_text(*o.tokens, Unit::count) + " tokens" +
             (recompute == sim::Recompute::full ? " (full recomputation)" : "");
  }
  if (o.gpus) {
    a.is_gpus_given = true;
    a.gpus = o.gpus;
    a.seconds = sim::seconds_for(a.flop, a.tflops, a.utilisation, *o.gpus);
  } else if (o.seconds) {
    a.seconds = o.seconds;
    a.gpus = sim::gpus_for(a.flop, a.tflops, a.utilisation, *o.seconds);
  }
  return a;
}

AllReduceAnswer all_reduce(const PlanOptions& o, const sim::Training& t) {
  AllReduceAnswer a;
  a.bytes = *o.all_reduce;
  a.ranks = static_cast<uint32_t>(*o.ranks);
  a.chunks = o.chunks;
  a.cluster = t.cluster;
  const sim::Link link{t.cluster.link_gbps, t.cluster.link_latency};
  a.ring = sim::ring_all_reduce_seconds(a.bytes, a.ranks, link);
  a.tree = sim::double_tree_seconds(a.bytes, a.ranks, a.chunks, link);
  a.halving = sim::halving_doubling_seconds(a.bytes, a.ranks, link);
  std::vector<uint32_t> members(a.ranks);
  std::iota(members.begin(), members.end(), 0);
  const sim::Layout layout = sim::layout_of(members, t.cluster.gpus_per_node);
  if (layout.has_levels && layout.per_node > 1) {
    const sim::Use use{.cause = sim::Cause::dp,
                       .kind = sim::CollectiveKind::all_reduce,
                       .group = {1, a.ranks},
                       .bytes = a.bytes};
    a.levels = sim::seconds_of(use, members, t.cluster);
  }
  return a;
}

// The work is given once: as such, or by parameters and tokens. With a step both of these say what
// the step is, and how many.
std::string problem_of_work(const PlanOptions& o, bool wants_step) {
  if (!o.work || wants_step) return "";
  const bool has_parameters = is_given(o, "parameters");
  if (!o.tokens && !has_parameters) return "";
  return std::string("--work is the whole work, so ") +
         (!o.tokens        ? "--parameters"
          : has_parameters ? "--parameters and --tokens"
                           : "--tokens") +
         " would not count; give one or the other";
}

// Why the question cannot be answered; empty: it can.
std::string problem_of(const PlanOptions& o, const sim::Training& t) {
  const bool wants_step = !o.file.empty() || is_given(o, "layers");
  if (!o.work && !o.tokens && !o.all_reduce && !wants_step) {
    return "what to plan? Give --work, --parameters with --tokens, --all-reduce, or a file";
  }
  if (o.work && *o.work <= 0) return "--work is above 0";
  if (const std::string what = problem_of_work(o, wants_step); !what.empty()) return what;
  if (!o.work && o.tokens && !(t.model.parameters > 0)) return "--tokens needs --parameters";
  if (!o.work && !o.tokens && (o.gpus || o.seconds)) {
    return std::string(o.gpus ? "--gpus" : "--time") + " needs --work or --tokens";
  }
  if ((o.work && *o.work <= 0) || (o.tokens && *o.tokens <= 0)) {
    return std::string(o.work ? "--work" : "--tokens") + " is above 0";
  }
  if (o.gpus && *o.gpus != std::floor(*o.gpus)) return "--gpus is a whole number";
  if (o.gpus && o.seconds) return "give one of --gpus and --time";
  if (!(o.utilisation > 0 && o.utilisation <= 1)) return "--utilisation is above 0, at most 1";
  if ((o.gpus && *o.gpus < 1) || (o.seconds && *o.seconds <= 0)) {
    return std::string(o.gpus ? "--gpus" : "--time") + " is above 0";
  }
  if (o.all_reduce.has_value() != o.ranks.has_value()) {
    return o.ranks ? "--ranks needs --all-reduce" : "--all-reduce needs --ranks";
  }
  if (o.ranks && (*o.ranks < 2 || *o.ranks > 1 << 20)) return "--ranks is 2 to 1048576";
  if (!wants_step) {
    const bool has_cluster = t.cluster.gpu_tflops > 0 && t.cluster.link_gbps > 0 &&
                             t.cluster.scale_up_gbps > 0 && t.cluster.gpus_per_node > 0;
    return has_cluster ? "" : "--gpu, --link, --scale-up and --gpus-per-node are above 0";
  }
  return t.problem();
}

int answer(const CLI::App& app, const PlanOptions& o) {
  PlanAnswers answers;
  try {
    const sim::Training training = training_of(o);
    const std::string problem = problem_of(o, training);
    if (!problem.empty()) return misuse(app, problem);
    if (o.work || o.tokens) answers.sizing = size(o, training);
    if (!o.file.empty() || is_given(o, "layers")) {
      answers.step = StepAnswer{training, sim::memory_of(training), sim::bytes_of_step(training),
                                sim::time_of_step(training), o.tokens};
    }
    if (o.all_reduce) answers.all_reduce = all_reduce(o, training);
  } catch (const sim::TrafficError& e) {
    return misuse(app, e.what());
  }
  const std::string text = o.is_json ? json_of(answers).dump(2) + "\n" : text_of(answers);
  std::fputs(text.c_str(), stdout);
  return 0;
}

// An option whose value has a unit.
void add_quantity(CLI::App& command, const std::string& name, Unit unit, const std::string& meaning,
                  const std::function<void(double)>& set) {
  const auto read = [name, unit, set](const std::string& text) {
    try {
      set(sim::parse_quantity(text, unit));
    } catch (const sim::TrafficError& e) {
      throw CLI::ValidationError(name, e.what());
    }
  };
  command.add_option_function<std::string>(name, read, meaning);
}

void add_keys(CLI::App& command, const std::shared_ptr<PlanOptions>& options) {
  for (const sim::TrainingKey& key : sim::training_keys()) {
    std::string name = "--" + std::string(key.name);
    for (char& c : name) c = c == '_' ? '-' : c;
    const auto read = [options, &key, name](const std::string& text) {
      try {
        sim::Training scratch;
        key.set(scratch, text);
      } catch (const sim::TrafficError& e) {
        throw CLI::ValidationError(name, e.what());
      }
      options->keys.emplace_back(&key, text);
    };
    command.add_option_function<std::string>(name, read, key.meaning)->group(key.table);
  }
}

void add_questions(CLI::App& command, const std::shared_ptr<PlanOptions>& options) {
  PlanOptions& o = *options;
  add_quantity(command, "--work", Unit::flop, "Work of the training, such as 430ZFLOP",
               [&o](double v) { o.work = v; });
  add_quantity(command, "--tokens", Unit::count,
               "Tokens of the training: the work is 6 x parameters x tokens, or 8 x",
               [&o](double v) { o.tokens = v; });
  add_quantity(command, "--utilisation", Unit::share,
               "Share of the peak that the whole training reaches (40%)",
               [&o](double v) { o.utilisation = v; });
  add_quantity(command, "--time", Unit::time, "Time that the training may take, such as 2weeks",
               [&o](double v) { o.seconds = v; });
  add_quantity(command, "--gpus", Unit::count, "Number of GPUs, instead of a time",
               [&o](double v) { o.gpus = v; });
  add_quantity(command, "--all-reduce", Unit::bytes, "Print the time of an all-reduce of this size",
               [&o](double v) { o.all_reduce = v; });
  add_quantity(command, "--ranks", Unit::count, "Ranks of that all-reduce",
               [&o](double v) { o.ranks = v; });
  command.add_option("--chunks", o.chunks, "Chunks of the trees of that all-reduce")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command.add_flag("--json", o.is_json, "Print JSON");
}

}  // namespace

std::function<int()> add_plan(CLI::App& app) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App& command =
      *app.add_subcommand("plan", "Print what a training needs: GPUs, memory, bytes, time");
  command.add_option("FILE", options->file, "Model, parallelism and cluster in TOML");
  add_questions(command, options);
  add_keys(command, options);
  command.footer(
      "An option overrides the same key of the file. With --recompute full the work for each token "
      "is\n"
      "8 x parameters. Examples:\n"
      "  uet_sim plan --work 430ZFLOP --gpu 624TFLOPS --utilisation 30% --time 1week\n"
      "  uet_sim plan --all-reduce 1GiB --ranks 64 --link 400Gbps --link-latency 5us\n"
      "  uet_sim plan llama.toml --tp 4 --dp 32\n"
      "Exit status: 0 with an answer, 2 wrong usage.");
  return [options, &app] { return answer(app, *options); };
}

}  // namespace uet::tools

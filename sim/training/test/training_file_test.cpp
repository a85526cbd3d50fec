// Files that describe a training run.
#include "sim/training/training_file.h"

#include "sim/traffic/traffic.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::sim {
namespace {

TEST(TrainingFileTest, EveryTableIsRead) {
  Training t;
  read_training(t,
                "[model]\nparameters = '70B'\nlayers = 80\nhidden = 8192\nsequence = 4096\n"
                "gradient_bytes = 4\n[parallelism]\ndp = 16\ntp = 8\npp = 4\nmicro_batches = 32\n"
                "recompute = 'full'\ngathers = 'step'\n[cluster]\nlink = '800Gbps'\n"
                "link_latency = '4us'\nefficiency = 0.45\n",
                "F");
  EXPECT_EQ(t.model.parameters, 70e9);
  EXPECT_EQ(t.model.layers, 80u);
  EXPECT_EQ(t.model.gradient_bytes, 4);
  EXPECT_EQ(t.model.optimizer_bytes, 12);  // the default
  EXPECT_EQ(t.parallelism.dp, 16u);
  EXPECT_EQ(t.parallelism.micro_batches, 32u);
  EXPECT_EQ(t.parallelism.recompute, Recompute::full);
  EXPECT_TRUE(t.parallelism.gathers_once);
  EXPECT_EQ(t.cluster.link_gbps, 800);
  EXPECT_EQ(t.cluster.link_latency.us(), 4);
  EXPECT_EQ(t.cluster.efficiency, 0.45);
  EXPECT_EQ(t.problem(), "");
  EXPECT_EQ(t.ranks(), 512u);
}

TEST(TrainingFileTest, ErrorsNameTheLineAndTheKey) {
  const auto error = [](const std::string& text) -> std::string {
    Training t;
    try {
      read_training(t, text, "F");
    } catch (const TrafficError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("[model]\nlayers = 80\nlayer = 3\n"),
            "F:3: layer: there is no such key in model");
  EXPECT_EQ(error("[model]\nlayers = 1.5\n"),
            "F:2: layers: '1.5' is not a whole number below 2^32");
  EXPECT_EQ(error("[model]\nlayers = -1\n"),
            "F:2: layers: '-1' is not a number, such as 512, 70B or 15T");
  EXPECT_EQ(error("\n[cluster]\nlink = 'fast'\n"),
            "F:3: link: 'fast' is not a rate, such as 400Gbps or 50GB/s");
  EXPECT_EQ(error("[cluster]\nlink = true\n"), "F:2: link: the value is neither a number nor text");
  EXPECT_EQ(error("[parallelism]\nrecompute = 'half'\n"),
            "F:2: recompute: 'half' is not none, selective or full");
  EXPECT_EQ(error("[fabric]\n"), "F:1: fabric: the tables are model, parallelism and cluster");
  EXPECT_EQ(error("dp = 1\n"), "F:1: dp: the tables are model, parallelism and cluster");
  EXPECT_EQ(error("[model\n").substr(0, 4), "F:1:");
}

}  // namespace
}  // namespace uet::sim

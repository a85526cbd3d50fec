// Command lines of the programs of this folder: one line on standard error reports the error in
// one, and the exit status is 2.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

namespace uet::tools {

constexpr int kBadUsage = 2;

// Whether one of the program's commands must be given.
enum class Commands : uint8_t {
  optional,
  required
};

// Parses, and gives --version to the program. Returns the exit status of a program that must end
// now: after --help and --version (0), and when the command line is wrong.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv,
                                       Commands commands = Commands::optional);

// A check of options: a number from `min` to `max`, which NaN is not (CLI::Range lets it pass).
[[nodiscard]] CLI::Validator number_between(double min, double max);

// A check of options: a whole number of 64 bits without a sign (CLI11 takes -1 for the largest).
[[nodiscard]] CLI::Validator whole_number();

// The exit status of a program that ends with `status`: `failed`, after a line on standard error,
// if standard output could not be written, on a full disk for example.
[[nodiscard]] int ended(const CLI::App& app, int status, int failed = kBadUsage);

// Reports the error in the parsed command line; returns the exit status.
[[nodiscard]] int misuse(const CLI::App& app, const std::string& what);

}  // namespace uet::tools

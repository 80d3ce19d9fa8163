#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/definition.h>

// The workflows of `ebb serve --demo`, what they are given, and how they fail.

namespace ebb::cli {

/// Numbers that are the same on every machine for one seed.
class DemoDice {
 public:
    explicit DemoDice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next();

    /// From `least` to `most`.
    int between(int least, int most);

    /// In so many of 100 cases.
    bool is(int percent) { return between(1, 100) <= percent; }

    template <typename Value>
    const Value& pick(const std::vector<Value>& values) {
        return values.at(static_cast<std::size_t>(between(0, static_cast<int>(values.size()) - 1)));
    }

 private:
    std::uint64_t state_;
};

struct DemoFailure {
    std::string handler{};
    std::string code{};
    std::string message{};
    bool is_permanent = false;
    int weight = 1;  ///< against the other failures of the workflow
};

struct DemoWorkflow {
    std::vector<Definition> versions{};  ///< at least one; the last is the newest
    int share = 0;                       ///< of 100 instances
    std::vector<DemoFailure> failures{};

    const std::string& name() const { return versions.front().name; }
};

const std::vector<DemoWorkflow>& demo_workflows();

/// What an instance is started with. `number` is different for each.
struct DemoStart {
    nlohmann::json input{};
    std::string key{};
};

DemoStart demo_start(const std::string& workflow, DemoDice& dice, int number);

}  // namespace ebb::cli

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/store.h"

// What workers and programs do with a store, as one side of a race.

namespace ebb::testing {

/// The instances that a race begins with; further ones are started by its verbs.
inline constexpr int kInstances = 9;
/// As far as the numbers of instances reach.
inline constexpr int kNumbersMax = kInstances + 6;

/// A state whose token 1 is at its first attempt, so that an outcome for it can be handed in.
inline constexpr std::string_view kFirstAttempt =
    R"({"status":"running","seq":1,"last_token":1,"visit":1,)"
    R"("tokens":[{"id":1,"node":"pay","visit":1,"attempt":1,"input":1}]})";

/// The revision at which a verb has left something for an instance.
struct Left {
    int instance = 0;
    std::int64_t revision = 0;
};

/// One side of a race: its store, its worker, and what it has got and left.
struct Side {
    Store& store;
    std::string worker;
    /// For sessions of an application.
    std::string url;
    std::vector<Claim> claims = {};
    std::vector<Left> outcomes = {};
    /// The instances that are there if nothing purges them.
    std::vector<int> started = {};
};

struct Verb {
    std::string name;
    std::function<void(Side&)> run;
};

/// All verbs that a race is made of.
const std::vector<Verb>& verbs();

/// While tables are locked, or where an isolation level is strict, a verb may find that it has to
/// be tried again.
void run_or_give_up(const Verb& verb, Side& side);

/// The n of id_of; 0 for any other.
int number_of(const InstanceId& id);

}  // namespace ebb::testing

// Bugs of rules: the cluster runs other rules than the checker reads, or the history of an instance
// with rules has one lie.

#include <algorithm>
#include <utility>

#include "sim/mutate.h"
#include "sim/planted.h"

namespace ebb::sim {

namespace {

using Json = nlohmann::json;
using History = std::vector<HistoryEntry>;

/// Has a rollback passed a transition?
bool undoes(const std::vector<HistoryEvent>& history) {
    return std::any_of(history.begin(), history.end(), [](const HistoryEvent& event) {
        return event.type == HistoryType::StateRestored;
    });
}

/// Changes each trigger.
PlantedBug at_trigger(std::string name, std::function<bool(Json&)> change) {
    const auto change_all = [change = std::move(change)](Json& definition) {
        bool has_changed = false;
        for (Json& trigger : definition.at("rules").at("triggers")) has_changed |= change(trigger);
        return has_changed;
    };
    return {.name = std::move(name), .definition = change_all};
}

PlantedBug in_rules(std::string name, std::function<bool(Json&)> change) {
    const auto change_rules = [change = std::move(change)](Json& definition) {
        return change(definition.at("rules"));
    };
    return {.name = std::move(name), .definition = change_rules};
}

PlantedBug without_option(std::string name, const char* key) {
    return in_rules(std::move(name), [key](Json& rules) { return rules.erase(key) > 0; });
}

PlantedBug without_of_trigger(std::string name, const char* key) {
    return at_trigger(std::move(name), [key](Json& trigger) { return trigger.erase(key) > 0; });
}

/// Reads the word `from` as `to`; an option that is missing has the word `otherwise`.
PlantedBug misread(
    std::string name, const char* key, const char* from, const char* to, const char* otherwise
) {
    return in_rules(std::move(name), [=](Json& rules) {
        const Json word = rules.contains(key) ? rules.at(key) : Json(otherwise);
        if (word != from) return false;
        rules[key] = to;
        return true;
    });
}

PlantedBug misread_mode(std::string name, const char* from, const char* to) {
    return at_trigger(std::move(name), [=](Json& trigger) {
        if (trigger.value("mode", std::string("level")) != from) return false;
        trigger["mode"] = to;
        return true;
    });
}

std::vector<PlantedBug> of_triggers() {
    return {
        misread_mode("edge is read as level", "edge", "level"),
        misread_mode("once is read as level", "once", "level"),
        misread_mode("level is read as edge", "level", "edge"),
        misread_mode("level is read as once", "level", "once"),
        without_of_trigger("a trigger fires more often than max_fires", "max_fires"),
        without_of_trigger("a transition may write everything", "writes"),
        without_of_trigger("no transition is compensated", "compensate"),
        without_of_trigger("a trigger fires at once, whatever its after", "after"),
        at_trigger(
            "a trigger waits too short",
            [](Json& trigger) {
                if (!trigger.contains("after") || trigger.at("after") == "1s") return false;
                trigger["after"] = "1s";
                return true;
            }
        ),
        at_trigger(
            "a trigger without after waits",
            [](Json& trigger) {
                if (trigger.contains("after")) return false;
                trigger["after"] = "1s";
                return true;
            }
        ),
        at_trigger(
            "conditions are read the other way round",
            [](Json& trigger) {
                trigger["when"] = "not (" + trigger.at("when").get<std::string>() + ")";
                return true;
            }
        ),
        at_trigger(
            "unknown is read as true",
            [](Json& trigger) {
                trigger["when"] = "(" + trigger.at("when").get<std::string>() + ") is not false";
                return true;
            }
        ),
    };
}

std::vector<PlantedBug> of_options() {
    return {
        misread(
            "a final condition stops what it waits for",
            "final_while_pending",
            "wait",
            "stop",
            "wait"
        ),
        misread(
            "a final condition waits for what it stops",
            "final_while_pending",
            "stop",
            "wait",
            "wait"
        ),
        misread(
            "a final condition waits instead of refusing",
            "final_while_pending",
            "refuse",
            "wait",
            "wait"
        ),
        misread("an idle instance is an exception", "on_idle", "wait", "exception", "exception"),
        misread(
            "an exception is not rolled back",
            "on_exception",
            "compensate",
            "dead_letter",
            "dead_letter"
        ),
        misread(
            "an exception is rolled back",
            "on_exception",
            "dead_letter",
            "compensate",
            "dead_letter"
        ),
        misread("a pinned instance follows", "evolution", "pin", "follow", "pin"),
        without_option("final conditions are not asked", "final"),
        without_option("exceptions are not asked", "exceptions"),
        without_option("invariants are not asked", "invariants"),
        in_rules(
            "every attribute may be written from outside",
            [](Json& rules) {
                rules["external_writes"] = "all";
                return true;
            }
        ),
        in_rules(
            "attributes begin without their default",
            [](Json& rules) {
                bool has_changed = false;
                for (Json& attribute : rules.at("attributes")) {
                    has_changed |= attribute.erase("default") > 0;
                }
                return has_changed;
            }
        ),
        {.name = "a transition that fails is held back instead of undone",
         .definition =
             [](Json& definition) {
                 if (definition.value("on_error", std::string("compensate")) != "compensate") {
                     return false;
                 }
                 definition["on_error"] = "exception";
                 return true;
             }},
    };
}

/// Changes each savepoint.
PlantedBug at_savepoint(std::string name, std::function<bool(Json&)> change) {
    return in_rules(std::move(name), [change = std::move(change)](Json& rules) {
        bool has_changed = false;
        if (!rules.contains("savepoints")) return false;
        for (Json& savepoint : rules.at("savepoints")) has_changed |= change(savepoint);
        return has_changed;
    });
}

std::vector<PlantedBug> of_rollbacks() {
    return {
        without_option("savepoints are not reached", "savepoints"),
        at_savepoint(
            "an instance fails at a savepoint from which it may continue",
            [](Json& savepoint) {
                savepoint.erase("max_resumes");
                return savepoint.erase("on_rollback") > 0;
            }
        ),
        at_savepoint(
            "an instance continues from a savepoint at which it fails",
            [](Json& savepoint) {
                if (savepoint.contains("on_rollback")) return false;
                savepoint["on_rollback"] = "resume";
                return true;
            }
        ),
        at_savepoint(
            "an instance continues from a savepoint too often",
            [](Json& savepoint) {
                if (!savepoint.contains("max_resumes")) return false;
                savepoint["max_resumes"] = savepoint.at("max_resumes").get<int>() + 1;
                return true;
            }
        ),
        at_trigger(
            "a transition has a time limit that no one has set",
            [](Json& trigger) {
                if (trigger.contains("step_timeout")) return false;
                trigger["step_timeout"] = "2s";
                return true;
            }
        ),
        {.name = "what was undone still counts as fired",
         .store =
             {.commit =
                  [](PlantedChange& change) {
                      if (!change.state.rules || !undoes(change.history)) return;
                      for (auto& mark : change.state.rules->marks)
                          mark.fires += mark.fires > 0 ? 1 : 0;
                  }}},
        {.name = "what was undone counts less often than it has fired",
         .store =
             {.commit =
                  [](PlantedChange& change) {
                      if (!change.state.rules || !undoes(change.history)) return;
                      for (auto& mark : change.state.rules->marks)
                          mark.fires -= mark.fires > 0 ? 1 : 0;
                  }}},
    };
}

HistoryEntry* find_type(History& history, const std::string& type) {
    const auto found = std::find_if(history.begin(), history.end(), [&](const HistoryEntry& e) {
        return e.type == type;
    });
    return found == history.end() ? nullptr : &*found;
}

PlantedBug drops(std::string name, const char* type) {
    return {.name = std::move(name), .evidence = [type](Evidence& evidence) {
                const HistoryEntry* entry = find_type(evidence.history, type);
                if (entry == nullptr) return false;
                drop_event(evidence.history, entry->seq);
                return true;
            }};
}

/// Changes the payload of the first event of the type that can be changed like this.
PlantedBug lies(std::string name, const char* type, std::function<bool(Json&)> change) {
    return {
        .name = std::move(name),
        .evidence =
            [type, change = std::move(change)](Evidence& evidence) {
                for (HistoryEntry& entry : evidence.history) {
                    if (entry.type != type) continue;
                    Json payload = Json::parse(entry.payload);
                    if (!change(payload)) continue;
                    entry.payload = payload.dump();
                    return true;
                }
                return false;
            }
    };
}

bool empty_list(Json& payload, const char* key) {
    if (!payload.contains(key) || payload.at(key).empty()) return false;
    payload[key] = Json::array();
    return true;
}

std::vector<PlantedBug> of_requests() {
    return {
        drops("a savepoint is not recorded", "savepoint_reached"),
        drops("no one knows that the rules are others", "migrated"),
        drops("no one has asked for a recovery", "recover_requested"),
        lies(
            "a recovery goes back to another write",
            "recover_requested",
            [](Json& payload) {
                payload["to"] = payload.at("to") == 1 ? 1'000 : 1;
                return true;
            }
        ),
        lies(
            "a recovery does not stop where it should",
            "recover_requested",
            [](Json& payload) {
                payload["then"] = payload.at("then") == "stop" ? "rematch" : "stop";
                return true;
            }
        ),
    };
}

std::vector<PlantedBug> of_histories() {
    return {
        drops("a write is lost", "attributes_written"),
        drops("what a transition is given is lost", "state_written"),
        drops("a rollback does not restore the attributes", "state_restored"),
        drops("an exception is not raised", "exception_raised"),
        lies(
            "a write does not say what it fired",
            "attributes_written",
            [](Json& payload) { return empty_list(payload, "fired"); }
        ),
        lies(
            "a write does not say what it armed",
            "attributes_written",
            [](Json& payload) { return empty_list(payload, "armed"); }
        ),
        lies(
            "a write does not say what it disarmed",
            "attributes_written",
            [](Json& payload) { return empty_list(payload, "disarmed"); }
        ),
        lies(
            "a transition is given other attributes",
            "state_written",
            [](Json& payload) {
                payload["a0"] = "something else";
                return true;
            }
        ),
        lies(
            "the value before a write is another one",
            "attributes_written",
            [](Json& payload) {
                if (payload.at("was").empty()) return false;
                payload["was"].begin().value() = {"something else", 1};
                return true;
            }
        ),
        lies(
            "a rollback restores another value",
            "state_restored",
            [](Json& payload) {
                payload["values"].begin().value() = "something else";
                return true;
            }
        ),
        lies(
            "a final condition does not hold",
            "completed",
            [](Json& payload) {
                payload["a0"] = "something else";
                return true;
            }
        ),
    };
}

}  // namespace

std::vector<PlantedBug> planted_rules_bugs() {
    std::vector<PlantedBug> all;
    for (auto& some :
         {of_triggers(), of_options(), of_rollbacks(), of_requests(), of_histories()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace ebb::sim

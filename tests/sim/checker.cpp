#include "sim/checker.h"

#include "sim/reading.h"
#include "sim/reading_rules.h"

namespace ebb::sim {

std::vector<std::string> check(const Evidence& evidence) {
    try {
        const bool has_rules = Json::parse(evidence.definition).contains("rules");
        if (has_rules) {
            RulesReading(evidence).read();
        } else {
            Reading(evidence).read();
        }
    } catch (const Wrong& wrong) {
        return {wrong.what};
    } catch (const std::exception& error) {
        return {std::string("the history cannot be read: ") + error.what()};
    }
    return {};
}

std::string broken(const RunResult& result) {
    if (!result.crowded.empty()) return result.crowded;
    if (!result.silent.empty()) return result.silent;
    if (!result.stuck.empty()) return result.stuck;
    for (const Evidence& evidence : result.evidence) {
        for (const std::string& what : check(evidence)) return what;
    }
    return result.side_rows;
}

}  // namespace ebb::sim

#include "cli/wed_definition.h"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "support/clock.h"
#include "yaml/yaml_writer.h"

namespace ebb::cli {

namespace {

using Ordered = nlohmann::ordered_json;

/// A row of a table, or a statement of a text.
struct Origin {
    std::string name{};
    int line = 0;

    Diagnostic problem(std::string code, const std::string& message) const {
        return {
            .code = std::move(code),
            .message = name.empty() ? message : name + ": " + message,
            .line = line,
            .column = line == 0 ? 0 : 1,
        };
    }
};

Origin origin_of(const WedFlow::Attribute& attribute) {
    const std::string name = one_line(attribute.name);
    if (attribute.line > 0) return {fmt::format("Attribute \"{}\"", name), attribute.line};
    return {fmt::format("wed_attr, aid {} (\"{}\")", attribute.number, name)};
}

Origin origin_of(const WedFlow::Trigger& trigger) {
    const std::string name = trigger.is_final ? "final" : one_line(trigger.transition);
    if (trigger.line > 0) return {fmt::format("Trigger \"{}\"", name), trigger.line};
    return {fmt::format("wed_trig, tgid {} (\"{}\")", trigger.number, name)};
}

/// A definition under construction, with the row that each of its elements comes from.
class Writer {
 public:
    explicit Writer(const WedFlow& flow) {
        for (const WedFlow::Attribute& attribute : flow.attributes) add(attribute);
        for (const WedFlow::Trigger& trigger : flow.triggers) add(trigger);
    }

    std::vector<Diagnostic> take_problems() { return std::move(problems_); }

    Ordered definition(const std::string& name) const {
        return {
            {"workflow", name},
            {"version", 1},
            {"on_error", "exception"},
            {"defaults",
             {{"max_attempts", kAttempts}, {"backoff", {{"strategy", "fixed"}, {"initial", "1s"}}}}
            },
            {"rules",
             {{"attributes", attributes_},
              {"triggers", triggers_},
              {"final", finals_},
              {"on_exception", {{"do", kExceptionStep}, {"timeout", "1h"}}},
              {"external_writes", "none"},
              {"evolution", "follow"},
              {"final_while_pending", "refuse"}}},
        };
    }

    /// The same with a map of names for each list.
    Ordered readable(const std::string& name) const {
        Ordered json = definition(name);
        Ordered& rules = json["rules"];
        rules["attributes"] = map_of(attributes_, "attribute", "type");
        rules["triggers"] = map_of(triggers_, "trigger", "");
        rules["final"] = map_of(finals_, "final", "when");
        if (rules["final"].empty()) rules.erase("final");
        return json;
    }

    /// The row that a problem of the definition is about; none if it is about the whole.
    Origin row_of(const std::string& path) const {
        for (const auto& [key, rows] :
             {std::pair{"/rules/attributes/", &attribute_rows_},
              std::pair{"/rules/triggers/", &trigger_rows_},
              std::pair{"/rules/final/", &final_rows_}}) {
            if (!path.starts_with(key)) continue;
            const std::size_t place = std::stoul(path.substr(std::string_view(key).size()));
            if (place < rows->size()) return (*rows)[place];
        }
        return {};
    }

 private:
    /// What WED-SQL does: it offers a failed job again for good.
    static constexpr int kAttempts = 1'000;

    /// An element with nothing but `only` becomes its value.
    static Ordered map_of(const Ordered& list, const char* key, const char* only) {
        Ordered map = Ordered::object();
        for (Ordered element : list) {
            const auto name = element[key].get<std::string>();
            element.erase(key);
            if (element.size() == 1 && element.contains(only)) element = Ordered(element[only]);
            map[name] = std::move(element);
        }
        return map;
    }

    void add(const WedFlow::Attribute& attribute) {
        Ordered json{{"attribute", attribute.name}, {"type", "text"}};
        if (!attribute.initial.empty()) json["default"] = attribute.initial;
        attributes_.push_back(std::move(json));
        attribute_rows_.push_back(origin_of(attribute));
    }

    void add(const WedFlow::Trigger& trigger) {
        if (trigger.is_final) {
            // WED-SQL does not ask a final condition that is disabled.
            if (!trigger.is_enabled) return;
            finals_.push_back(
                {{"final", fmt::format("final_{}", trigger.number)}, {"when", trigger.condition}}
            );
            final_rows_.push_back(origin_of(trigger));
            return;
        }
        if (!trigger.timeout) {
            problems_.push_back(
                origin_of(trigger).problem("no_timeout", "It has no timeout: give it one.")
            );
            return;
        }
        const bool is_first = transitions_.insert(trigger.transition).second;
        Ordered json{
            {"trigger", is_first ? trigger.transition : trigger.name},
            {"when", trigger.condition},
            {"timeout", format_duration(*trigger.timeout)}
        };
        if (!is_first) json["do"] = trigger.transition;
        if (!trigger.is_enabled) json["enabled"] = false;
        triggers_.push_back(std::move(json));
        trigger_rows_.push_back(origin_of(trigger));
    }

    std::vector<Diagnostic> problems_;
    std::set<std::string> transitions_;
    Ordered attributes_ = Ordered::array();
    Ordered triggers_ = Ordered::array();
    Ordered finals_ = Ordered::array();
    std::vector<Origin> attribute_rows_;
    std::vector<Origin> trigger_rows_;
    std::vector<Origin> final_rows_;
};

}  // namespace

WedDefinition define_wed_flow(const WedFlow& flow, const std::string& name) {
    Writer writer(flow);
    WedDefinition made{.problems = writer.take_problems()};
    try {
        made.definition = parse_definition_json(writer.definition(name).dump());
        made.yaml = yaml::write_yaml(writer.readable(name));
    } catch (const DefinitionError& error) {
        for (const Diagnostic& problem : error.diagnostics()) {
            made.problems.push_back(
                writer.row_of(problem.path).problem(problem.code, problem.message)
            );
        }
    }
    return made;
}

}  // namespace ebb::cli

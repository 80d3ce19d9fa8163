#include "cli/wsql.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/wsql_words.h"
#include "core/predicate/time_values.h"

namespace ebb::cli {

namespace {

using wsql::Cursor;
using wsql::lower;
using wsql::Statement;

/// A sentence about the statement that is read.
struct Fault {
    std::string sentence;
};

Duration duration_of(const std::string& text) {
    const auto interval = predicate::parse_interval(text);
    if (!interval || interval->months != 0) {
        throw Fault{fmt::format(
            "\"{}\" is not a time: write one such as '5 min', '3d18h' or '00:00:30'.",
            one_line(text)
        )};
    }
    return Duration(interval->days * predicate::kMicrosecondsPerDay + interval->microseconds);
}

class Reader {
 public:
    void read(const Statement& statement) {
        Cursor cursor(statement.text);
        line_ = statement.line;
        try {
            read(cursor);
            if (!cursor.is_at_end()) {
                cursor.look();
                throw Fault{fmt::format("\"{}\" is not expected here.", start_of(cursor.rest()))};
            }
        } catch (const Fault& fault) {
            complain_at(statement, cursor.place(), fault.sentence);
        }
    }

    WsqlFlow finish() {
        for (const Pair& pair : pairs_) join(pair);
        // What was not understood may have used them.
        if (made_.problems.empty()) find_unused();
        if (!final_.empty()) {
            made_.flow.triggers.push_back({
                .number = static_cast<std::int64_t>(made_.flow.triggers.size()) + 1,
                .condition = final_,
                .is_final = true,
                .line = final_line_,
            });
        }
        std::stable_sort(
            made_.problems.begin(),
            made_.problems.end(),
            [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; }
        );
        return std::move(made_);
    }

 private:
    struct Pair {
        std::string trigger{};
        std::string first{};
        std::string second{};
        bool is_transition_first = false;
        bool is_enabled = true;
        int line = 0;
    };

    void find_unused() {
        for (const auto& [name, line] : conditions_lines_) {
            if (used_conditions_.contains(name)) continue;
            complain(line, fmt::format("No trigger has the condition \"{}\".", one_line(name)));
        }
        for (const auto& [name, line] : transitions_lines_) {
            if (used_transitions_.contains(name)) continue;
            complain(line, fmt::format("No trigger fires the transition \"{}\".", one_line(name)));
        }
    }

    static std::string start_of(std::string_view text) { return one_line(text.substr(0, 40)); }

    /// About what stands at `place` of the statement's text.
    void complain_at(const Statement& statement, std::size_t place, std::string sentence) {
        const std::string_view before = std::string_view(statement.text).substr(0, place);
        const auto lines = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
        const std::size_t begin = lines == 0 ? 0 : before.rfind('\n') + 1;
        const int first = lines == 0 ? statement.column : 1;
        const auto column = first + static_cast<int>(before.size() - begin);
        complain(statement.line + lines, std::move(sentence), column);
    }

    void complain(int line, std::string sentence, int column = 1) {
        made_.problems.push_back(
            {.code = "wsql", .message = std::move(sentence), .line = line, .column = column}
        );
    }

    static std::string checked_name(Cursor& cursor, std::string_view what) {
        std::string name = cursor.name();
        if (name.empty()) throw Fault{fmt::format("The name of the {} is missing.", what)};
        return name;
    }

    void read(Cursor& cursor) {
        if (cursor.take("begin")) {
            if (!cursor.take("transaction")) cursor.take("work");
        } else if (cursor.take("commit") || cursor.take("end")) {
            if (!cursor.take("transaction")) cursor.take("work");
        } else if (cursor.take("\\cw")) {
            checked_name(cursor, "flow");
        } else if (cursor.take("create")) {
            create(cursor);
        } else if (cursor.take("update")) {
            update(cursor);
        } else if (cursor.take("set")) {
            set_final(cursor);
        } else if (cursor.take("enable")) {
            switch_triggers(cursor, true);
        } else if (cursor.take("disable")) {
            switch_triggers(cursor, false);
        } else if (cursor.take("list")) {
            throw Fault{"LIST defines nothing: `ebb list`, `ebb workflows` and `ebb show` list."};
        } else {
            throw Fault{fmt::format(
                "\"{}\" begins no statement of WSQL; allowed are CREATE, UPDATE, SET FINAL "
                "WED-STATE, ENABLE, DISABLE, BEGIN and COMMIT.",
                start_of(cursor.name())
            )};
        }
    }

    void create(Cursor& cursor) {
        const std::string what = lower(cursor.name());
        if (what == "wed-flow" || what == "flow") {
            if (!made_.name.empty()) throw Fault{"The text creates a second flow."};
            made_.name = checked_name(cursor, "flow");
            if (cursor.take("with") && cursor.take("password")) cursor.value();
        } else if (what == "wed-attribute" || what == "wed-attributes") {
            do {
                create_attribute(cursor);
            } while (cursor.take(','));
        } else if (what == "wed-transition" || what == "wed-transitions") {
            do {
                create_transition(cursor, checked_name(cursor, "transition"));
            } while (cursor.take(','));
        } else if (what == "wed-condition") {
            const std::string name = checked_name(cursor, "condition");
            if (!cursor.take("as") && !(cursor.take("with") && cursor.take("predicate"))) {
                throw Fault{"AS, or WITH PREDICATE, and the condition must follow."};
            }
            create_condition(name, cursor.until(""));
        } else if (what == "wed-trigger") {
            create_trigger(cursor);
        } else if (what == "instance") {
            throw Fault{"Instances are not a part of the definition: `ebb start` starts one."};
        } else {
            throw Fault{fmt::format(
                "CREATE makes a WED-FLOW, WED-ATTRIBUTE, WED-CONDITION, WED-TRANSITION or "
                "WED-TRIGGER, not \"{}\".",
                start_of(what)
            )};
        }
    }

    void create_attribute(Cursor& cursor) {
        WedFlow::Attribute attribute{
            .number = static_cast<std::int64_t>(made_.flow.attributes.size()) + 1,
            .name = checked_name(cursor, "attribute"),
            .line = line_,
        };
        if (cursor.take("default")) {
            cursor.take("value");
            attribute.initial = cursor.value();
        }
        made_.flow.attributes.push_back(std::move(attribute));
    }

    void create_transition(Cursor& cursor, const std::string& name) {
        if (!transitions_lines_.try_emplace(name, line_).second) {
            throw Fault{fmt::format("The transition \"{}\" already exists.", one_line(name))};
        }
        timeouts_[name] = std::chrono::hours(1);
        read_timeout(cursor, name);
    }

    void read_timeout(Cursor& cursor, const std::string& transition) {
        if (!cursor.take("with")) return;
        if (!cursor.take("timeout")) throw Fault{"TIMEOUT and a time must follow WITH."};
        timeouts_[transition] = duration_of(cursor.value());
    }

    void create_condition(const std::string& name, std::string_view text) {
        if (text.empty()) throw Fault{"The condition is empty."};
        if (!conditions_.try_emplace(name, Cursor::unquoted(text)).second) {
            throw Fault{fmt::format("The condition \"{}\" already exists.", one_line(name))};
        }
        conditions_lines_[name] = line_;
    }

    /// One of the two parts of a trigger, which may be defined here.
    std::string trigger_part(Cursor& cursor) {
        const std::string name = checked_name(cursor, "transition or condition");
        if (!cursor.take("with")) return name;
        if (cursor.take("predicate")) {
            create_condition(name, cursor.until(",)"));
        } else if (cursor.take("timeout")) {
            transitions_lines_.try_emplace(name, line_);
            timeouts_[name] = duration_of(cursor.value());
        } else {
            throw Fault{"TIMEOUT or PREDICATE must follow WITH."};
        }
        return name;
    }

    void create_trigger(Cursor& cursor) {
        Pair pair{.trigger = checked_name(cursor, "trigger"), .line = line_};
        pair.is_transition_first = cursor.take("as");
        const std::string_view shape = "A trigger is (transition, condition), or the other order.";
        if (!cursor.take('(')) throw Fault{std::string(shape)};
        pair.first = trigger_part(cursor);
        if (!cursor.take(',')) throw Fault{std::string(shape)};
        pair.second = trigger_part(cursor);
        if (!cursor.take(')')) throw Fault{std::string(shape)};
        pairs_.push_back(std::move(pair));
    }

    void update(Cursor& cursor) {
        const bool is_attribute = cursor.take("wed-attribute");
        if (!is_attribute && !cursor.take("wed-transition")) {
            throw Fault{"UPDATE changes a WED-ATTRIBUTE or a WED-TRANSITION."};
        }
        const std::string name = checked_name(cursor, is_attribute ? "attribute" : "transition");
        const auto found = std::find_if(
            made_.flow.attributes.begin(),
            made_.flow.attributes.end(),
            [&](const WedFlow::Attribute& attribute) { return attribute.name == name; }
        );
        if (is_attribute && found == made_.flow.attributes.end()) {
            throw Fault{fmt::format("There is no attribute \"{}\".", one_line(name))};
        }
        if (!is_attribute && !transitions_lines_.contains(name)) {
            throw Fault{fmt::format("There is no transition \"{}\".", one_line(name))};
        }
        if (!cursor.take("set")) throw Fault{"SET must follow."};
        if (is_attribute) {
            if (!cursor.take("default")) throw Fault{"DEFAULT VALUE must follow SET."};
            cursor.take("value");
            found->initial = cursor.value();
            return;
        }
        if (!cursor.take("timeout")) throw Fault{"TIMEOUT must follow SET."};
        timeouts_[name] = duration_of(cursor.value());
    }

    void set_final(Cursor& cursor) {
        if (!cursor.take("final")) throw Fault{"FINAL WED-STATE must follow SET."};
        if (!cursor.take("wed-state")) cursor.take("wed-condition");
        cursor.take("as");
        const std::string_view text = cursor.until("");
        if (text.empty()) throw Fault{"The condition is empty."};
        if (!final_.empty()) throw Fault{"There is already a final condition: join them by OR."};
        final_line_ = line_;
        // It may be the name of a condition.
        const auto found = conditions_.find(std::string(text));
        final_ = found == conditions_.end() ? Cursor::unquoted(text) : found->second;
        if (found != conditions_.end()) used_conditions_.insert(found->first);
    }

    void switch_triggers(Cursor& cursor, bool is_enabled) {
        if (!cursor.take("wed-trigger")) throw Fault{"WED-TRIGGER and its name must follow."};
        do {
            const std::string name = checked_name(cursor, "trigger");
            const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
                return pair.trigger == name;
            });
            if (found == pairs_.end()) {
                throw Fault{fmt::format("There is no trigger \"{}\".", one_line(name))};
            }
            found->is_enabled = is_enabled;
        } while (cursor.take(','));
    }

    /// Makes a trigger of its two parts, of which one is a condition and one a transition.
    void join(const Pair& pair) {
        const bool is_usual =
            conditions_.contains(pair.is_transition_first ? pair.second : pair.first) &&
            timeouts_.contains(pair.is_transition_first ? pair.first : pair.second);
        const bool is_transition_first = pair.is_transition_first == is_usual;
        const std::string& transition = is_transition_first ? pair.first : pair.second;
        const std::string& condition = is_transition_first ? pair.second : pair.first;
        const auto known = conditions_.find(condition);
        if (known == conditions_.end() || !timeouts_.contains(transition)) {
            complain(
                pair.line,
                fmt::format(
                    "The trigger \"{}\" needs a transition and a condition that exist; these are "
                    "\"{}\" and \"{}\".",
                    one_line(pair.trigger),
                    one_line(pair.first),
                    one_line(pair.second)
                )
            );
            return;
        }
        used_conditions_.insert(condition);
        used_transitions_.insert(transition);
        made_.flow.triggers.push_back({
            .number = static_cast<std::int64_t>(made_.flow.triggers.size()) + 1,
            .name = pair.trigger,
            .transition = transition,
            .condition = known->second,
            .is_enabled = pair.is_enabled,
            .timeout = timeouts_.at(transition),
            .line = pair.line,
        });
    }

    int line_ = 0;
    WsqlFlow made_;
    std::map<std::string, std::string> conditions_;
    std::map<std::string, Duration> timeouts_;  // of transitions
    std::map<std::string, int> conditions_lines_;
    std::map<std::string, int> transitions_lines_;
    std::set<std::string> used_conditions_;
    std::set<std::string> used_transitions_;
    std::vector<Pair> pairs_;
    std::string final_;
    int final_line_ = 0;
};

}  // namespace

WsqlFlow read_wsql(std::string_view text) {
    const std::vector<Statement> statements = wsql::statements_of(text);
    if (statements.size() > WsqlLimits::kStatementsMax) {
        WsqlFlow nothing;
        nothing.problems.push_back({
            .code = "limit_exceeded",
            .message =
                fmt::format("The text has more than {} statements.", WsqlLimits::kStatementsMax),
            .line = statements[WsqlLimits::kStatementsMax].line,
            .column = 1,
        });
        return nothing;
    }
    Reader reader;
    for (const Statement& statement : statements) reader.read(statement);
    return reader.finish();
}

}  // namespace ebb::cli

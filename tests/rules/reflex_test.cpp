// The surface of rules decides as the kernel does. Random flows are defined in SQL, or registered
// as workflows and installed, and random events go to both: to the tables of the flow, and to
// `decide` with the registered definition. After each event the state, the history, the tasks and
// the row must be equal. What the surface leaves to a process of Ebb must change nothing.

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/store.h>

#include "core/kernel/rules_evolution.h"
#include "rules/surface_session.h"
#include "support/clock.h"
#include "support/dice.h"
#include "support/drawn.h"
#include "support/json.h"
#include "support/kernel_world.h"
#include "support/os_environment.h"

namespace ebb::test {
namespace {

struct Column {
    std::string name;
    std::string type;
    std::vector<std::string> values;    ///< as JSON
    std::vector<std::string> literals;  ///< as SQL
    std::vector<std::string> limits{};  ///< values at the end of what the type has, and beyond it
};

std::string quoted_digits(const std::string& before, int count, char digit) {
    return '"' + before + std::string(static_cast<std::size_t>(count), digit) + '"';
}

const std::vector<Column>& columns() {
    static const std::vector<Column> all{
        {"a", "text", {R"("x")", R"("y")", R"("it's \"ö\"\n")"}, {"'x'", "'y'", "$$z$$"}},
        {"b", "text", {R"("x")", R"("Y")", R"("\\")"}, {"'x'", "E'\\\\'", "'Y'"}},
        {"n",
         "integer",
         {"0", "1", "2", "-3"},
         {"0", "1", "2"},
         {"9223372036854775807", "-9223372036854775808", "9223372036854775808"}},
        {"p",
         "numeric",
         {R"("1.50")", R"("2")", R"("-0.25")"},
         {"1.5", "2", "0"},
         {quoted_digits("", 1'000, '9'),
          quoted_digits("-0.", 1'000, '7'),
          quoted_digits("1", 1'000, '0'),
          quoted_digits("0.", 1'001, '3'),
          R"("1e1500")",
          R"("-1e-1001")"}},
        {"r",
         "double",
         {"2.5", "1e+21", "-0.0001", "3", "1e-7", "-0.0", "0.30000000000000004", "1e15"},
         {"2.5", "3", "'1e21'", "0"},
         {"1.7976931348623157e+308", "-5e-324", R"("NaN")"}},
        {"f", "boolean", {"true", "false"}, {"true", "false"}},
        {"t",
         "timestamp",
         {R"("2026-11-21T08:30:00.000000Z")", R"("2026-11-21T10:00:00.250000+01:00")"},
         {"timestamptz '2026-11-21 08:30:00+00'"},
         {R"("0001-01-01T00:00:00.000000Z")",
          R"("9999-12-31T23:59:59.999999Z")",
          R"("10000-01-01T00:00:00.000000Z")",
          R"("0001-01-01T00:00:00.000000+01:00")",
          R"("9999-12-31T23:59:59.000000-01:00")"}},
        {"d",
         "date",
         {R"("2026-11-21")", R"("2024-02-29")"},
         {"date '2025-01-01'"},
         {R"("0001-01-01")", R"("9999-12-31")", R"("10000-01-01")"}},
    };
    return all;
}

/// What a flow has. The attributes of a simple one are texts, whole numbers and booleans, and its
/// triggers have neither a mode nor a time: most of its writes are decided by shorter functions.
struct Shape {
    bool is_simple = false;

    std::vector<Column> columns() const {
        std::vector<Column> some = test::columns();
        if (is_simple) {
            std::erase_if(some, [](const Column& one) {
                return one.type != "text" && one.type != "integer" && one.type != "boolean";
            });
        }
        return some;
    }
};

std::string atom(Dice& dice, const Shape& shape) {
    const Column column = dice.pick(shape.columns());
    const std::string& name = column.name;
    switch (dice.below(8)) {
        case 0:
            return name + " is null";
        case 1:
            return name + " is not null";
        case 2:
            return fmt::format("{} is distinct from {}", name, dice.pick(column.literals));
        case 3:
            return dice.chance(30) ? "6 / n > 2" : "n + 1 > 1";
        case 4:
            return dice.chance(50) ? "lower(b) in ('x', 'y')" : "a || b like '%x%'";
        default:
            return Drawn{
                "{} {} {}",
                name,
                column.type == "boolean" ? "=" : dice.pick<std::string>({"=", "<>", "<", ">="}),
                dice.pick(column.literals)
            };
    }
}

std::string condition(Dice& dice, const Shape& shape, int depth) {
    if (depth == 0 || dice.chance(30)) return atom(dice, shape);
    const std::string left = condition(dice, shape, depth - 1);
    if (dice.chance(20)) return "not (" + left + ")";
    const char* word = dice.chance(60) ? "or" : "and";
    return fmt::format("({} {} {})", left, word, condition(dice, shape, depth - 1));
}

/// Those of a start are as the state holds them, because the history keeps them as they were given.
std::string values(Dice& dice, const Shape& shape, int most, bool is_start) {
    std::string text;
    const std::vector<Column> all = shape.columns();
    for (const Column& column : all) {
        if (!dice.chance(100 * most / static_cast<int>(all.size()))) continue;
        const bool is_null = !is_start && dice.chance(25);
        const bool is_limit = !column.limits.empty() && dice.chance(6);
        const std::string& value = is_limit   ? dice.pick(column.limits)
                                   : is_start ? column.values.front()
                                              : dice.pick(column.values);
        text += fmt::format(
            "{}\"{}\":{}",
            text.empty() ? "" : ",",
            column.name,
            is_null ? std::string("null") : value
        );
    }
    return "{" + text + "}";
}

/// Of two parsed texts. The library's == takes 2^63 and -2^63 for equal.
bool are_equal(const Json& a, const Json& b) {
    const bool are_whole = a.is_number_integer() && b.is_number_integer();
    return a == b && (!are_whole || a.is_number_unsigned() == b.is_number_unsigned());
}

/// One flow and an instance of it, here and there.
class Pair {
 public:
    Pair(Session& session, std::string flow, Dice& dice)
        : session_(session),
          flow_(std::move(flow)),
          dice_(dice),
          shape_{.is_simple = dice.chance(50)} {
        // Times are read from rows as the session shows them.
        session_.run(
            "SET timezone = '" +
            dice_.pick<std::string>({"UTC", "America/New_York", "Asia/Karachi"}) + "'"
        );
    }

    virtual ~Pair() = default;

    /// False when both refuse.
    bool start() {
        const std::string input = values(dice_, shape_, 4, true);
        // Several rows of one statement begin in the same way.
        const auto rows = session_.refusal(fmt::format(
            "INSERT INTO wed_flow ({0}) SELECT {0} FROM {1}, generate_series(1, {2})",
            names(input),
            record(input),
            dice_.chance(20) ? 3 : 1
        ));
        const Definition definition = newest();
        world_.emplace(definition, Payload::text(input));
        const bool is_refused = world_->history.empty();
        if (is_left(rows)) return false;
        EXPECT_EQ(is_refused, !rows.empty()) << input << ": " << session_.message;
        if (is_refused || !rows.empty()) return false;
        wid_ = session_.value("SELECT max(wid) FROM wed_flow");
        compare("start " + input);
        return true;
    }

    bool is_over() const { return is_terminal(world_->state.status); }

    void step() {
        if (dice_.chance(12)) evolve(newest());
        const int what = dice_.below(10);
        if (what < 7 && has_ready()) return complete();
        if (what < 9) return write();
        play(
            event::AttributesWritten{
                .values = "null", .is_repair = true, .by = "ebb", .request_id = {}
            },
            fmt::format("SELECT wed_rematch({})", wid_)
        );
    }

    int refused = 0;
    int armed = 0;    ///< events after which the time of a trigger ran
    int updated = 0;  ///< jobs that an UPDATE completed
    int left = 0;     ///< events that only a process of Ebb can decide

 protected:
    virtual void evolve(const Definition& newest) = 0;

    /// Is it for a process of Ebb?
    bool is_left(const std::string& sqlstate) {
        if (sqlstate == "EB009" && leaves_) ++left;
        return sqlstate == "EB009" && leaves_;
    }

    Session& session_;
    std::string flow_;
    Dice& dice_;
    Shape shape_;
    int triggers_ = 0;
    bool leaves_ = false;

 private:
    std::string wid_;
    std::optional<KernelWorld> world_;

    /// The attributes of the object, or one that has no default.
    static std::string names(const std::string& attributes) {
        const Json values = Json::parse(attributes);
        std::string text;
        for (const auto& [name, value] : values.items()) text += (text.empty() ? "" : ", ") + name;
        return text.empty() ? "a" : text;
    }

    std::string record(const std::string& attributes) const {
        return fmt::format(
            "jsonb_to_record({}) AS v (a text, b text, n bigint, p numeric, r double precision,"
            " f boolean, t timestamptz, d date)",
            session_.quote(attributes)
        );
    }

    Definition newest() {
        return parse_definition_json(session_.value(fmt::format(
            "SELECT definition FROM ebb.workflows WHERE name = '{}' ORDER BY version DESC LIMIT 1",
            flow_
        )));
    }

    static bool waits(const Token& token) { return token.status == TokenStatus::WaitingTimer; }

    bool has_ready() const {
        const auto& tokens = world_->state.tokens;
        return !std::all_of(tokens.begin(), tokens.end(), waits);
    }

    void complete() {
        std::vector<Token> ready = world_->state.tokens;
        std::erase_if(ready, waits);
        const Token token = dice_.pick(ready);
        const std::string& node = world_->program->node(token.node).name;
        std::string output = values(dice_, shape_, 2, false);
        if (shape_.is_simple && dice_.chance(85) && update(token, node, output)) return;
        if (dice_.chance(10)) output = "null";
        if (dice_.chance(5)) output = R"({"unknown":1})";
        if (dice_.chance(5)) output = R"({"n":"many"})";
        // Others of the flow are pending, too.
        const std::string job = session_.value(fmt::format(
            "SELECT job FROM wed_claim('{}', 1000, 'w') WHERE wid = {} AND token = {}",
            world_->program->node(token.node).handler,
            wid_,
            token.id
        ));
        play(
            event::StepCompleted{
                .attempt = {.token = token.id, .visit = token.visit, .attempt = token.attempt},
                .output = Payload::text(output)
            },
            fmt::format("SELECT wed_complete('{}', {})", job, session_.quote(output))
        );
        session_.run("SELECT wed_release(job) FROM job_pool WHERE status = 'held'");
    }

    /// Completes the token by an UPDATE under WED-SQL's claim. False if it would mean something
    /// else there: what the row did not hold is a write, even if it held it when the token fired.
    bool update(const Token& token, const std::string& node, const std::string& output) {
        if (node == "_EXCPT") return false;
        const Json given =
            Json::parse(world_->history[static_cast<std::size_t>(token.fired) - 1].payload);
        const Json held =
            Json::parse(encode_state(world_->state, *world_->program))["rules"]["values"];
        Json delta = Json::object();
        std::string set = "a = f.a";
        const Json wanted = Json::parse(output);
        for (const auto& [name, value] : wanted.items()) {
            if (are_equal(value, held[name])) continue;
            if (are_equal(value, given[name])) return false;
            delta[name] = value;
            set += fmt::format(", {0} = v.{0}", name);
        }
        if (delta.contains("a")) set.erase(0, std::string("a = f.a, ").size());
        const std::string claim = fmt::format(
            "SELECT {}.pg_try_advisory_xact_lock({}, tgid) FROM wed_trig WHERE node = '{}'",
            flow_,
            wid_,
            node
        );
        play(
            event::StepCompleted{
                .attempt = {.token = token.id, .visit = token.visit, .attempt = token.attempt},
                .output = Payload::text(delta.dump())
            },
            fmt::format(
                "{}; UPDATE wed_flow AS f SET {} FROM {} WHERE f.wid = {}",
                claim,
                set,
                record(output),
                wid_
            )
        );
        ++updated;
        return true;
    }

    void write() {
        const std::string wanted = values(dice_, shape_, 2, false);
        play(
            event::AttributesWritten{
                .values = Payload::text(wanted), .is_repair = false, .by = "ada", .request_id = {}
            },
            fmt::format("SELECT wed_write({}, {}, 'ada')", wid_, session_.quote(wanted))
        );
    }

    /// The kernel's turn begins with the newest version, if it can follow.
    static void follow(KernelWorld& world, const Definition& definition) {
        if (definition.version <= world.program->definition().version) return;
        if (!is_followed(*world.program)) return;
        auto next = Program::compile(definition);
        RulesMigration migration = migrate(*world.program, *next, world.state, world.now);
        if (!migration.obstacle.empty()) return;
        world.program = std::move(next);
        world.state = std::move(migration.state);
        world.history.push_back(std::move(migration.event));
    }

    void play(const Event& event, const std::string& sql) {
        KernelWorld trial = *world_;
        follow(trial, newest());
        const std::size_t known = trial.history.size();
        const Decision::Verdict verdict = trial.apply(event);
        bool is_refused = verdict == Decision::Verdict::Refused;
        for (std::size_t i = known; i < trial.history.size(); ++i) {
            const HistoryType type = trial.history[i].type;
            // There, a worker's bad write fails its attempt; here, its transaction.
            is_refused =
                is_refused || type == HistoryType::StepFailed || type == HistoryType::StepRetried;
        }
        session_.run("BEGIN");
        std::string answer;
        const std::string state = session_.refusal(sql, &answer);
        // wed_complete hands over by itself.
        const bool is_handed = is_left(answer == "H" ? "EB009" : state);
        session_.run(is_handed || !state.empty() ? "ROLLBACK" : "COMMIT");
        if (is_handed) return compare(sql);
        EXPECT_EQ(is_refused, !state.empty()) << sql << ": " << session_.message << "\n"
                                              << trial.last_refusal().message << "\n"
                                              << trial.history_text() << describe();
        if (is_refused) ++refused;
        const bool stays = is_refused || verdict == Decision::Verdict::Ignored;
        const bool asks_all = sql.find("wed_rematch") != std::string::npos;
        if (!stays || (asks_all && !is_refused)) world_.emplace(std::move(trial));
        compare(sql);
    }

    std::string describe() {
        std::string text = "\n";
        for (const auto& row :
             session_.run("SELECT tgid, trname, mode, enabled, cpred FROM wed_trig")) {
            text += fmt::format("{} {} {} {}: {}\n", row[0], row[1], row[2], row[3], row[4]);
        }
        return text;
    }

    void compare(const std::string& after) {
        const auto rows = session_.run(fmt::format(
            "SELECT i.state, i.status, i.version, i.id FROM ebb.instances AS i"
            " JOIN wed_flow AS f ON f.instance_id = i.id WHERE f.wid = {}",
            wid_
        ));
        ASSERT_EQ(rows.size(), 1U) << after;
        ASSERT_EQ(rows[0][2], std::to_string(world_->program->definition().version)) << after;
        InstanceState there = decode_state(rows[0][0], *world_->program);
        // The two have clocks of their own.
        for (Token& token : there.tokens) {
            const Token* here = world_->state.find_token(token.id);
            if (here == nullptr || !waits(token)) continue;
            EXPECT_GT(token.due, TimePoint());
            token.due = here->due;
            ++armed;
        }
        ASSERT_TRUE(there == world_->state)
            << after << "\nthere " << rows[0][0] << "\nhere  "
            << encode_state(world_->state, *world_->program) << describe();
        ASSERT_EQ(rows[0][1], to_string(world_->state.status));
        compare_history(rows[0][3], after);
        std::string here;
        for (const auto& [token, row] : world_->tasks)
            here += fmt::format("{}:{} ", token, row.handler);
        ASSERT_EQ(
            session_.value(fmt::format(
                "SELECT coalesce(string_agg(token || ':' || handler || ' ', '' ORDER BY token), '')"
                " FROM ebb.tasks WHERE instance_id = '{}'",
                rows[0][3]
            )),
            here
        ) << after;
        compare_row(after);
    }

    /// The row of wed_flow is what its instance has.
    void compare_row(const std::string& after) {
        const auto row = session_.value(fmt::format(
            "SELECT coalesce(nullif(ebb.flow_values(v.program, to_jsonb(_row)),"
            " i.state::jsonb #> '{{rules,values}}')::text, '') FROM wed_flow AS _row"
            " JOIN ebb.instances AS i ON i.id = _row.instance_id JOIN ebb.flow_versions AS v"
            " ON v.flow = i.workflow AND v.version = i.version WHERE _row.wid = {}",
            wid_
        ));
        ASSERT_EQ(row, "") << after;
    }

    void compare_history(const std::string& id, const std::string& after) {
        const auto rows = session_.run(fmt::format(
            "SELECT seq, type, node, token, visit, attempt, ref, payload FROM ebb.history"
            " WHERE instance_id = '{}' ORDER BY seq",
            id
        ));
        ASSERT_EQ(rows.size(), world_->history.size()) << after << "\n" << world_->history_text();
        const auto number = [](std::int64_t value) {
            return value == 0 ? std::string() : std::to_string(value);
        };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const HistoryEvent& event = world_->history[i];
            const Session::Row here{
                number(event.seq),
                std::string(to_string(event.type)),
                event.node,
                number(event.token),
                number(event.visit),
                number(event.attempt),
                number(event.ref)
            };
            const Session::Row there(rows[i].begin(), rows[i].begin() + 7);
            ASSERT_EQ(there, here) << after;
            if (event.type == HistoryType::TimerStarted) {
                const auto due = Json::parse(rows[i][7])["due"].get<std::string>();
                EXPECT_TRUE(parse_time(due).has_value()) << due;
                continue;
            }
            ASSERT_EQ(
                Json::parse(rows[i][7].empty() ? "null" : rows[i][7]),
                Json::parse(
                    event.payload.empty() ? std::string("null") : std::string(event.payload)
                )
            ) << after
              << " event " << i + 1;
        }
    }
};

/// A flow that is defined in SQL.
class TablePair : public Pair {
 public:
    TablePair(Session& session, const std::string& flow, Dice& dice) : Pair(session, flow, dice) {
        session_.run("SELECT ebb.create_flow('" + flow_ + "'); SET search_path = " + flow_);
        session_.run(Drawn{
            "SELECT ebb.set_flow('{}', 'external_writes', '{}'),"
            " ebb.set_flow('{}', 'final_while_pending', '{}'), ebb.set_flow('{}', 'notify', "
            "'none')",
            flow_,
            dice_.pick<std::string>({"none", "declared", "all"}),
            flow_,
            dice_.pick<std::string>({"refuse", "wait"}),
            flow_
        });
        define();
    }

 private:
    void define() {
        std::string sql = "BEGIN;";
        for (const Column& column : shape_.columns()) {
            sql += fmt::format(
                "INSERT INTO wed_attr (aname, atype, external) VALUES ('{}', '{}', {});",
                column.name,
                column.type,
                dice_.chance(60)
            );
        }
        triggers_ = dice_.between(1, 4);
        for (int i = 1; i <= triggers_; ++i) {
            sql += Drawn{
                "INSERT INTO wed_trig (trname, cpred, mode, writes, after)"
                " VALUES ('T{}', {}, '{}', {}, {});",
                i,
                session_.quote(condition(dice_, shape_, 2)),
                shape_.is_simple ? "level"
                                 : dice_.pick<std::string>({"level", "level", "edge", "once"}),
                dice_.chance(80) ? "NULL" : "'{a,n}'",
                shape_.is_simple || dice_.chance(75) ? "NULL" : "'3 days'"
            };
        }
        const auto add = [&](const char* kind, const char* name) {
            sql += fmt::format(
                "INSERT INTO wed_trig ({}, cname, cpred) VALUES (true, '{}', {});",
                kind,
                name,
                session_.quote(
                    Drawn{"{} and {}", condition(dice_, shape_, 1), condition(dice_, shape_, 1)}
                )
            );
        };
        add("cfinal", "done");
        if (dice_.chance(30)) add("cfinal", "gone");
        if (!shape_.is_simple && dice_.chance(30)) add("cexcpt", "bad");
        if (!shape_.is_simple && dice_.chance(30)) add("cinv", "sane");
        session_.run(sql + "COMMIT");
    }

    void evolve(const Definition& /*newest*/) override {
        if (dice_.chance(50)) {
            session_.run(fmt::format("SELECT trigger_toggle({})", dice_.between(1, triggers_)));
        } else {
            session_.run(Drawn{
                "UPDATE wed_trig SET cpred = {} WHERE trname = 'T{}'",
                session_.quote(condition(dice_, shape_, 2)),
                dice_.between(1, triggers_)
            });
        }
    }
};

/// A workflow that is registered, and has got a surface.
class RegisteredPair : public Pair {
 public:
    RegisteredPair(Session& session, Engine& engine, const std::string& flow, Dice& dice)
        : Pair(session, flow, dice), engine_(engine) {
        leaves_ = true;
        engine_.register_workflow(parse_definition_json(to_text(define())));
        session_.run("SELECT ebb.install_flow('" + flow_ + "'); SET search_path = " + flow_);
    }

 private:
    Engine& engine_;

    std::string word(std::initializer_list<const char*> words) {
        return *(words.begin() + dice_.below(static_cast<int>(words.size())));
    }

    Json define() {
        Json rules{
            {"attributes", Json::array()},
            {"triggers", Json::array()},
            {"external_writes", word({"none", "declared", "all"})},
            {"final_while_pending", word({"refuse", "wait", "stop"})},
            {"evolution", word({"pin", "follow"})},
            {"on_idle", word({"exception", "wait"})},
        };
        for (const Column& column : shape_.columns()) {
            Json attribute{
                {"attribute", column.name},
                {"type", column.type},
                {"external", dice_.chance(60)},
            };
            if (column.name == "b") attribute["default"] = "Y";
            rules["attributes"].push_back(std::move(attribute));
        }
        rules["attributes"].push_back({{"attribute", "added_1"}, {"default", "new"}});
        triggers_ = dice_.between(1, 4);
        for (int i = 1; i <= triggers_; ++i) rules["triggers"].push_back(trigger(i));
        const auto add = [&](const char* kinds, const char* kind, const char* name) {
            rules[kinds].push_back(
                {{kind, name},
                 {"when",
                  std::string(
                      Drawn{"{} and {}", condition(dice_, shape_, 1), condition(dice_, shape_, 1)}
                  )}}
            );
        };
        add("final", "final", "done");
        if (!shape_.is_simple && dice_.chance(30)) add("exceptions", "exception", "bad");
        if (!shape_.is_simple && dice_.chance(30)) add("invariants", "invariant", "sane");
        if (!shape_.is_simple && dice_.chance(20)) add("savepoints", "savepoint", "kept");
        if (dice_.chance(50)) rules["on_exception"] = {{"do", "fix"}, {"queue", "repairs"}};
        Json definition{
            {"workflow", flow_}, {"on_error", "exception"}, {"rules", std::move(rules)}
        };
        if (dice_.chance(10)) definition["output"] = {{"a", "${ input.a }"}};
        return definition;
    }

    Json trigger(int number) {
        Json one{
            {"trigger", fmt::format("T{}", number)},
            {"when", condition(dice_, shape_, 2)},
            {"do", dice_.chance(30) ? "shared" : fmt::format("H{}", number)}
        };
        if (dice_.chance(20)) one["writes"] = {"a", "n"};
        if (shape_.is_simple) return one;
        one["mode"] = word({"level", "level", "edge", "once"});
        if (dice_.chance(25)) one["after"] = "3d";
        if (dice_.chance(20)) one["max_fires"] = dice_.between(1, 3);
        if (dice_.chance(8)) one["set"] = {{"a", "${ output.a }"}};
        if (dice_.chance(8)) one["input"] = {{"seen", "${ input.a }"}};
        return one;
    }

    void evolve(const Definition& newest) override {
        Json definition = definition_to_json(newest);
        const int version = newest.version + 1;
        definition["version"] = version;
        Json& rules = definition["rules"];
        Json& changed = rules["triggers"][static_cast<std::size_t>(dice_.below(triggers_))];
        Json& last = rules["attributes"].back();
        const std::string name = last["attribute"].get<std::string>();
        const std::string later = fmt::format("added_{}", version);
        // Conditions do not name those that were added, but `writes` may.
        const bool is_free =
            name.size() > 1 && rules["triggers"].dump().find(name) == std::string::npos;
        switch (dice_.below(7)) {
            case 0:
                changed["enabled"] = !changed.value("enabled", true);
                break;
            case 1:
                changed["when"] = condition(dice_, shape_, 2);
                break;
            case 2:
                changed["do"] = "moved";
                break;
            case 3:
                changed["writes"] = {"a", "n", name};
                break;
            case 4:
                if (is_free) {
                    last["renamed_from"] = Json::array({name});
                    last["attribute"] = later;
                    last["default"] = "another";  // the value stays as it is
                }
                break;
            case 5:
                if (is_free) rules["attributes"].erase(rules["attributes"].size() - 1);
                break;
            default:
                rules["attributes"].push_back({{"attribute", later}, {"default", "new"}});
        }
        engine_.register_workflow(parse_definition_json(to_text(definition)));
    }
};

int cases_of(int otherwise) {
    const auto wanted = environment_variable("EBB_TEST_REFLEX_EVENTS");
    return wanted ? std::stoi(*wanted) : otherwise;
}

/// Plays random flows that `make` makes.
template <typename Make>
void play_flows(Session& session, int wanted, int left_least, const Make& make) {
    constexpr int kEventsOfFlow = 40;
    int events = 0;
    int refused = 0;
    int armed = 0;
    int updated = 0;
    int left = 0;
    for (std::uint64_t number = 1; events < wanted && !::testing::Test::HasFailure(); ++number) {
        Dice dice(20261121, number);
        SCOPED_TRACE(fmt::format("flow {}", number));
        const auto pair = make(fmt::format("f{}", number), dice);
        for (int i = 0; i < kEventsOfFlow && !::testing::Test::HasFailure(); ++i, ++events) {
            bool has_begun = pair->start();
            for (int k = 0;
                 has_begun && k < 12 && !pair->is_over() && !::testing::Test::HasFailure();
                 ++k, ++events) {
                pair->step();
            }
        }
        refused += pair->refused;
        armed += pair->armed;
        updated += pair->updated;
        left += pair->left;
        session.run(fmt::format("SELECT ebb.drop_flow('f{}', false)", number));
    }
    EXPECT_GT(refused, wanted / 50);
    EXPECT_GT(armed, wanted / 50);
    EXPECT_GT(updated, wanted / 50);
    EXPECT_LT(refused, wanted);
    EXPECT_GE(left, left_least);
    EXPECT_LE(left, wanted / 2);
}

TEST(Reflex, decides_as_the_kernel_does) {
    Session session(surface_database("reflex"));
    play_flows(session, cases_of(2'000), 0, [&](const std::string& flow, Dice& dice) {
        return std::make_unique<TablePair>(session, flow, dice);
    });
}

TEST(Reflex, decides_as_the_kernel_does_what_is_registered) {
    const std::string url = surface_database("registered");
    Session session(url);
    const auto store = open_postgres_store({.url = url});
    const HandlerRegistry none;
    Engine engine(*store, none);
    const int wanted = cases_of(2'000);
    play_flows(session, wanted, wanted / 50, [&](const std::string& flow, Dice& dice) {
        return std::make_unique<RegisteredPair>(session, engine, flow, dice);
    });
}

}  // namespace
}  // namespace ebb::test

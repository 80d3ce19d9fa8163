// Finds where workflows are built and reads the statements that build them.

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <utility>

#include "core/model/workflow_draft.h"
#include "source/cpp_calls.h"
#include "source/cpp_file.h"

namespace ebb::source {

namespace {

constexpr std::string_view kBuilder = "WorkflowBuilder";
constexpr std::string_view kRulesBuilder = "RulesBuilder";
constexpr std::size_t kLooksPerStatement = 64;

/// A builder whose workflow can be looked at while it is not valid.
class OpenBuilder : public WorkflowBuilder {
 public:
    using WorkflowBuilder::WorkflowBuilder;

    Definition look() const {
        Definition definition = draft()->definition;
        definition.steps = *draft()->steps;
        return definition;
    }

    /// An unknown name or version is set later.
    void set_version(int version) { draft()->definition.version = version; }

    void set_name(std::string name) { draft()->definition.name = std::move(name); }
};

/// Names that stand for something where the code is being read.
struct Frame {
    std::vector<std::pair<std::string_view, CppValue>> values;
    std::vector<std::pair<std::string_view, CppBuilder>> builders;
    bool is_function = false;  ///< what is around it is not visible
};

/// Reads the statements of one workflow.
class Reader {
 public:
    Reader(const CppCode& code, CppWorkflow& found)
        : code_(code),
          calls_(
              code,
              found,
              [this](std::string_view name) { return find_value(name); },
              [this](const CppValue& function, CppBuilder inner) {
                  call_function(function, {{std::nullopt, std::move(inner)}});
              }
          ),
          found_(found) {
        frames_.push_back({});
    }

    /// `constructor`: the token WorkflowBuilder. Null if it is something else than a workflow.
    bool run(TokenIndex constructor) {
        const bool is_variable = code_.at(constructor + 1).is_identifier();
        const TokenIndex open = constructor + (is_variable ? 2 : 1);
        const TokenIndex scope_end = code_.end_of_scope(constructor);
        const TokenIndex close = std::min(code_.match(open), scope_end);
        begin(constructor, code_.split(code_.inside(open, scope_end)), {constructor, close + 1});
        std::string_view name = is_variable ? code_.at(constructor + 1).text : std::string_view();
        TokenIndex at = close + 1;
        if (!is_variable) {
            CppBuilder builder = root_;
            at = read_chain(builder, at, scope_end);
            name = assigned_name(constructor);
        }
        if (!name.empty() && !is_built_) {
            frames_.back().builders.emplace_back(name, root_);
            // From the statement after this one.
            read({code_.find({at, scope_end}, ";"), scope_end});
        }
        found_.definition = builder_->look();
        const bool is_used = is_built_ || root_.block->count > 0;
        const bool is_whole = is_built_ && !code_.is_exhausted();
        if (is_used && !is_whole) calls_.note_unknown({}, {constructor, close + 1});
        return is_used;
    }

 private:
    const CppCode& code_;
    CppCalls calls_;
    CppWorkflow& found_;
    std::shared_ptr<OpenBuilder> builder_;
    CppBuilder root_;
    std::list<Frame> frames_;
    int inlined_ = 0;
    int nesting_ = 0;
    std::size_t statements_ = 0;
    bool is_built_ = false;

    void begin(TokenIndex at, const std::vector<TokenRange>& arguments, TokenRange range) {
        found_.place = {code_.offset_of(at), code_.end_of(range)};
        builder_ = std::make_shared<OpenBuilder>(std::string());
        if (!arguments.empty()) builder_->set_name(calls_.text(arguments[0], "/workflow"));
        if (arguments.empty()) calls_.note_unknown("/workflow", range);
        if (arguments.size() > 1) {
            const auto version = calls_.integer(arguments[1], "/version");
            if (version) builder_->set_version(static_cast<int>(*version));
        }
        found_.places[""] = found_.place;
        root_ = {
            .owner = builder_,
            .builder = builder_.get(),
            .kind = CppBuilder::Kind::Workflow,
            .block = std::make_shared<CppBlock>(CppBlock{.path = "/steps"}),
            .node = {},
        };
    }

    /// `auto order = ebb::WorkflowBuilder(...)`
    std::string_view assigned_name(TokenIndex constructor) const {
        TokenIndex i = constructor;
        while (i >= 2 && code_.at(i - 1).is("::") && code_.at(i - 2).is_identifier()) i -= 2;
        const bool is_assigned =
            i >= 2 && code_.at(i - 1).is("=") && code_.at(i - 2).is_identifier();
        return is_assigned ? code_.at(i - 2).text : std::string_view();
    }

    const CppValue* find_value(std::string_view name) const {
        for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
            code_.look(1 + frame->values.size());
            for (auto value = frame->values.rbegin(); value != frame->values.rend(); ++value) {
                if (value->first == name) return &value->second;
            }
            if (frame->is_function) break;
        }
        return nullptr;
    }

    CppBuilder* find_builder(std::string_view name) {
        for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
            if (!code_.look(1 + frame->builders.size())) return nullptr;
            for (auto one = frame->builders.rbegin(); one != frame->builders.rend(); ++one) {
                if (one->first == name) return &one->second;
            }
            if (frame->is_function) break;
        }
        return nullptr;
    }

    CppValue value(TokenRange range) const {
        return evaluate(code_, range, [this](std::string_view name) { return find_value(name); });
    }

    /// A name that is not a member of something else.
    CppBuilder* builder_at(TokenIndex at) {
        if (!code_.at(at).is_identifier()) return nullptr;
        if (at > 0) {
            const CppToken& before = code_.at(at - 1);
            if (before.is(".") || before.is("->") || before.is("::")) return nullptr;
        }
        return find_builder(code_.at(at).text);
    }

    bool uses_builder(TokenRange range) {
        for (TokenIndex i = range.begin; i < range.end && code_.look(); ++i) {
            if (builder_at(i) != nullptr) return true;
        }
        return false;
    }

    /// The calls that follow a builder; `builder` becomes what the last one returns. Returns the
    /// token behind them.
    TokenIndex read_chain(CppBuilder& builder, TokenIndex at, TokenIndex end) {
        while (at + 2 < end && (code_.at(at).is(".") || code_.at(at).is("->")) &&
               code_.at(at + 1).is_identifier() && code_.at(at + 2).is("(")) {
            const TokenIndex close = std::min(code_.match(at + 2), end);
            const TokenRange range{at + 1, std::min(close + 1, end)};
            if (code_.at(at + 1).is("build")) {
                is_built_ = true;
                return close + 1;
            }
            CppCall call{
                .builder = builder,
                .name = code_.at(at + 1).text,
                .arguments = code_.split(code_.inside(at + 2, end)),
                .range = range,
            };
            calls_.call(call);
            // What is being typed is not what it will be.
            if (code_.match(at + 2) >= code_.size()) calls_.note_unknown(builder.node, range);
            at = close + 1;
        }
        return at;
    }

    // Statements.

    void read(TokenRange range) {
        if (nesting_ >= CppLimits::kNestingMax) return;
        ++nesting_;
        for (TokenIndex at = range.begin; at < range.end;) {
            if (++statements_ > CppLimits::kStatementsMax) {
                if (statements_ == CppLimits::kStatementsMax + 1) calls_.note_unknown({}, range);
                break;
            }
            // A statement can add a node, which takes more than a look.
            if (!code_.look(kLooksPerStatement)) break;
            at = std::max(at + 1, read_statement(at, range.end));
        }
        --nesting_;
    }

    TokenIndex read_statement(TokenIndex at, TokenIndex end) {
        const CppToken& first = code_.at(at);
        if (first.is("{")) {
            const TokenRange inner = code_.inside(at, end);
            read(inner);
            return inner.end + 1;
        }
        if (first.is("if")) return read_if(at, end);
        if (first.is("for") || first.is("while") || first.is("switch")) {
            return read_loop(at, end);
        }
        if (first.is("do") && code_.at(at + 1).is("{")) {
            const TokenRange body = code_.inside(at + 1, end);
            read_in_frame("do", body);
            return body.end + 1;
        }
        const TokenIndex stop = code_.find({at, end}, ";");
        read_expression({at, stop});
        return stop + 1;
    }

    /// The statement or block at `at`.
    TokenRange body_at(TokenIndex at, TokenIndex end) const {
        if (code_.at(at).is("{")) return code_.inside(at, end);
        return {at, std::min(code_.find({at, end}, ";") + 1, end)};
    }

    static TokenIndex behind(const CppCode& code, TokenRange body, TokenIndex end) {
        return std::min(code.at(body.end).is("}") ? body.end + 1 : body.end, end);
    }

    void read_in_frame(const std::string& text, TokenRange body) {
        if (!uses_builder(body)) return;
        const std::string outer = calls_.frame;
        calls_.frame = outer.empty() ? text : outer + " · " + text;
        const std::size_t unknown = found_.frames.size();
        read(body);
        // It says something about the workflow, but adds nothing to it.
        if (found_.frames.size() == unknown) calls_.note_unknown({}, body);
        calls_.frame = outer;
    }

    TokenIndex read_if(TokenIndex at, TokenIndex end) {
        const TokenIndex open = at + (code_.at(at + 1).is("constexpr") ? 2 : 1);
        if (!code_.at(open).is("(")) return at + 1;
        const TokenIndex close = std::min(code_.match(open), end);
        const TokenRange then = body_at(close + 1, end);
        read_in_frame(code_.text_of({at, close + 1}), then);
        TokenIndex next = behind(code_, then, end);
        if (next < end && code_.at(next).is("else")) {
            const TokenRange otherwise = body_at(next + 1, end);
            read_in_frame("else of " + code_.text_of({at, close + 1}), otherwise);
            next = behind(code_, otherwise, end);
        }
        return next;
    }

    TokenIndex read_loop(TokenIndex at, TokenIndex end) {
        if (!code_.at(at + 1).is("(")) return at + 1;
        const TokenIndex close = std::min(code_.match(at + 1), end);
        const TokenRange body = body_at(close + 1, end);
        const TokenRange head{at + 2, close};
        if (!code_.at(at).is("for") || !uses_builder(body) || !read_list_loop(head, body)) {
            read_in_frame(code_.text_of({at, close + 1}), body);
        }
        return behind(code_, body, end);
    }

    /// `for (const char* name : {"a", "b"})` is read once for each element.
    bool read_list_loop(TokenRange head, TokenRange body) {
        const TokenIndex colon = code_.find(head, ":");
        if (colon <= head.begin || colon >= head.end || !code_.at(colon - 1).is_identifier()) {
            return false;
        }
        const CppValue list = value({colon + 1, head.end});
        if (!list.is(CppValue::Kind::Braces)) return false;
        const std::vector<TokenRange> elements = code_.split(list.range);
        if (elements.size() > CppLimits::kTurnsMax) return false;
        for (TokenIndex i = body.begin; i < body.end && code_.look(); ++i) {
            const CppToken& token = code_.at(i);
            if (token.is("break") || token.is("continue") || token.is("return")) return false;
        }
        for (const TokenRange& element : elements) {
            frames_.push_back({});
            frames_.back().values.emplace_back(code_.at(colon - 1).text, value(element));
            read(body);
            frames_.pop_back();
        }
        return true;
    }

    void read_expression(TokenRange range) {
        // A lambda that gets a name is read where it is called.
        const TokenIndex assign = code_.find(range, "=");
        if (assign + 1 < range.end && code_.at(assign + 1).is("[")) return;
        for (TokenIndex i = range.begin; i < range.end && code_.look(); ++i) {
            if (code_.at(i).is("[") && read_lambda(i, range)) {
                i = std::min(code_.match(code_.match(i)), range.end);
                continue;
            }
            if (code_.at(i).is_identifier() && code_.at(i + 1).is("(") && read_call(i, range)) {
                i = std::min(code_.match(i + 1), range.end);
                continue;
            }
            CppBuilder* builder = builder_at(i);
            if (builder == nullptr) continue;
            i = read_use(*builder, i, range) - 1;
        }
    }

    /// A name that stands for a builder.
    TokenIndex read_use(CppBuilder& builder, TokenIndex at, TokenRange range) {
        const CppToken& next = code_.at(at + 1);
        if (next.is(".") || next.is("->")) {
            CppBuilder last = builder;
            const TokenIndex end = read_chain(last, at + 1, range.end);
            const bool is_named = at >= 2 && code_.at(at - 1).is("=") &&
                                  code_.at(at - 2).is_identifier() && !is_built_;
            if (is_named) frames_.back().builders.emplace_back(code_.at(at - 2).text, last);
            return std::max(end, at + 1);
        }
        const CppToken& before = code_.at(at - 1);
        const bool is_returned = before.is("return") || before.is("move") || before.is("*");
        const bool is_argument =
            (before.is("(") || before.is(",") || before.is("&")) && (next.is(")") || next.is(","));
        // A function that is not in this file can do anything with it.
        if (is_argument && !is_returned) calls_.add_unknown(builder, range);
        return at + 1;
    }

    /// A lambda that is not an argument of a builder but uses one.
    bool read_lambda(TokenIndex open, TokenRange statement) {
        const auto lambda = code_.lambda_at(open);
        if (!lambda || !uses_builder(lambda->body)) return lambda.has_value();
        read_in_frame(
            code_.text_of({statement.begin, std::max(statement.begin + 1, open)}) + " …",
            lambda->body
        );
        return true;
    }

    /// A call of a function of this file that gets a builder.
    bool read_call(TokenIndex name, TokenRange range) {
        const TokenIndex close = std::min(code_.match(name + 1), range.end);
        const std::vector<TokenRange> arguments = code_.split({name + 2, close});
        const bool has_builder =
            std::any_of(arguments.begin(), arguments.end(), [&](const TokenRange& argument) {
                return argument.end == argument.begin + 1 && builder_at(argument.begin) != nullptr;
            });
        if (!has_builder) return false;
        const CppValue function = value({name, name + 1});
        if (!function.is(CppValue::Kind::Function)) return false;
        std::vector<Argument> given;
        for (const TokenRange& argument : arguments) {
            CppBuilder* builder =
                argument.end == argument.begin + 1 ? builder_at(argument.begin) : nullptr;
            if (builder != nullptr) {
                given.push_back({std::nullopt, *builder});
            } else {
                given.push_back({value(argument), std::nullopt});
            }
        }
        call_function(function, std::move(given));
        return true;
    }

    struct Argument {
        std::optional<CppValue> value;
        std::optional<CppBuilder> builder;
    };

    void call_function(const CppValue& function, std::vector<Argument> arguments) {
        std::optional<CppFunction> lambda;
        if (function.function == nullptr) lambda = code_.lambda_at(function.range.begin);
        const CppFunction* target = function.function != nullptr ? function.function : nullptr;
        if (lambda) target = &*lambda;
        if (target == nullptr || inlined_ >= CppLimits::kInlinedMax) {
            for (const Argument& argument : arguments) {
                if (argument.builder) calls_.add_unknown(*argument.builder, function.range);
            }
            return;
        }
        ++inlined_;
        Frame frame;
        frame.is_function = !target->is_lambda;
        for (std::size_t i = 0; i < arguments.size() && i < target->parameters.size(); ++i) {
            if (target->parameters[i].empty()) continue;
            if (arguments[i].builder) {
                frame.builders.emplace_back(target->parameters[i], *arguments[i].builder);
            } else {
                frame.values.emplace_back(target->parameters[i], *arguments[i].value);
            }
        }
        frames_.push_back(std::move(frame));
        const bool was_built = std::exchange(is_built_, false);
        read(target->body);
        is_built_ = was_built;
        frames_.pop_back();
        --inlined_;
    }
};

/// Is this mention of a builder the beginning of a workflow?
bool is_constructor(const CppCode& code, TokenIndex at) {
    if (at > 0) {
        const CppToken& before = code.at(at - 1);
        constexpr std::array<std::string_view, 6> kOther = {
            "class", "struct", "explicit", "~", "friend", "using"
        };
        if (std::find(kOther.begin(), kOther.end(), before.text) != kOther.end()) return false;
        if (before.is("::") && at > 1 && code.at(at - 2).is(code.at(at).text)) return false;
        if (before.is(".") || before.is("->") || before.is("public")) return false;
    }
    const CppToken& next = code.at(at + 1);
    if (next.is("(") || next.is("{")) return !code.inside(at + 1, code.size()).is_empty();
    const bool is_variable =
        next.is_identifier() && (code.at(at + 2).is("(") || code.at(at + 2).is("{"));
    if (!is_variable) return false;
    const TokenRange arguments = code.inside(at + 2, code.size());
    if (arguments.is_empty()) return false;  // a function that returns one
    // `WorkflowBuilder make(const std::string& name)` declares a function.
    const TokenRange first = code.split(arguments).front();
    for (TokenIndex i = first.begin; i + 1 < first.end; ++i) {
        const bool is_type = code.at(i).is_identifier() || code.at(i).is("&") || code.at(i).is("*");
        if (is_type && code.at(i + 1).is_identifier()) return false;
    }
    return true;
}

}  // namespace

CppPlace CppWorkflow::place_of(std::string_view path) const {
    std::string at(path);
    while (true) {
        const auto found = places.find(at);
        if (found != places.end()) return found->second;
        const std::size_t slash = at.rfind('/');
        if (slash == std::string::npos) return place;
        at.resize(slash);
    }
}

bool may_have_workflows(std::string_view text) {
    return text.find(kBuilder) != std::string_view::npos;
}

std::vector<CppWorkflow> workflows_in(const CppCode& code) {
    std::vector<CppWorkflow> all;
    for (TokenIndex i = 0; i < code.size() && all.size() < CppLimits::kWorkflowsMax; ++i) {
        if (!code.at(i).is(kBuilder) || !is_constructor(code, i)) continue;
        CppWorkflow found;
        if (Reader(code, found).run(i)) all.push_back(std::move(found));
        if (code.is_exhausted()) break;
    }
    return all;
}

bool has_rules_in(const CppCode& code) {
    for (TokenIndex i = 0; i < code.size(); ++i) {
        if (code.at(i).is(kRulesBuilder) && is_constructor(code, i)) return true;
    }
    return false;
}

CppFile scan_cpp(std::string_view text) {
    CppFile file;
    if (text.size() > CppLimits::kBytesMax) return file;
    const bool has_workflows = may_have_workflows(text);
    const bool may_have_rules = text.find(kRulesBuilder) != std::string_view::npos;
    if (!has_workflows && !may_have_rules && !may_have_handlers(text)) return file;
    const CppCode code(text);
    file.handlers = handlers_in(code);
    if (has_workflows) file.workflows = workflows_in(code);
    file.has_rules = may_have_rules && has_rules_in(code);
    return file;
}

std::vector<CppWorkflow> scan_workflows(std::string_view text) {
    if (!may_have_workflows(text)) return {};
    return scan_cpp(text).workflows;
}

std::vector<CppHandler> scan_handlers(std::string_view text) {
    return scan_cpp(text).handlers;
}

}  // namespace ebb::source

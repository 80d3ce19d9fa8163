// Where handlers are registered: `handlers.add("charge", ...)`.

#include <map>
#include <set>
#include <utility>

#include "core/model/walk.h"
#include "source/cpp_file.h"
#include "source/cpp_value.h"

namespace ebb::source {

namespace {

/// Between `add` and `(`: `<Order, Receipt>`.
constexpr TokenIndex kTemplateTokensMax = 32;

/// The `(` of a call that may register a handler; size() if it is none.
TokenIndex opening_of(const CppCode& code, TokenIndex name) {
    TokenIndex at = name + 1;
    if (code.at(at).is("<")) {
        const TokenIndex first = at;
        while (at < first + kTemplateTokensMax && !code.at(at).is("(") && !code.at(at).is(";"))
            ++at;
    }
    return code.at(at).is("(") ? at : code.size();
}

bool is_registration(const CppToken& name) {
    for (const std::string_view word :
         {"add",
          "add_raw",
          "add_async",
          "add_async_raw",
          "add_transactional",
          "add_transactional_raw"}) {
        if (name.is(word)) return true;
    }
    return false;
}

class Finder {
 public:
    explicit Finder(const CppCode& code) : code_(code) {}

    std::vector<CppHandler> run() {
        for (TokenIndex i = 1; i < code_.size(); ++i) {
            if (code_.at(i).is("for")) note_list(i);
            const bool is_member = code_.at(i - 1).is(".") || code_.at(i - 1).is("->");
            if (is_member && code_.at(i).is_identifier() && is_registration(code_.at(i))) read(i);
        }
        return std::move(handlers_);
    }

 private:
    struct List {
        TokenRange names;
        TokenIndex end;
    };

    const CppCode& code_;
    std::vector<CppHandler> handlers_;
    std::map<std::string_view, List> lists_;  ///< of loops over literals, by their variable

    /// `for (const char* name : {"a", "b"})`
    void note_list(TokenIndex at) {
        const TokenRange head = code_.inside(at + 1, code_.size());
        const TokenIndex colon = code_.find(head, ":");
        if (!code_.at(at + 1).is("(") || colon >= head.end || !code_.at(colon + 1).is("{")) return;
        TokenIndex end = code_.find({head.end, code_.size()}, ";");
        if (code_.at(head.end + 1).is("{")) end = code_.match(head.end + 1);
        lists_[code_.at(colon - 1).text] = {code_.inside(colon + 1, head.end), end};
    }

    void add(TokenRange name) {
        const CppValue value = evaluate(code_, name, [](std::string_view) { return nullptr; });
        const bool is_name = value.is(CppValue::Kind::Text) && !value.text.empty();
        if (!is_name || handlers_.size() >= CppLimits::kHandlersMax) return;
        handlers_.push_back({value.text, {code_.offset_of(name.begin), code_.end_of(name)}});
    }

    void read(TokenIndex at) {
        const TokenIndex open = opening_of(code_, at);
        if (open >= code_.size()) return;
        const std::vector<TokenRange> arguments = code_.split(code_.inside(open, code_.size()));
        if (arguments.size() < 2) return;
        const TokenRange name = arguments.front();
        const auto list = lists_.find(code_.at(name.begin).text);
        const bool is_turn =
            name.end == name.begin + 1 && list != lists_.end() && at < list->second.end;
        if (!is_turn) return add(name);
        for (const TokenRange& one : code_.split(list->second.names)) add(one);
    }
};

}  // namespace

bool may_have_handlers(std::string_view text) {
    return text.find(".add") != std::string_view::npos ||
           text.find("->add") != std::string_view::npos;
}

std::vector<CppHandler> handlers_in(const CppCode& code) {
    return Finder(code).run();
}

std::vector<CppHandler> called_handlers(const CppWorkflow& workflow) {
    std::vector<CppHandler> calls;
    std::set<std::string_view> unknown;
    for (const CppUnknown& part : workflow.unknown) unknown.insert(part.path);
    const model::Walk walk(workflow.definition);
    const auto add = [&](const std::string& name, const std::string& path) {
        const auto place = workflow.places.find(path);
        // A placeholder is not a name.
        if (place == workflow.places.end() || unknown.contains(path)) return;
        calls.push_back({name, place->second});
    };
    for (const model::Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr) continue;
        if (step->handler.empty()) {
            add(placed.node->name, placed.path + "/step");
        } else {
            add(step->handler, placed.path + "/handler");
        }
        if (step->compensate) add(step->compensate->handler, placed.path + "/compensate");
    }
    return calls;
}

}  // namespace ebb::source

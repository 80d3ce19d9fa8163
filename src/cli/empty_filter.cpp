#include "cli/empty_filter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <ebb/label.h>

#include "core/filter/filter.h"
#include "support/closest.h"

namespace ebb::cli {

namespace {

/// Each costs a query.
constexpr std::size_t kLabelsMax = 4;
/// The instances whose labels may be what a misspelled one means.
constexpr int kNewest = 100;

/// The types that a label is compared with.
using Compared = std::map<std::string, std::set<LabelType>>;

void add_labels(const filter::Condition& condition, Compared& found) {
    for (const filter::Condition& part : condition.parts) add_labels(part, found);
    if (condition.kind != filter::Condition::Kind::Compare) return;
    if (condition.field.kind != filter::Field::Kind::Label) return;
    std::set<LabelType>& types = found[condition.field.label];
    if (condition.op != filter::Operator::Exists) types.insert(condition.operand.type());
}

Compared labels_of(const std::string& where, TimePoint now) {
    Compared found;
    try {
        add_labels(filter::compile(where, now), found);
    } catch (const Error&) {
        // A newer server may know more than this command.
    }
    return found;
}

class Explanation {
 public:
    Explanation(Session& session, Client& client) : session_(session), client_(client) {}

    void explain(const std::string& name, const std::set<LabelType>& compared) {
        const auto page =
            client_.outline_page({.limit = 1, .where = fmt::format("\"{}\" in labels", name)});
        if (page.outlines.empty()) {
            // Otherwise older instances may have it.
            if (!page.next) session_.note(missing_text(name));
            return;
        }
        const Labels& labels = page.outlines.front().summary.labels;
        const auto label = labels.find(name);
        if (label == labels.end() || compared.empty()) return;
        const LabelType type = label->second.type();
        if (compared.contains(type)) return;
        session_.note(fmt::format(
            "The label \"{}\" of instance {} is a {}, and the filter compares it with a {}.\n",
            name,
            page.outlines.front().summary.id.to_string(),
            to_string(type),
            to_string(*compared.begin())
        ));
    }

 private:
    std::string missing_text(const std::string& name) {
        const std::string text = fmt::format("No instance has the label \"{}\".", name);
        const std::vector<std::string_view> known(names().begin(), names().end());
        const std::string_view meant = ebb::closest(name, known);
        return meant.empty() ? text + "\n" : fmt::format("{} Did you mean \"{}\"?\n", text, meant);
    }

    const std::set<std::string>& names() {
        if (names_) return *names_;
        names_.emplace();
        for (const auto& outline : client_.outline_page({.limit = kNewest}).outlines) {
            for (const auto& [name, value] : outline.summary.labels) names_->insert(name);
        }
        return *names_;
    }

    Session& session_;
    Client& client_;
    std::optional<std::set<std::string>> names_;
};

}  // namespace

void explain_empty_filter(Session& session, Client& client, const std::string& where) {
    if (where.empty() || session.options().is_json || session.options().is_quiet) return;
    Explanation explanation(session, client);
    std::size_t asked = 0;
    for (const auto& [name, types] : labels_of(where, session.now())) {
        if (++asked > kLabelsMax) return;
        explanation.explain(name, types);
    }
}

}  // namespace ebb::cli

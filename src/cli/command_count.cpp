// `ebb count`: how many instances a filter holds for.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/empty_filter.h"
#include "cli/table.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

bool has_word(const CountOptions& options, std::string_view word) {
    return std::find(options.by.begin(), options.by.end(), word) != options.by.end();
}

}  // namespace

int count_instances(Session& session, const CountOptions& options) {
    for (const std::string& word : options.by) {
        if (word == "status" || word == "workflow") continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("--by: \"{}\" is not one of status, workflow.", one_line(word))
        );
    }
    Client& client = session.connect("count");
    const ListOptions which{.workflow = options.workflow, .where = options.where};
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    std::int64_t total = 0;
    for (const InstanceCount& count : client.count(which)) {
        const std::string workflow = has_word(options, "workflow") ? count.workflow : "";
        const std::string status(has_word(options, "status") ? to_string(count.status) : "");
        counts[{workflow, status}] += count.count;
        total += count.count;
    }
    if (session.options().is_json) {
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (const auto& [key, count] : counts) {
            nlohmann::ordered_json row = nlohmann::ordered_json::object();
            if (!key.first.empty()) row["workflow"] = key.first;
            if (!key.second.empty()) row["status"] = key.second;
            row["count"] = count;
            rows.push_back(std::move(row));
        }
        nlohmann::ordered_json json{{"total", total}};
        if (!options.by.empty()) json["counts"] = std::move(rows);
        session.print_json(json);
        return kOk;
    }
    if (options.by.empty()) {
        session.print(fmt::format("{}\n", total));
        if (total == 0) explain_empty_filter(session, client, options.where);
        return kOk;
    }
    std::vector<std::string> header;
    if (has_word(options, "workflow")) header.emplace_back("WORKFLOW");
    if (has_word(options, "status")) header.emplace_back("STATUS");
    header.emplace_back("COUNT");
    for (std::string& title : header) title = session.out().dim(title);
    Table table(header);
    for (const auto& [key, count] : counts) {
        std::vector<std::string> row;
        if (has_word(options, "workflow")) row.push_back(one_line(key.first));
        if (has_word(options, "status")) row.push_back(session.out().status(key.second));
        row.push_back(std::to_string(count));
        table.add(std::move(row));
    }
    session.print(table.text(0, session.out().glyphs().ellipsis));
    return kOk;
}

}  // namespace ebb::cli

#include "store/rules_views.h"

#include <fmt/format.h>

#include "ebb/sqlite/views.h"
#include "store/sqlite/opening.h"

namespace ebb {

void make_rules_views(const SqliteOptions& options, const RulesViews& views) {
    sqlite::Database database = sqlite::open_for_writing(options);
    const std::vector<std::string> names = rules_views::names_of(views.workflow);
    {
        sqlite::Query taken(database, sqlite::views::find_taken, names[0], names[1], names[2]);
        if (taken.step()) rules_views::refuse(taken.text(0));
    }
    std::vector<std::string> columns;
    for (const Attribute& attribute : views.attributes) {
        columns.push_back(fmt::format("json_extract(i.state, '$.rules.values.{}')", attribute.name)
        );
    }
    database.execute(rules_views::filled(sqlite::views::make_views, views, columns));
}

}  // namespace ebb

#include "ebb/postgres/views.h"
#include "store/postgres/connection.h"
#include "store/rules_views.h"

namespace ebb {

namespace {

/// Instances of earlier versions may have values of another type, which are NULL where they cannot
/// be what the column is.
std::string column_of(const Attribute& attribute) {
    namespace views = postgres::views;
    using rules_views::replaced;
    const auto column = [&](std::string_view sql) {
        return replaced(std::string(sql), "@name", attribute.name);
    };
    switch (attribute.type) {
        case AttributeType::Boolean:
            return column(views::column_of_boolean);
        case AttributeType::Integer:
            return replaced(column(views::column_of_number), "@type", "bigint");
        case AttributeType::Double:
            return replaced(column(views::column_of_number), "@type", "double precision");
        case AttributeType::Document:
            return column(views::column_of_json);
        default:
            return column(views::column_of_text);
    }
}

}  // namespace

void make_rules_views(const PostgresOptions& options, const RulesViews& views) {
    const postgres::Settings settings = postgres::read_settings(options);
    postgres::Connection connection(settings);
    const std::vector<std::string> names = rules_views::names_of(views.workflow);
    const postgres::Result taken = connection.run(
        postgres::views::find_taken,
        postgres::Arguments::of(settings.schema, names[0], names[1], names[2])
    );
    if (!taken.is_empty()) rules_views::refuse(taken.text(0, 0));
    std::vector<std::string> columns;
    for (const Attribute& attribute : views.attributes) columns.push_back(column_of(attribute));
    connection.execute(rules_views::filled(postgres::views::make_views, views, columns));
}

}  // namespace ebb

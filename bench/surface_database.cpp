#include "surface_database.h"

#include <fmt/format.h>

#include "store/migrations.h"
#include "support/uuid.h"

namespace ebb::bench {

using testing::PostgresServer;

namespace {

std::string flow_script(int idle_triggers) {
    std::string triggers;
    for (int i = 0; i < idle_triggers; ++i) {
        triggers += fmt::format(", ('idle_{0}', $$idle = '{0}' and at > 1$$)", i);
    }
    return fmt::format(
        "SELECT ebb.create_flow('rules');"
        "SET search_path = rules, pg_catalog;"
        "BEGIN;"
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('at', 'integer', '0');"
        "INSERT INTO wed_attr (aname, external) VALUES ('idle', true);"
        "INSERT INTO wed_trig (trname, cpred)"
        " VALUES ('a', 'at = 0'), ('b', 'at = 1'), ('c', 'at = 2'){};"
        "INSERT INTO wed_trig (cpred, cfinal) VALUES ('at = 3', true);"
        "COMMIT;"
        "SELECT ebb.set_flow('rules', 'notify', 'none');"
        "SELECT ebb.set_flow('rules', 'external_writes', 'declared')",
        triggers
    );
}

}  // namespace

void make_looking_flow(SqlSession& session) {
    session.run_script(
        "SELECT ebb.create_flow('looking');"
        "SET search_path = looking, pg_catalog;"
        "BEGIN;"
        "INSERT INTO wed_attr (aname, atype, adv, external) VALUES ('n', 'integer', '0', true);"
        "INSERT INTO wed_attr (aname, atype, adv)"
        " VALUES ('seen', 'integer', '0'), ('called', 'integer', '0');"
        "INSERT INTO wed_trig (trname, cpred) VALUES ('look', 'n > seen'), ('rest', 'n <= seen');"
        "COMMIT;"
        "SELECT ebb.set_flow('looking', 'notify', 'none');"
        "SELECT ebb.set_flow('looking', 'external_writes', 'declared')"
    );
}

SurfaceDatabase::SurfaceDatabase(const PostgresServer& server, int idle_triggers)
    : server_(server), name_(fmt::format("surface_{:x}", random_bits())) {
    server_.execute("CREATE DATABASE " + name_);
    migrate_postgres({.url = url()});
    install_sql_workers({.url = url()});
    install_rules_sql({.url = url()});
    SqlSession(url()).run_script(flow_script(idle_triggers));
}

SurfaceDatabase::~SurfaceDatabase() {
    server_.execute("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
}

SqlSession SurfaceDatabase::session() const {
    SqlSession made(url());
    made.run_script("SET search_path = rules, pg_catalog");
    return made;
}

void SurfaceDatabase::start(int count) const {
    session().run(
        fmt::format("INSERT INTO wed_flow (at) SELECT 0 FROM generate_series(1, {}) AS n", count)
    );
}

void SurfaceDatabase::multiply(int count) const {
    SqlSession session(url());
    // An id begins with the time, as those of the store do.
    session.run_script(fmt::format(
        R"(SET session_replication_role = replica;
        CREATE TEMP TABLE copies AS SELECT n, (lpad(to_hex(n), 12, '0') || '7' ||
            substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid AS id
            FROM generate_series(1, {}) AS n;
        DO $$
        DECLARE place record; names text; chosen text;
        BEGIN
            FOR place IN VALUES ('ebb', 'instances', 'id'), ('ebb', 'history', 'instance_id'),
                ('ebb', 'tasks', 'instance_id'), ('rules', 'wed_flow', 'instance_id')
            LOOP
                SELECT string_agg(quote_ident(attname), ', '),
                    string_agg(CASE attname WHEN place.column3 THEN 'c.id'
                        WHEN 'wid' THEN 'c.n + 1000000000'
                        ELSE 't.' || quote_ident(attname) END, ', ')
                INTO names, chosen FROM pg_attribute
                WHERE attrelid = format('%I.%I', place.column1, place.column2)::regclass
                    AND attnum > 0 AND NOT attisdropped;
                EXECUTE format(
                    'INSERT INTO %I.%I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM copies AS c'
                    ' CROSS JOIN (SELECT * FROM %I.%I) AS t',
                    place.column1, place.column2, names, chosen, place.column1, place.column2);
            END LOOP;
        END $$;
        DROP TABLE copies;
        SET session_replication_role = origin)",
        count - 1
    ));
    for (const char* table : {"ebb.instances", "ebb.history", "ebb.tasks", "rules.wed_flow"}) {
        session.run(fmt::format("VACUUM ANALYZE {}", table));
    }
    session.run("CHECKPOINT");
}

}  // namespace ebb::bench

"""`ebb rules import-wed` takes a flow of WED-SQL over from its database; `ebb rules wsql` reads its language.

The database has WED-SQL's tables in its schema public, where they are there: reference.sql plays it, which
shares nothing with Ebb. Some instances have run one transition, some two, some all. The flow that is made
has the same traces, jobs and statuses, and goes on as the old one does.

usage: command_test.py EBB, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import psycopg

from import_test import STEPS_BEFORE, Player
from server import HERE, URL

EBB = sys.argv[1]
# The flow with the handler of exceptions, and the longest one.
FLOWS = ("exception", "three_by_two", "chains")


def url_of(database):
    return re.sub(r"/[^/?]*(\?|$)", f"/{database}\\1", URL)


def script(database, text):
    done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", url_of(database)], input=text,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ebb(*arguments, database=URL):
    return subprocess.run([EBB, "--db", database, *arguments], capture_output=True, text=True, timeout=300)


class Old(Player):
    """A flow of WED-SQL in a database of its own."""

    def __init__(self, name, definition, work):
        with psycopg.connect(URL, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")
        reference = (HERE / "reference.sql").read_text()
        script(name, "DROP SCHEMA public;\n\\set flow public\n" + reference + definition)
        self.url = url_of(name)
        self.database = psycopg.connect(self.url, autocommit=True, options="-c search_path=public,pg_catalog")
        self.work = work


class ImportCommand(unittest.TestCase):
    maxDiff = None

    def old(self, name, definition, work=None):
        made = Old(name, definition, work or {})
        self.addCleanup(made.database.close)
        return made

    def imported(self, old, name, *options):
        done = ebb("rules", "import-wed", old.url, "--create", "--name", name, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        new = Player(name, old.work)
        self.addCleanup(new.database.close)
        return new, done

    def refused(self, old, *parts, options=("--create",)):
        done = ebb("rules", "import-wed", old.url, *options)
        self.assertNotEqual(done.returncode, 0)
        for part in parts:
            self.assertIn(part, " ".join(done.stderr.split()))
        return done

    def test_flows_go_on(self):
        for name in FLOWS:
            with self.subTest(name):
                text = (HERE / "orders" / f"{name}.sql").read_text()
                old = self.old(f"old_{name}", text, dict(re.findall(r"^-- work (\w+): (.*)$", text, re.M)))
                for wid, steps in enumerate(STEPS_BEFORE, 1):
                    old.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
                    while steps and old.step(wid):
                        steps -= 1
                new, done = self.imported(old, name)
                self.assertIn(f"with {len(STEPS_BEFORE)} instances and ", done.stdout)
                self.assertEqual(new.seen(), old.seen())
                for wid in range(1, len(STEPS_BEFORE) + 1):
                    while old.step(wid):
                        self.assertTrue(new.step(wid))
                    self.assertFalse(new.step(wid))
                self.assertEqual(new.seen(), old.seen())
                added = new.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
                self.assertEqual(added, [(len(STEPS_BEFORE) + 1,)])

    def test_the_order_of_a_trace_is_found_again(self):
        text = (HERE / "orders/three_by_two.sql").read_text()
        work = dict(re.findall(r"^-- work (\w+): (.*)$", text, re.M))
        old = self.old("old_order", text, work)
        for wid in (1, 2):
            old.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
            while old.step(wid):
                pass
        trace = old.seen()[0]
        # The first row is stored last, and all have one time: after a deletion, in overlapping transactions.
        old.database.execute("WITH first AS (DELETE FROM wed_trace WHERE trw = '_INIT' RETURNING *)"
                             " INSERT INTO wed_trace SELECT * FROM first")
        old.database.execute("UPDATE wed_trace SET tstmp = '2016-06-01 12:00:00+00' WHERE wid = 2")
        new, _ = self.imported(old, "order_again")
        self.assertEqual([row[1:4] for row in new.seen()[0] if row[0] == 1],
                         [row[1:4] for row in trace if row[0] == 1])
        self.assertEqual(new.seen()[2], old.seen()[2])

    def test_attributes_that_were_added_later(self):
        old = self.old("old_added", "INSERT INTO wed_attr (aname) VALUES ('a');"
                       "INSERT INTO wed_trig (trname, cpred) VALUES ('t', 'a is null'), ('u', $$a = '1'$$);"
                       "INSERT INTO wed_flow DEFAULT VALUES; INSERT INTO wed_flow DEFAULT VALUES;")
        old.work = {"t": "a = '1'", "u": "b = '3'"}
        self.assertTrue(old.step(1))
        old.database.execute("INSERT INTO wed_attr (aname, adv) VALUES ('b', '2')")
        new, _ = self.imported(old, "added")
        self.assertEqual(new.rows("SELECT wid, a, b FROM wed_flow ORDER BY wid"),
                         [(1, "1", "2"), (2, None, "2")])
        self.assertTrue(old.step(2) and new.step(2))
        self.assertEqual(new.seen()[2], old.seen()[2])
        # What was fired before sees the attribute, too.
        self.assertEqual(new.rows("SELECT wid, trname, payload ->> 'b' FROM job_pool ORDER BY wid"),
                         [(1, "u", "2"), (2, "u", "2")])

    def test_a_definition_is_printed(self):
        old = self.old("old_printed", "INSERT INTO wed_attr (aname, adv) VALUES ('a', 'ready'), ('b', NULL);"
                       "INSERT INTO wed_trig (trname, cpred, timeout) VALUES ('t', $$a = 'ready'$$, '3d18h');"
                       "INSERT INTO wed_trig (trname, cpred, enabled) VALUES ('u', 'b is null', false);"
                       "INSERT INTO wed_trig (cpred, cfinal) VALUES ('b is not null', true);"
                       "ALTER TABLE wed_flow ADD COLUMN customer text; INSERT INTO wed_flow DEFAULT VALUES;")
        held = psycopg.connect(old.url)
        self.addCleanup(held.close)
        held.execute("SELECT pg_try_advisory_xact_lock(1, 1)")
        done = ebb("rules", "import-wed", old.url, database="memory:")
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = " ".join(done.stderr.split())
        self.assertIn('The column "customer" of wed_flow is not an attribute', notes)
        self.assertIn("1 job is claimed by a worker of WED-SQL", notes)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "old_printed.yaml")
            path.write_text(done.stdout)
            valid = ebb("--json", "validate", str(path), database="memory:")
            self.assertEqual(valid.returncode, 0, valid.stdout + valid.stderr)
        definition = json.loads(ebb("--json", "rules", "import-wed", old.url, database="memory:").stdout)
        self.assertEqual(definition["workflow"], "old_printed")
        triggers = {t["trigger"]: t for t in definition["rules"]["triggers"]}
        self.assertEqual(triggers["t"]["timeout"], "3d18h")
        self.assertFalse(triggers["u"]["enabled"])
        self.assertEqual(definition["rules"]["final"][0]["when"], "b is not null")

    def test_everything_that_cannot_be_imported_is_named(self):
        old = self.old("old_bad", "INSERT INTO wed_attr (aname) VALUES ('a'), ('My Attr');"
                       "INSERT INTO wed_trig (trname, cpred, timeout) VALUES"
                       " ('t', $$pg_backend_pid() > 1$$, '1 min'), ('u', 'b is null', '1 min'),"
                       " ('v', 'a is null', NULL);")
        self.refused(old, 'wed_attr, aid 2 ("My Attr")', 'wed_trig, tgid 1 ("t")', "pg_backend_pid",
                     'wed_trig, tgid 2 ("u")', 'wed_trig, tgid 3 ("v"): It has no timeout')
        with psycopg.connect(URL) as new:
            left = new.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'old_bad'").fetchall()
        self.assertEqual(left, [])

    def test_instances_that_cannot_be_imported_are_named(self):
        old = self.old("old_torn", "INSERT INTO wed_attr (aname) VALUES ('a');"
                       "INSERT INTO wed_trig (trname, cpred) VALUES ('t', 'a is null');"
                       "INSERT INTO wed_flow DEFAULT VALUES; INSERT INTO wed_flow DEFAULT VALUES;"
                       "DELETE FROM job_pool WHERE wid = 2;")
        self.refused(old, "The trace of the instance with the wid 2 does not lead to its attributes and jobs",
                     "these jobs are left: none")
        old.database.execute("INSERT INTO job_pool SELECT 2, tgid, trname, lckid, timeout, payload"
                             " FROM job_pool")
        old.database.execute("UPDATE wed_trace SET state = '{\"a\": \"x\"}' WHERE wid = 2")
        self.refused(old, 'its trace ends with a = "x", but wed_flow has null')
        with psycopg.connect(URL) as new:
            left = new.execute("SELECT nspname::text FROM pg_namespace WHERE nspname = 'old_torn'"
                               " UNION ALL SELECT id::text FROM ebb.instances WHERE workflow = 'old_torn'")
            self.assertEqual(left.fetchall(), [])

    def test_other_databases_are_refused(self):
        with psycopg.connect(URL, autocommit=True) as server:
            server.execute("CREATE DATABASE old_none")
        none = type("None_", (), {"url": url_of("old_none")})
        self.refused(none, "the table wed_attr with the column aid is missing")
        script("old_none", "CREATE TABLE wed_pred (pid int, cid int)")
        self.refused(none, "those of the first version")
        script("old_none", "DROP TABLE wed_pred; CREATE VIEW wed_flow AS SELECT 1 AS wid")
        self.refused(none, "those of the third version")
        script("old_none", "DROP VIEW wed_flow; CREATE TABLE wed_flow (wid int, instance_id uuid)")
        self.refused(none, "it is already a flow of Ebb")
        done = ebb("rules", "import-wed", url_of("old_none"), "--create", database="flows.db")
        self.assertIn("only into PostgreSQL", " ".join(done.stderr.split()))
        self.assertFalse(pathlib.Path("flows.db").exists())


class Wsql(unittest.TestCase):
    maxDiff = None

    def converted(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "sketch.wsql")
            path.write_text(text)
            return subprocess.run([EBB, "--json", "rules", "wsql", str(path), *options], capture_output=True,
                                  text=True, timeout=60)

    def definition(self, text, *options):
        done = self.converted(text, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def problems(self, text):
        done = self.converted(text)
        self.assertEqual(done.returncode, 2, done.stderr)
        return [(p["line"], p["message"]) for p in json.loads(done.stderr)["error"]["problems"]]

    def test_both_forms_say_the_same(self):
        sketch = self.definition("""
            CREATE WED-FLOW travel WITH PASSWORD 'x; y';
            CREATE WED-ATTRIBUTE status DEFAULT VALUE 'Requested';
            CREATE WED-ATTRIBUTE hotel;
            CREATE WED-TRANSITION reserve WITH TIMEOUT '5 min';
            CREATE WED-CONDITION c1 WITH PREDICATE status = 'Requested' and hotel is null;
            CREATE WED-TRIGGER t1 AS (reserve, c1);
            SET FINAL WED-STATE AS hotel = 'Reserved';""")
        later = self.definition("""
            create flow travel;   -- the later form; of two attributes
            \\cw travel
            begin;
            create wed-attribute status default 'Requested', hotel;
            create wed-condition c1 as status = 'Requested' and hotel is null;
            create wed-transition reserve;
            create wed-trigger t1 (c1, reserve);
            set final wed-state as $$hotel = 'Reserved'$$;
            update wed-transition reserve set timeout '00:05:00';
            commit;""")
        self.assertEqual(sketch, later)
        self.assertEqual(sketch["workflow"], "travel")
        self.assertEqual(sketch["rules"]["triggers"][0]["when"], "status = 'Requested' and hotel is null")
        self.assertEqual(sketch["rules"]["triggers"][0]["timeout"], "5m")

    def test_several_triggers_fire_one_transition(self):
        flow = self.definition("""
            CREATE WED-ATTRIBUTE a, b;
            CREATE WED-TRIGGER first AS (work WITH TIMEOUT '1 h', c1 WITH PREDICATE (a is null));
            CREATE WED-TRIGGER second AS (work, c2 WITH PREDICATE coalesce(b, 'x, y)') = 'x');
            DISABLE WED-TRIGGER second;""", "--name", "twice")
        self.assertEqual([(t["trigger"], t.get("do"), t.get("enabled")) for t in flow["rules"]["triggers"]],
                         [("work", None, None), ("second", "work", False)])
        self.assertEqual(flow["workflow"], "twice")
        self.assertEqual(flow["rules"]["triggers"][1]["when"], "coalesce(b, 'x, y)') = 'x'")

    def test_problems_have_their_lines(self):
        self.assertEqual(self.problems(
            "CREATE WED-ATTRIBUTE a;\nCREATE WED-CONDITION c AS a is null;\nLIST WED-TRIGGERS;\n"
            "CREATE INSTANCE AS DEFAULT VALUES;\nDROP x;\nCREATE WED-TRIGGER t (c, nothing);\n"
            "CREATE WED-TRANSITION w WITH TIMEOUT 'soon';"), [
            (3, "LIST defines nothing: `ebb list`, `ebb workflows` and `ebb show` list."),
            (4, "Instances are not a part of the definition: `ebb start` starts one."),
            (5, '"DROP" begins no statement of WSQL; allowed are CREATE, UPDATE, SET FINAL WED-STATE, ENABLE,'
                " DISABLE, BEGIN and COMMIT."),
            (6, 'The trigger "t" needs a transition and a condition that exist; these are "c" and'
                ' "nothing".'),
            (7, '"soon" is not a time: write one such as \'5 min\', \'3d18h\' or \'00:00:30\'.'),
        ])

    def test_problems_point_at_the_word(self):
        done = self.converted(
            "CREATE WED-ATTRIBUTE a; DROP x;\n"
            "  CREATE WED-TRANSITION w -- how long?\n"
            "    WITH TIMEOUT 'soon';\n"
            "UPDATE WED-ATTRIBUTE b SET DEFAULT VALUE 1;\n"
            "CREATE WED-CONDITION c a is null;\n"
            "ENABLE WED-TRIGGER t, u extra;\n")
        problems = json.loads(done.stderr)["error"]["problems"]
        self.assertEqual([(p["line"], p["column"], p["message"].split()[0]) for p in problems], [
            (1, 25, '"DROP"'), (3, 18, '"soon"'), (4, 22, "There"), (5, 24, "AS,"), (6, 20, "There")])

    def test_what_no_trigger_uses_is_named(self):
        self.assertEqual(self.problems("CREATE WED-ATTRIBUTE a;\nCREATE WED-CONDITION c AS a is null;\n"
                                       "CREATE WED-TRANSITION w;"),
                         [(2, 'No trigger has the condition "c".'),
                          (3, 'No trigger fires the transition "w".')])

    def test_conditions_are_read(self):
        found = self.problems("CREATE WED-ATTRIBUTE a;\nCREATE WED-TRANSITION w;\n"
                              "CREATE WED-CONDITION c AS b is null;\nCREATE WED-TRIGGER t (c, w);")
        self.assertEqual([line for line, _ in found], [4])
        self.assertIn('Trigger "w": ', found[0][1])
        self.assertIn('"b"', found[0][1])


class View(unittest.TestCase):
    """`ebb rules view`: views for other programs, in both databases."""

    FLOW = """
        {"workflow": "stays", "version": 1, "rules": {"attributes": {"guest": "text",
         "nights": {"type": "integer", "external": true}, "is_paid": {"type": "boolean", "default": false},
         "notes": "json"%s}, "triggers": {"reserve": {"when": "nights > 0"}},
         "final": {"paid": "is_paid"}, "evolution": "follow"}}"""

    JOBS = "SELECT transition, attempt, status FROM {}"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, database, more=""):
        path = pathlib.Path(self.folder, "stays.json")
        text = (self.FLOW % more).replace('"version": 1', '"version": 2' if more else '"version": 1')
        path.write_text(text)
        done = ebb("start", str(path), "--input", '{"guest": "o\'Hara", "nights": 2, "notes": {"a": [1]}}',
                   database=database)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()[-1]

    def made(self, database):
        done = ebb("rules", "view", "stays", database=database)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "Made the views stays, stays_trace, stays_jobs.\n"), done.stderr)

    def test_sqlite(self):
        path = str(pathlib.Path(self.folder, "stays.db"))
        self.start(path)
        self.made(path)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        self.assertEqual(
            database.execute("SELECT guest, nights, is_paid, notes, _version, _status FROM stays").fetchall(),
            [("o'Hara", 2, 0, '{"a":[1]}', 1, "running")])
        self.assertEqual(
            database.execute("SELECT writer, written ->> '$.nights' FROM stays_trace").fetchall(),
            [("_INIT", 2)])
        self.assertEqual(
            database.execute(self.JOBS.format("stays_jobs")).fetchall(), [("reserve", 1, "ready")])
        # A newer version has one more attribute.
        self.start(path, ', "room": {"type": "text", "default": "none"}')
        self.made(path)
        self.assertEqual(
            database.execute("SELECT room, _version FROM stays ORDER BY _version").fetchall(),
            [(None, 1), ("none", 2)])
        database.execute("DROP VIEW stays_jobs")
        database.execute("CREATE TABLE stays_jobs (mine)")
        refused = ebb("rules", "view", "stays", database=path)
        self.assertEqual(refused.returncode, 4)
        self.assertIn('already has a table or view "stays_jobs"', " ".join(refused.stderr.split()))

    def test_postgresql(self):
        self.start(URL)
        self.made(URL)
        self.made(URL)
        with psycopg.connect(URL, autocommit=True) as database:
            self.assertEqual(
                database.execute("SELECT guest, nights + 1, NOT is_paid, notes #>> '{a,0}', _version, _status"
                                 " FROM ebb.stays").fetchall(), [("o'Hara", 3, True, "1", 1, "running")])
            self.assertEqual(
                database.execute("SELECT writer, written ->> 'nights' FROM ebb.stays_trace").fetchall(),
                [("_INIT", "2")])
            self.assertEqual(
                database.execute(self.JOBS.format("ebb.stays_jobs")).fetchall(), [("reserve", 1, "ready")])
            # What is not a number in an older instance is NULL, and no error.
            database.execute("UPDATE ebb.instances SET state ="
                             " replace(state, '\"nights\":2', '\"nights\":\"two\"') WHERE workflow = 'stays'")
            self.assertEqual(
                database.execute("SELECT guest, nights FROM ebb.stays").fetchall(), [("o'Hara", None)])
            database.execute("COMMENT ON VIEW ebb.stays IS NULL")
            refused = ebb("rules", "view", "stays")
            self.assertEqual(refused.returncode, 4)
            self.assertIn('already has a table or view "stays"', " ".join(refused.stderr.split()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""What the workers over PostgreSQL share: psycopg 3 or psycopg2, whichever is installed."""

try:
    import psycopg as driver
except ImportError:
    import psycopg2 as driver


def state_of(error):
    """The SQLSTATE of a database's error, or None."""
    return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)


def ask(connection, text, *values):
    """The rows of a query. Without values a `%` in the text stays as it is."""
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return cursor.fetchall()


def tell(connection, text, *values):
    """Runs a statement and returns how many rows it concerned."""
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return cursor.rowcount


def connect(url, autocommit):
    connection = driver.connect(url)
    connection.autocommit = autocommit
    return connection


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Notices:
    """What comes for LISTEN, also what came together with the answer of another statement."""

    def __init__(self, connection, channel):
        self._connection = connection
        self._is_new_driver = hasattr(connection, "add_notify_handler")
        self._heard = []
        if self._is_new_driver:
            connection.add_notify_handler(lambda notice: self._heard.append(notice.payload))
        tell(connection, f"LISTEN {quoted(channel)}")

    def take(self):
        """The texts that have come since the last time. Does not wait."""
        if self._is_new_driver:
            driver_connection = self._connection.pgconn
            driver_connection.consume_input()
            while notice := driver_connection.notifies():
                self._heard.append(notice.extra.decode())
        else:
            self._connection.poll()
            self._heard += [notice.payload for notice in self._connection.notifies]
            del self._connection.notifies[:]
        heard, self._heard = self._heard, []
        return heard

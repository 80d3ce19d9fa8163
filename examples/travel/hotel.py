"""A worker of the travel agency in Python: it reserves and cancels rooms.

usage: hotel.py URL NAME [--stop-in-hotel PIPE]

It speaks to PostgreSQL only. Its own table public.rooms is written in the transaction that ends the
transition: a room is reserved exactly once, whatever happens to this process. With --stop-in-hotel it
writes a line to PIPE in the middle of a reservation and waits there, to be killed."""

import sys

from ebb_client.sql import Worker

URL, NAME = sys.argv[1:3]
PIPE = sys.argv[4] if len(sys.argv) > 4 else None
worker = Worker(URL, name=NAME, slots=2, lease=1.0)


@worker.handler("hotel")
def reserve(journey, context):
    room = f"room-{journey['customer']}"
    context.connection.cursor().execute("INSERT INTO public.rooms VALUES (%s)", [room])
    if PIPE:
        with open(PIPE, "w", encoding="utf-8") as pipe:
            pipe.write("reserved, and not yet committed\n")
        context.wait_for_stop(600)
    print(f"   Python: reserved {room}", flush=True)
    return {"hotel_status": "Reserved", "hotel_id": room}


@worker.handler("cancel_hotel")
def cancel(undone, context):
    # Of its input, because a reservation that failed is compensated, too, and has no output.
    room = f"room-{undone['input']['customer']}"
    context.connection.cursor().execute("DELETE FROM public.rooms WHERE name = %s", [room])
    print(f"   Python: cancelled {room}", flush=True)


worker.run()

"""Runs one instance of greet.yaml: greet.py [URL], and EBB_TOKEN if the server needs one."""

import os
import sys
import threading

from ebb_client import Client, Worker

client = Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8322", os.environ.get("EBB_TOKEN"))
worker = Worker(client)


@worker.handler("greet")
def greet(name, ctx):
    ctx.log(f"greeting {name}")
    return f"Hello, {name}!"


@worker.handler("remember")
def remember(answer):
    return {"remembered": answer}


thread = threading.Thread(target=worker.run)
thread.start()
instance = client.start("greet", "Ann")
client.signal(instance, "answer", "Hello, worker!")
print(client.result(instance)["output"])
worker.stop()
thread.join()

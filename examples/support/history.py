"""Writes and reads records through several servers, and checks that what they answered is linearizable.

    history.py load FILE URL...     runs until it is terminated; needs TOPOSCOPE_API_KEY and TOPOSCOPE_NETWORK
    history.py mark FILE TEXT       notes that something happens now
    history.py check FILE           prints figures, and fails if the history of a record is not linearizable

Each line of the file is an operation: the record, the kind, the value, the server, its beginning, its end and its status.
"""

import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.parse
from collections import defaultdict

RECORDS = 8
WRITERS = 16
READERS = 4
TIMEOUT = 10


class Client:
    """A client of one server, with one connection."""

    def __init__(self, url):
        self.address = urllib.parse.urlsplit(url).netloc
        self.connection = None

    def ask(self, method, path, body=None):
        """Returns the status and the data of the answer; 0 if there is none."""
        headers = {"Authorization": "Bearer " + os.environ["TOPOSCOPE_API_KEY"], "Content-Type": "application/json"}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
            self.connection.request(method, path, body and json.dumps(body), headers)
            response = self.connection.getresponse()
            return response.status, json.loads(response.read()).get("data")
        except (OSError, http.client.HTTPException, ValueError):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return 0, None


class Load:
    """Writers and readers, and the file of their operations."""

    def __init__(self, path, urls):
        self.file = open(path, "a", buffering=1)
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.urls = urls
        self.network = os.environ["TOPOSCOPE_NETWORK"]
        client = Client(urls[0])
        self.hosts = [self.create(client, record) for record in range(RECORDS)]

    def create(self, client, record):
        status, host = client.ask("POST", "/api/v1/hosts", {"network_id": self.network, "name": "0"})
        assert status == 200, status
        return host["id"]

    def note(self, **operation):
        with self.lock:
            self.file.write(json.dumps(operation) + "\n")

    def write(self, clients, name):
        server = random.randrange(len(clients))
        record = random.randrange(RECORDS)
        begin = time.monotonic()
        path = "/api/v1/hosts/" + self.hosts[record]
        status, _ = clients[server].ask("PUT", path, {"network_id": self.network, "name": name})
        self.note(record=record, kind="write", value=name, server=server, begin=begin, end=time.monotonic(), status=status)
        return status

    def read(self, clients):
        server = random.randrange(len(clients))
        record = random.randrange(RECORDS)
        begin = time.monotonic()
        status, host = clients[server].ask("GET", "/api/v1/hosts/" + self.hosts[record])
        value = host["name"] if status == 200 else None
        self.note(record=record, kind="read", value=value, server=server, begin=begin, end=time.monotonic(), status=status)
        return status

    def work(self, number):
        clients = [Client(url) for url in self.urls]
        count = 0
        while not self.over.is_set():
            count += 1
            status = self.write(clients, f"{number} {count}") if number < WRITERS else self.read(clients)
            # About 200 operations a second: the check needs many faults, not many operations.
            time.sleep(0.1 if status == 200 else 0.05)

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: self.over.set())
        threads = [threading.Thread(target=self.work, args=[number]) for number in range(WRITERS + READERS)]
        for thread in threads:
            thread.start()
        self.over.wait()
        for thread in threads:
            thread.join()


def violations(operations):
    """Returns why the history of one record is not linearizable; nothing if it is.

    Every value is written once. So the operations of a value are next to each other in any right order: a zone from the
    first end of one of them to the last beginning. Two zones that go forward may not overlap, and none that goes backward may
    be within a forward one (Gibbons and Korach, "Testing shared memories", 1997).
    """
    writes, reads = {"0": (float("-inf"), float("-inf"))}, defaultdict(list)
    for operation in operations:
        if operation["kind"] == "write":
            # Without an answer, the write may take effect at any time after its beginning.
            end = operation["end"] if operation["status"] == 200 else float("inf")
            writes[operation["value"]] = (operation["begin"], end)
        elif operation["status"] == 200:
            reads[operation["value"]].append((operation["begin"], operation["end"]))
    forward, backward = [], []
    for value, (begin, end) in writes.items():
        if end == float("inf") and value not in reads:
            continue
        times = [(begin, end)] + reads.pop(value, [])
        if min(end for _, end in times[1:] or times) < begin:
            yield f"{value!r} was read before it was written"
        first_end, last_begin = min(end for _, end in times), max(begin for begin, _ in times)
        zones = forward if first_end < last_begin else backward
        zones.append((min(first_end, last_begin), max(first_end, last_begin), value))
    for value in reads:
        yield f"{value!r} was read and never written"
    forward.sort()
    for (_, end, one), (begin, _, other) in zip(forward, forward[1:]):
        if begin < end:
            yield f"{one!r} was read again after {other!r}, {end - begin:.3f} s later"
    for begin, end, value in backward:
        for first, last, around in forward:
            if first < begin and end < last:
                yield f"{value!r} was written and lost, or {around!r} was read after it, {last - end:.3f} s later"


def longest_gap(operations, kind, server):
    ends = sorted(o["end"] for o in operations if (o["kind"], o["server"], o["status"]) == (kind, server, 200))
    return max((later - earlier for earlier, later in zip(ends, ends[1:])), default=0)


def check(path):
    lines = [json.loads(line) for line in open(path)]
    marks = [line for line in lines if "mark" in line]
    operations = [line for line in lines if "mark" not in line]
    statuses = defaultdict(int)
    for operation in operations:
        statuses[operation["kind"], operation["status"]] += 1
    print("; ".join(f"{kind} {status or 'no answer'}: {count}" for (kind, status), count in sorted(statuses.items())))
    slowest = max(operations, key=lambda operation: operation["end"] - operation["begin"])
    print(f"slowest answer: {slowest['end'] - slowest['begin']:.2f} s ({slowest['kind']} {slowest['status']})")
    ends = [mark["at"] for mark in marks[1:]] + [float("inf")]
    for mark, end in zip(marks, ends):
        within = [o for o in operations if mark["at"] <= o["end"] < end]
        gaps = [f"{kind} {longest_gap(within, kind, server):.1f} s" for server in (0, 1) for kind in ("write", "read")]
        print(f"{mark['mark']}: longest time without an acknowledged operation, by server: {', '.join(gaps)}")
    by_record = defaultdict(list)
    for operation in operations:
        by_record[operation["record"]].append(operation)
    problems = [f"record {record}: {text}" for record, them in sorted(by_record.items()) for text in violations(them)]
    print("\n".join(problems[:20]) or "The history of every record is linearizable.")
    if problems:
        print(f"{len(problems)} violations")
    return not problems


def main():
    command, path, *rest = sys.argv[1:]
    if command == "load":
        Load(path, rest).run()
    elif command == "mark":
        with open(path, "a") as file:
            file.write(json.dumps({"mark": rest[0], "at": time.monotonic()}) + "\n")
    elif not check(path):
        sys.exit(1)


main()

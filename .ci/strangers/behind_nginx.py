"""Puts nginx, as the package configures it, before a server, and works through it as browsers and scripts do.

nginx changes the host, speaks HTTP/1.0 to the server, compresses answers and thereby weakens their tags, and holds back
what it is not told to pass on.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

PORT = int(os.environ["NGINX_PORT"])
UPSTREAM = os.environ["TOPOSCOPE_URL"].removeprefix("http://").split("/")[0]
PREFIX = "/" + os.environ["TOPOSCOPE_URL"].removeprefix("http://").split("/", 1)[1]
NETWORK = os.environ["TOPOSCOPE_NETWORK"]
KEY = {"Authorization": f"Bearer {os.environ['TOPOSCOPE_API_KEY']}"}
JSON = {"Content-Type": "application/json"}

SITE = """
    gzip_types application/json;
    %s
    server {
        listen 127.0.0.1:%d;
        location %s/ {
            proxy_pass http://%s;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
    }
"""


def configuration(folder):
    """The configuration of the package, for a user without privileges and with one site."""
    text = re.sub(r"(?m)#.*$", "", Path("/etc/nginx/nginx.conf").read_text())
    text = re.sub(r"(?m)^\s*(user|pid|error_log|access_log|include /etc/nginx/(modules|conf|sites).*)\b.*;$", "", text)
    kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    paths = "\n    ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    before, after = text.rsplit("}", 1)[0], "}\n"
    site = SITE % (paths, PORT, PREFIX, UPSTREAM)
    return f"pid {folder}/pid;\nerror_log stderr warn;\n{before}\n    access_log off;\n{site}{after}"


def begin(folder):
    path = Path(folder) / "nginx.conf"
    path.write_text(configuration(folder))
    command = ["nginx", "-p", folder, "-c", str(path), "-g", "daemon off; master_process off;"]
    nginx = subprocess.Popen(command)
    for _ in range(100):
        try:
            send("GET", "/api/version")
            return nginx
        except OSError:
            if nginx.poll() is not None:
                break
            time.sleep(0.05)
    nginx.kill()
    raise SystemExit("nginx does not serve")


class Answer:
    def __init__(self, response):
        self.status, self.headers, body = response.status, response.headers, response.read()
        self.is_compressed = self.headers.get("Content-Encoding") == "gzip"
        self.body = gzip.decompress(body) if self.is_compressed else body

    @property
    def data(self):
        envelope = json.loads(self.body)
        assert self.status == 200 and envelope["success"], (self.status, envelope)
        return envelope["data"]


def request(method, path, body=None, headers=()):
    connection = HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request(method, PREFIX + path, body, {"Accept-Encoding": "gzip", **dict(headers)})
    return connection.getresponse()


def send(method, path, body=None, headers=()):
    return Answer(request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body), headers))


def expect(condition, what, answer=None):
    if not condition:
        raise SystemExit(f"{what}: {answer and (answer.status, dict(answer.headers), answer.body[:500])}")
    print("ok:", what)


def log_in():
    login = {"email": os.environ["TOPOSCOPE_EMAIL"], "password": os.environ["TOPOSCOPE_PASSWORD"]}
    answer = send("POST", "/api/auth/login", login, JSON)
    expect(answer.status == 200, "login", answer)
    cookie = answer.headers["Set-Cookie"]
    expect(f"Path={PREFIX};" in cookie, "the cookie is for the prefix", answer)
    return cookie.split(";")[0]


def write_with_session(session):
    page = {"Cookie": session, **JSON}
    body = {"name": "made in a browser", "network_id": NETWORK}
    own = f"http://127.0.0.1:{PORT}"
    answer = send("POST", "/api/v1/hosts", body, {**page, "Origin": "https://net.example", "Sec-Fetch-Site": "same-origin"})
    expect(answer.status == 200, "a page of the same origin writes", answer)
    answer = send("POST", "/api/v1/hosts", body, {**page, "Origin": own})
    expect(answer.status == 200, "a page of an allowed origin writes", answer)
    answer = send("POST", "/api/v1/hosts", body, {**page, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})
    expect(answer.status == 403, "a page of another site does not", answer)
    stale = {**page, "Cookie": f"session_id=stale; {session}", "Origin": own}
    expect(send("GET", "/api/auth/me", None, stale).status == 200, "a stale cookie beside the session does no harm")


def update_with_tag():
    description = "a description long enough for nginx to compress the answer " * 20
    body = {"name": "a host", "network_id": NETWORK, "description": description[:400]}
    path = "/api/v1/hosts/" + send("POST", "/api/v1/hosts", body, {**KEY, **JSON}).data["id"]
    read = send("GET", path, None, KEY)
    tag = read.headers["ETag"]
    expect(read.is_compressed and tag.startswith("W/"), "nginx compresses the answer and weakens its tag", read)
    known = send("GET", path, None, {**KEY, "If-None-Match": tag})
    expect(known.status == 304, "the weakened tag is known", known)
    update = {**body, "name": "renamed"}
    answer = send("PUT", path, update, {**KEY, **JSON, "If-Match": tag})
    expect(answer.status == 200, "the weakened tag allows an update", answer)
    answer = send("PUT", path, body, {**KEY, **JSON, "If-Match": tag})
    expect(answer.status == 412, "once", answer)


def read_events():
    stream = request("GET", "/api/v1/discoveries/stream", None, KEY)
    expect(stream.status == 200 and stream.readline().startswith(b"retry:"), "the stream of events begins at once")
    send("POST", "/api/v1/discoveries", {"network_id": NETWORK}, {**KEY, **JSON})
    begun, line = time.monotonic(), b""
    while not line.startswith(b"event: discovery"):
        line = stream.readline()
        if not line:
            raise SystemExit("the stream ends")
    expect(time.monotonic() - begun < 10, "and sends events as they happen")


def import_hosts():
    export = send("GET", f"/api/v1/hosts?limit=0&network_id={NETWORK}", None, {**KEY, "Accept": "application/x-ndjson"})
    expect(export.status == 200, "export", export)
    count = export.body.count(b"\n")
    lines = {**KEY, "Content-Type": "application/x-ndjson"}
    report = send("POST", "/api/v1/hosts/import", export.body, lines).data
    expect((report["imported"], report["refused"]) == (count, 0), f"import of {count} hosts")
    compressed = send("POST", "/api/v1/hosts/import", gzip.compress(export.body), {**lines, "Content-Encoding": "gzip"})
    expect(compressed.status == 415, "a compressed body is refused", compressed)


def open_pages():
    page = send("GET", "/share/" + os.environ["TOPOSCOPE_SHARE"])
    expect(page.status == 200 and b"<svg" in page.body, "the page of a share", page)
    links = re.findall(rb"""(?:href|src|action)=["'](/[^"']*)""", page.body)
    expect(not links, f"has no links that leave the prefix {links}")
    for path, server in [("/openapi.json", "."), ("/api/openapi.json", "..")]:
        document = json.loads(send("GET", path).body)
        expect(document["servers"] == [{"url": server}], f"{path} names its server relative to itself")


def main():
    with tempfile.TemporaryDirectory() as folder:
        nginx = begin(folder)
        try:
            write_with_session(log_in())
            update_with_tag()
            read_events()
            import_hosts()
            open_pages()
        finally:
            nginx.terminate()
            nginx.wait()


if __name__ == "__main__":
    sys.exit(main())

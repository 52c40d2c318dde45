"""Works with every collection as generic clients of the reference product do, with nothing but the standard library.

They read the document at start and find operations by operationId, fill in the fields that are required and not
read-only, send lists as repeated keys, `None` as an empty value and the id of the path also in the body, and expect
JSON on every success.
"""

import json
import os
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

URL = os.environ["TOPOSCOPE_URL"]


def send(method, path, body=None):
    headers = {"Authorization": f"Bearer {os.environ['TOPOSCOPE_API_KEY']}"}
    data = None
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    with urlopen(Request(URL + path, data, headers, method=method)) as response:
        assert response.headers.get_content_type() == "application/json", path
        return json.load(response)


DOCUMENT = send("GET", "/openapi.json")
OPERATIONS = {}
for path, methods in DOCUMENT["paths"].items():
    for method, operation in methods.items():
        assert operation["operationId"] not in OPERATIONS, operation["operationId"]
        OPERATIONS[operation["operationId"]] = (method.upper(), path, operation)


def resolve(schema):
    while "$ref" in schema:
        target = DOCUMENT
        for name in schema["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        schema = target
    return schema


def required(operation_id):
    content = OPERATIONS[operation_id][2]["requestBody"]["content"]["application/json"]
    schema = resolve(content["schema"])
    names = schema["required"]
    return [name for name in names if not resolve(schema["properties"][name]).get("readOnly")]


def call(operation_id, body=None, **parameters):
    method, path, operation = OPERATIONS[operation_id]
    query = {}
    for parameter in operation["parameters"]:
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace("{%s}" % name, quote(str(parameters[name])))
            if body is not None:
                body = {**body, name: parameters[name]}
        elif parameter["in"] == "query":
            value = parameters.get(name)
            query[name] = "" if value is None else value
    if query:
        path += "?" + urlencode(query, doseq=True)
    answer = send(method, path, body)
    assert answer["success"] is True and "data" in answer, operation_id
    return answer["data"]


network, tag = os.environ["TOPOSCOPE_NETWORK"], os.environ["TOPOSCOPE_TAG"]
known = {"network_id": network, "tags": [tag], "cidr": "198.51.100.0/24", "ip_address": "192.0.2.1", "number": 8443}
known |= {"protocol": "Tcp", "service_definition": "Web Server", "if_index": 1, "if_descr": "eth0"}
made = []


def exercise(singular, plural, **filters):
    body = {name: known.get(name, f"a {singular}") for name in required(f"create_{singular}")}
    record = call(f"create_{singular}", body)
    record = record.get("api_key", record)
    made.append((singular, record["id"]))
    listed = call(f"get_all_{plural}", ids=[record["id"], network], limit=10, **filters)
    assert [each["id"] for each in listed] == [record["id"]], plural
    # The record goes back as it came, with its read-only fields.
    missing = set(required(f"update_{singular}")) - record.keys()
    assert not missing, (singular, missing)
    updated = call(f"update_{singular}", record, id=record["id"])
    assert updated["id"] == record["id"] == call(f"get_{singular}_by_id", id=record["id"])["id"]
    return record["id"]


for singular, plural in [("tag", "tags"), ("subnet", "subnets"), ("share", "shares")]:
    exercise(singular, plural)
exercise("daemon_api_key", "daemon_api_keys")
known["host_id"] = exercise("host", "hosts", network_id=network, tag_ids=None)
parts = ["interface", "port", "service", "if_entry"]
for singular, plural in zip(parts, ["interfaces", "ports", "services", "if_entries"]):
    exercise(singular, plural, host_id=known["host_id"])
assert len(call("get_all_hosts", tag_ids=[tag, tag], limit=5)) == 5

for singular, id in reversed(made):
    assert call(f"delete_{singular}", id=id) == {}, singular
    try:
        call(f"get_{singular}_by_id", id=id)
        raise SystemExit(f"the {singular} is still there")
    except HTTPError as error:
        assert error.code == 404 and json.load(error)["code"] == "entity_not_found", singular
print(f"the generic client created, listed, updated and deleted {len(made)} kinds of records")

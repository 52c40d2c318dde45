"""Calls the server with the Python package that openapi-generator makes."""

import os
from uuid import UUID

from toposcope_generated import (
    ApiClient,
    AuthApi,
    BulkPutHostsInput,
    Configuration,
    Error,
    CreateHostInput,
    UpdateHostInput,
    HostItemInput,
    HostsApi,
    InterfaceItemInput,
    LoginInput,
    PortItemInput,
    Protocol,
    TopologyApi,
)
from toposcope_generated.exceptions import NotFoundException

network = UUID(os.environ["TOPOSCOPE_NETWORK"])
configuration = Configuration(host=os.environ["TOPOSCOPE_URL"], access_token=os.environ["TOPOSCOPE_API_KEY"])
client = ApiClient(configuration)
hosts = HostsApi(client)

credentials = LoginInput(email=os.environ["TOPOSCOPE_EMAIL"], password=os.environ["TOPOSCOPE_PASSWORD"])
assert AuthApi(client).login(credentials).data.email == credentials.email

page = hosts.get_all_hosts(network_id=network, limit=2)
assert page.success is True and len(page.data) == 2 and page.meta.pagination.has_more

body = CreateHostInput(
    name="made by a generated package",
    network_id=network,
    interfaces=[InterfaceItemInput(ip_address="192.0.2.1")],
    ports=[PortItemInput(number=443, protocol=Protocol.TCP)],
)
created = hosts.create_host_with_http_info(body)
host = created.data.data
assert host.name == body.name and host.ports[0].type == "Https"
assert created.headers["location"] == f"/api/v1/hosts/{host.id}"

assert hosts.get_host_by_id(host.id).data.to_dict() == host.to_dict()

updated = hosts.update_host(host.id, UpdateHostInput(name="renamed", network_id=network)).data
assert updated.name == "renamed" and updated.id == host.id and len(updated.ports) == 1

items = [HostItemInput(name=f"one of {count}", network_id=network) for count in (2, 3)]
results = hosts.bulk_put_hosts(BulkPutHostsInput(hosts=items)).data
assert [result.index for result in results] == [0, 1] and all(result.id for result in results)

graph = TopologyApi(client).get_topology_graph(network_id=network).data
assert graph.nodes

deleted = hosts.delete_host(host.id)
assert deleted.success is True and deleted.data == {}

try:
    hosts.get_host_by_id(host.id)
    raise SystemExit("the host is still there")
except NotFoundException as refused:
    assert isinstance(refused.data, Error) and refused.data.code == "entity_not_found", refused
    assert refused.data.params == {"entity": "Host", "id": str(host.id)}
print("the generated package made nine calls")

"""Lists, creates, updates and deletes a host with the client that openapi-python-client generates."""

import os
from uuid import UUID

from toposcope_client import AuthenticatedClient
from toposcope_client.api.hosts import create_host, delete_host, get_all_hosts, get_host_by_id, update_host
from toposcope_client.models import (
    CreateHostResponse200,
    DeleteHostResponse200,
    GetAllHostsResponse200,
    GetHostByIdResponse200,
    GetHostByIdResponse404,
    HostInput,
    InterfaceItemInput,
    PortItemInput,
    Protocol,
    UpdateHostResponse200,
)

client = AuthenticatedClient(os.environ["TOPOSCOPE_URL"], token=os.environ["TOPOSCOPE_API_KEY"])
network = UUID(os.environ["TOPOSCOPE_NETWORK"])


def expect(kind, answer):
    assert isinstance(answer, kind), answer
    return answer


page = expect(GetAllHostsResponse200, get_all_hosts.sync(client=client, network_id=network, limit=2))
assert len(page.data) == 2 and page.meta.pagination.has_more
ids = [host.id for host in page.data]
chosen = expect(GetAllHostsResponse200, get_all_hosts.sync(client=client, ids=ids))
assert sorted(host.id for host in chosen.data) == sorted(ids)

body = HostInput(
    name="made by a generated client",
    network_id=network,
    interfaces=[InterfaceItemInput(ip_address="192.0.2.1")],
    ports=[PortItemInput(number=443, protocol=Protocol.TCP)],
)
created = expect(CreateHostResponse200, create_host.sync(client=client, body=body)).data
assert created.name == body.name and created.ports[0].type_ == "Https"

body = HostInput(name="renamed", network_id=network, description=None)
updated = expect(UpdateHostResponse200, update_host.sync(created.id, client=client, body=body)).data
assert updated.name == "renamed" and updated.id == created.id and len(updated.ports) == 1

assert expect(GetHostByIdResponse200, get_host_by_id.sync(created.id, client=client)).data.name == "renamed"
expect(DeleteHostResponse200, delete_host.sync(created.id, client=client))
expect(GetHostByIdResponse404, get_host_by_id.sync(created.id, client=client))
print("the generated client listed, created, updated and deleted a host")

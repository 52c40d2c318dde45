"""Lists, creates, updates and deletes a host with the client that openapi-python-client generates."""

import os
from uuid import UUID

from toposcope_client import AuthenticatedClient
from toposcope_client.api.hosts import create_host, delete_host, get_all_hosts, get_host_by_id, update_host
from toposcope_client.models import (
    EmptyResponse,
    Error,
    CreateHostInput,
    UpdateHostInput,
    HostOrIdResponse,
    HostPageResponse,
    HostResponse,
    InterfaceItemInput,
    PortItemInput,
    Protocol,
)

client = AuthenticatedClient(os.environ["TOPOSCOPE_URL"], token=os.environ["TOPOSCOPE_API_KEY"])
network = UUID(os.environ["TOPOSCOPE_NETWORK"])


def expect(kind, answer):
    assert isinstance(answer, kind), answer
    return answer


page = expect(HostPageResponse, get_all_hosts.sync(client=client, network_id=network, limit=2))
assert len(page.data) == 2 and page.meta.pagination.has_more
ids = [host.id for host in page.data]
chosen = expect(HostPageResponse, get_all_hosts.sync(client=client, ids=ids))
assert sorted(host.id for host in chosen.data) == sorted(ids)

body = CreateHostInput(
    name="made by a generated client",
    network_id=network,
    interfaces=[InterfaceItemInput(ip_address="192.0.2.1")],
    ports=[PortItemInput(number=443, protocol=Protocol.TCP)],
)
created = expect(HostOrIdResponse, create_host.sync(client=client, body=body)).data
assert created.name == body.name and created.ports[0].type_ == "Https"

body = UpdateHostInput(name="renamed", network_id=network, description=None)
updated = expect(HostResponse, update_host.sync(created.id, client=client, body=body)).data
assert updated.name == "renamed" and updated.id == created.id and len(updated.ports) == 1

assert expect(HostResponse, get_host_by_id.sync(created.id, client=client)).data.name == "renamed"
expect(EmptyResponse, delete_host.sync(created.id, client=client))
error = expect(Error, get_host_by_id.sync(created.id, client=client))
assert error.code == "entity_not_found" and error.success is False
print("the generated client listed, created, updated and deleted a host")

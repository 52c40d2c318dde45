// Calls the server with the TypeScript module that openapi-generator makes for `fetch`.

import { AuthApi, Configuration, HostsApi, ModelErrorFromJSON, ResponseError, TopologyApi } from "./module";

declare const process: { env: Record<string, string> };

function expect(condition: boolean, what: string): void {
    if (!condition) throw new Error(what);
}

async function main(): Promise<void> {
    const { TOPOSCOPE_URL, TOPOSCOPE_API_KEY, TOPOSCOPE_EMAIL, TOPOSCOPE_PASSWORD, TOPOSCOPE_NETWORK } = process.env;
    const networkId = TOPOSCOPE_NETWORK;
    const configuration = new Configuration({ basePath: TOPOSCOPE_URL, accessToken: TOPOSCOPE_API_KEY });
    const hosts = new HostsApi(configuration);

    const loginInput = { email: TOPOSCOPE_EMAIL, password: TOPOSCOPE_PASSWORD };
    const user = await new AuthApi(configuration).login({ loginInput });
    expect(user.data.email === TOPOSCOPE_EMAIL, "login");

    const page = await hosts.getAllHosts({ networkId, limit: 2 });
    expect(page.success && page.data.length === 2 && page.meta.pagination.hasMore, "list");

    const interfaces = [{ ipAddress: "192.0.2.2" }];
    const ports = [{ number: 443, protocol: "Tcp" as const }];
    const hostInput = { name: "made by a generated module", networkId, interfaces, ports };
    const created = await hosts.createHostRaw({ createHostInput: hostInput });
    const host = (await created.value()).data;
    expect(host.name === hostInput.name && host.ports?.[0].type === "Https", "create");
    expect(created.raw.headers.get("Location") === `/api/v1/hosts/${host.id}`, "location");

    const found = await hosts.getHostById({ id: host.id });
    expect(found.data.id === host.id && found.data.name === host.name, "get");

    const updated = await hosts.updateHost({ id: host.id, updateHostInput: { name: "renamed", networkId } });
    expect(updated.data.name === "renamed" && updated.data.ports.length === 1, "update");

    const items = [2, 3].map((count) => ({ name: `one of ${count}`, networkId }));
    const results = await hosts.bulkPutHosts({ bulkPutHostsInput: { hosts: items } });
    expect(results.data.map((result) => result.index).join() === "0,1", "bulk");

    const graph = await new TopologyApi(configuration).getTopologyGraph({ networkId });
    expect(graph.data.nodes.length > 0, "graph");

    const deleted = await hosts.deleteHost({ id: host.id });
    expect(deleted.success && Object.keys(deleted.data).length === 0, "delete");

    const refused = await hosts.getHostById({ id: host.id }).catch((error: unknown) => error);
    expect(refused instanceof ResponseError && refused.response.status === 404, "missing");
    const error = ModelErrorFromJSON(await (refused as ResponseError).response.json());
    expect(!error.success && error.code === "entity_not_found", "error");
    console.log("the generated module made nine calls");
}

void main();

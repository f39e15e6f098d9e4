import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./signpost.gen.js";
import { Server, Waiting, until } from "./server.js";

type Problem = components["schemas"]["Problem"];
type State = components["schemas"]["Status"]["state"];

let server: Server;
let signpost: Client<paths>;

before(async () => {
  server = await Server.start();
  signpost = createClient<paths>({ baseUrl: server.url, headers: { Authorization: `Bearer ${server.token}` } });
});

after(async () => {
  assert.equal(await server.stop(), 0, "the server ends cleanly");
});

/** The data of an answer that must be no problem. */
function must<T>(answer: { data?: T; error?: Problem; response: Response }, status: number): T {
  assert.equal(answer.response.status, status, JSON.stringify(answer.error));
  return answer.data as T;
}

/** The problem of an answer, which must have this status. */
function problem(answer: { error?: Problem; response: Response }, status: number): Problem {
  assert.equal(answer.response.status, status);
  assert.ok(answer.error, "it is a problem");
  assert.equal(answer.error.status, status);
  return answer.error;
}

const hub = { clusterProvider: "edge", cluster: "hub" };
const berlin = { clusterProvider: "edge", cluster: "berlin" };
const project = { project: "shop" };
const cloud = { ...project, logicalCloud: "eu" };
const app = { ...project, compositeApp: "store", version: "v1" };
const group = { ...app, deploymentIntentGroup: "prod" };
const traffic = { ...group, trafficGroupIntent: "front" };

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { type: "LoadBalancer", loadBalancerIP: "203.0.113.10", ports: [{ port: 80 }] },
};

/** Where the group stands. */
async function state(): Promise<components["schemas"]["Status"]> {
  return must(await signpost.GET(`${groupPath}/status`, { params: { path: group } }), 200);
}

const groupPath = "/v2/projects/{project}/composite-apps/{compositeApp}/{version}/deployment-intent-groups/{deploymentIntentGroup}";

async function awaitState(wanted: State): Promise<components["schemas"]["Status"]> {
  return until(wanted, async () => {
    const now = await state();
    if (now.state !== wanted) throw new Waiting(JSON.stringify(now));
    return now;
  });
}

test("documents are written", async () => {
  const shop = must(await signpost.POST("/v2/projects", { body: { metadata: { name: "shop" } } }), 201);
  assert.equal(shop.metadata.revision, 1);
  must(await signpost.POST("/v2/cluster-providers", { body: { metadata: { name: "edge" } } }), 201);
  for (const { clusterProvider, cluster } of [hub, berlin]) {
    must(await signpost.POST("/v2/cluster-providers/{clusterProvider}/clusters", {
      params: { path: { clusterProvider } },
      body: { metadata: { name: cluster }, spec: { directory: cluster } },
    }), 201);
  }
  must(await signpost.POST("/v2/projects/{project}/dns-update-records", {
    params: { path: project },
    body: {
      metadata: { name: "lab" },
      spec: {
        provider: "coredns",
        "external-dns-parameters": { policy: "sync", "domain-filter": ["lab.example"], interval: "5s" },
        environment: { ETCD_URLS: "http://etcd.dns.svc:2379" },
        credentials: [{ environment: "ETCD_PASSWORD", secretRef: { name: "etcd", key: "password" } }],
        deployOn: hub,
        releaseTimeout: "1s",
      },
    },
  }), 201);
  must(await signpost.POST("/v2/projects/{project}/logical-clouds", {
    params: { path: project }, body: { metadata: { name: "eu" }, spec: { namespace: "shop" } },
  }), 201);
  must(await signpost.POST("/v2/projects/{project}/logical-clouds/{logicalCloud}/cluster-references", {
    params: { path: cloud }, body: { metadata: { name: "berlin" }, spec: berlin },
  }), 201);
  must(await signpost.POST("/v2/projects/{project}/logical-clouds/{logicalCloud}/kv-pairs", {
    params: { path: cloud }, body: { metadata: { name: "dns-update-record-list" }, spec: { kv: [{ key1: "lab" }] } },
  }), 201);
  must(await signpost.POST("/v2/projects/{project}/composite-apps", {
    params: { path: project }, body: { metadata: { name: "store" }, spec: { compositeAppVersion: "v1" } },
  }), 201);
  must(await signpost.POST("/v2/projects/{project}/composite-apps/{compositeApp}/{version}/deployment-intent-groups", {
    params: { path: app },
    body: { metadata: { name: "prod" }, spec: { logicalCloud: "eu", apps: [{ name: "web", manifests: [service] }] } },
  }), 201);
  must(await signpost.POST(`${groupPath}/traffic-group-intents`, {
    params: { path: group }, body: { metadata: { name: "front" } },
  }), 201);
  must(await signpost.POST(`${groupPath}/traffic-group-intents/{trafficGroupIntent}/dns-intents`, {
    params: { path: traffic },
    body: { metadata: { name: "www" }, spec: { app: "web", serviceName: "web", hostnames: ["www.lab.example"], ttl: 30 } },
  }), 201);
  const pods = must(await signpost.POST(`${groupPath}/traffic-group-intents/{trafficGroupIntent}/pod-dns-intents`, {
    params: { path: traffic },
    body: { metadata: { name: "web" }, spec: { app: "web", dnsPolicy: "Default", dnsConfig: { options: [{ name: "ndots", value: 2 }, { name: "edns0" }] } } },
  }), 201);
  assert.deepEqual(pods.spec.dnsConfig?.options, [{ name: "ndots", value: "2" }, { name: "edns0" }]);
});

test("a problem is typed, and names the field", async () => {
  const refused = await signpost.POST("/v2/projects/{project}/dns-update-records", {
    params: { path: project },
    body: { metadata: { name: "corp" }, spec: { provider: "coredns", "external-dns-parameters": { polcy: "sync" } } },
  });
  assert.deepEqual(problem(refused, 400).errors?.map((e) => e.pointer), ["/spec/external-dns-parameters/polcy"]);
  problem(await signpost.GET("/v2/projects/{project}", { params: { path: { project: "bakery" } } }), 404);
  problem(await createClient<paths>({ baseUrl: server.url }).GET("/v2/projects"), 401);
});

test("a GET is sent back as a PUT", async () => {
  const one = "/v2/projects/{project}/dns-update-records/{record}";
  const path = { ...project, record: "spare" };
  const credentials = [{ environment: "ETCD_PASSWORD", value: "swordfish" }];
  must(await signpost.PUT(one, { params: { path }, body: { metadata: { name: "spare" }, spec: { provider: "coredns", credentials } } }), 201);
  const read = await signpost.GET(one, { params: { path } });
  const got = must(read, 200);
  assert.equal(JSON.stringify(got).includes("swordfish"), false, "a credential is write-only");
  const header = { "If-Match": read.response.headers.get("ETag") ?? "" };
  const put = must(await signpost.PUT(one, { params: { path, header }, body: got }), 200);
  assert.equal(put.metadata.revision, got.metadata.revision, "nothing changed");
  problem(await signpost.PUT(one, { params: { path, header: { "If-Match": '"7"' } }, body: got }), 412);
  must(await signpost.DELETE(one, { params: { path, header } }), 204);
});

test("what was planned is instantiated, and observed", async () => {
  const plan = must(await signpost.POST(`${groupPath}/plan`, { params: { path: group, query: { for: "instantiate" } } }), 200);
  assert.deepEqual(plan.errors, []);
  assert.deepEqual(plan.names.map((n) => [n.name, n.type, n.action]), [["www.lab.example", "A", "create"]]);
  problem(await signpost.POST(`${groupPath}/instantiate`, { params: { path: group, query: { confirm: "0" } } }), 412);
  const accepted = must(await signpost.POST(`${groupPath}/instantiate`, { params: { path: group, query: { confirm: plan.token } } }), 202);
  const status = await awaitState("Instantiated");
  assert.equal(status.contextID, accepted.contextID);
  assert.deepEqual(status.names.map((n) => [n.name, n.targets]), [["www.lab.example", ["203.0.113.10"]]]);
  const events = must(await signpost.GET(`${groupPath}/events`, { params: { path: group } }), 200);
  assert.deepEqual([events.items[0]?.actor, events.items[0]?.action], ["typescript", "instantiate"]);
  const users = must(await signpost.GET("/v2/projects/{project}/dns-update-records/{record}/users", { params: { path: { ...project, record: "lab" } } }), 200);
  assert.deepEqual(users.items.map((u) => u.clusters), [["edge+hub"]]);
});

test("a list has pages", async () => {
  const names: string[] = [];
  let next: string | undefined;
  do {
    const query = next === undefined ? { limit: 1 } : { limit: 1, continue: next };
    const page = must(await signpost.GET("/v2/cluster-providers/{clusterProvider}/clusters", { params: { path: { clusterProvider: "edge" }, query } }), 200);
    names.push(...page.items.map((c) => c.metadata.name));
    next = page.continue;
  } while (next !== undefined);
  assert.deepEqual(names, ["berlin", "hub"]);
});

test("the example of docs/clients.md is this one, and works", async () => {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const page = await readFile(here("../../../docs/clients.md"), "utf8");
  const shown = /```ts\n(.*?)```/s.exec(page)?.[1];
  assert.equal(shown, await readFile(here("../src/example.ts"), "utf8"));
  const run = spawnSync(process.execPath, [here("example.js")], {
    env: { ...process.env, SIGNPOST_SERVER: server.url, SIGNPOST_TOKEN: server.token }, encoding: "utf8",
  });
  assert.deepEqual([run.status, run.stdout], [0, "lab coredns\n"], run.stderr);
});

test("what was terminated is deleted, children first", async () => {
  const used = problem(await signpost.DELETE("/v2/projects/{project}/dns-update-records/{record}", { params: { path: { ...project, record: "lab" } } }), 409);
  assert.match(used.detail, /lab cannot be deleted/);
  must(await signpost.POST(`${groupPath}/terminate`, { params: { path: group } }), 202);
  await awaitState("Terminated");
  must(await signpost.DELETE(`${groupPath}/traffic-group-intents/{trafficGroupIntent}/dns-intents/{dnsIntent}`, { params: { path: { ...traffic, dnsIntent: "www" } } }), 204);
  must(await signpost.DELETE(`${groupPath}/traffic-group-intents/{trafficGroupIntent}/pod-dns-intents/{podDNSIntent}`, { params: { path: { ...traffic, podDNSIntent: "web" } } }), 204);
  must(await signpost.DELETE(`${groupPath}/traffic-group-intents/{trafficGroupIntent}`, { params: { path: traffic } }), 204);
  must(await signpost.DELETE(groupPath, { params: { path: group } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}/composite-apps/{compositeApp}/{version}", { params: { path: app } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}/logical-clouds/{logicalCloud}/kv-pairs/{kvPairs}", { params: { path: { ...cloud, kvPairs: "dns-update-record-list" } } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}/logical-clouds/{logicalCloud}/cluster-references/{clusterReference}", { params: { path: { ...cloud, clusterReference: "berlin" } } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}/logical-clouds/{logicalCloud}", { params: { path: cloud } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}/dns-update-records/{record}", { params: { path: { ...project, record: "lab" } } }), 204);
  must(await signpost.DELETE("/v2/projects/{project}", { params: { path: project } }), 204);
  for (const path of [hub, berlin]) {
    must(await signpost.DELETE("/v2/cluster-providers/{clusterProvider}/clusters/{cluster}", { params: { path } }), 204);
  }
  must(await signpost.DELETE("/v2/cluster-providers/{clusterProvider}", { params: { path: { clusterProvider: "edge" } } }), 204);
  assert.deepEqual(must(await signpost.GET("/v2/projects"), 200).items, []);
});

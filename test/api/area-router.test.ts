// The router by areas finds what hono's own walk along the path finds: the same handlers, in the same order, with the same
// parameters, also where a fixed word stands beside a parameter.
import { TrieRouter } from "hono/router/trie-router";
import type { Result } from "hono/router";
import { describe, expect, test } from "vitest";
import { AreaRouter } from "../../workers/area-router.ts";
import description from "../../docs/openapi.json" with { type: "json" };

const documented = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{([a-z_]+)\}/g, ":$1")] as const),
);
const routes: readonly (readonly [string, string])[] = [
  ["ALL", "*"],
  ["ALL", "/*"],
  ["ALL", "/v1/webhooks/*"],
  ["ALL", "/v1/certs/:cert_id/opt-out/*"],
  ["GET", "/c/:cert_id"],
  ["GET", "/c/:cert_id/withdraw"],
  ["GET", "/audit/:shard/*"],
  ["GET", "/:name"],
  ...documented,
];

const found = (result: Result<string>): readonly (readonly [string, object])[] =>
  result.length === 1
    ? result[0].map(([handler, params]) => [handler, { ...params }])
    : result[0].map(([handler, places]) => [
        handler,
        Object.fromEntries(Object.entries(places).map(([name, place]) => [name, result[1][place]])),
      ]);

const both = () => {
  const [byArea, walk] = [new AreaRouter<string>(), new TrieRouter<string>()];
  for (const [method, path] of routes) for (const router of [byArea, walk]) router.add(method, path, `${method} ${path}`);
  return { byArea, walk };
};

const asked = [
  ...new Set(routes.flatMap(([, path]) => [path, `${path}/more`, path.slice(0, path.lastIndexOf("/"))])),
  "/v1/webhooks/deliveries/replay",
  "/v1/webhooks/deliveries/one/two",
  "/v1",
  "/v1/",
  "/v1/unknown/thing",
  "/nothing",
  "//",
  "",
].map((path) => path.replaceAll(/:([a-z_]+)/g, "a-$1").replaceAll("*", "rest/of/it"));

describe("the router by areas", () => {
  const { byArea, walk } = both();
  test.each(["GET", "POST", "PATCH", "DELETE", "OPTIONS"])("finds for %s what the walk finds", (method) => {
    for (const path of asked) expect([path, found(byArea.match(method, path))]).toEqual([path, found(walk.match(method, path))]);
  });
  test("takes a fixed word beside a parameter", () => {
    const [last] = found(byArea.match("POST", "/v1/webhooks/deliveries/one/replay")).slice(-1);
    expect(last).toEqual(["POST /v1/webhooks/deliveries/:delivery_id/replay", { delivery_id: "one" }]);
  });
  test("knows a route that is added after it was asked", () => {
    const router = new AreaRouter<string>();
    router.add("GET", "/v1/certs", "list");
    expect(found(router.match("GET", "/v1/certs/one"))).toEqual([]);
    router.add("GET", "/v1/certs/:cert_id", "detail");
    expect(found(router.match("GET", "/v1/certs/one"))).toEqual([["detail", { cert_id: "one" }]]);
  });
});

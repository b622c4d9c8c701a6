// Tests that every route, tool and job that stores something is in a table of docs/internals/write-paths.md, and that each route returns
// 429 to calls above its first limit. hostile-database.test.ts checks which GET routes store something.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import writePathsPage from "../../docs/internals/write-paths.md?raw";
import { buildApp } from "../../workers/app.ts";
import { jobNames } from "../../workers/background/schedule.ts";
import { tools } from "../../workers/mcp/tool-registry.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { callWith } from "../support/scenarios.ts";
import { signIn } from "../support/people.ts";
import { world } from "../support/world.ts";
import { parseWritePaths, type WritePath } from "../support/write-paths.ts";

/** Routes that are used only by the operator, by this deployment's own ledger clients, or in development. */
const internalRoutes = /^(?:POST|DELETE) \/(?:v1\/admin\/|dev\/|ledger\/)/;
/**
 * Routes that this file does not test. The agent server has its own tests. The invitation pages are for people who belong to no business,
 * and use handlers that this file tests on other routes.
 */
const isCheckedElsewhere = /^(?:ALL \/mcp|POST \/portal\/invitations\/.*)$/;
const { writePaths, toolWrites, jobs } = parseWritePaths(writePathsPage);
const listed = writePaths.flatMap(({ routes }) => routes).filter((route) => !route.startsWith("GET "));

const refuseOnly = (refusedName: string) => {
  const allowed = { isAllowed: true, remaining: 1, resetMs: 1_000 };
  const refused = { isAllowed: false, remaining: 0, resetMs: 7_000 };
  const takeLimit = async (name: string) => (name === refusedName ? refused : allowed);
  return { takeApproximately: takeLimit, takeExactly: takeLimit };
};

test("every route that can write is in the table of write paths, and the table has no others", async () => {
  const { routes } = buildApp(await getPlatform(env));
  const written = routes.flatMap(({ method, path }) => {
    const route = `${method} ${path.replace(/^\/portal\/test\/(?!sandbox\/)/, "/portal/")}`;
    return ["GET", "HEAD", "ALL"].includes(method) && path !== "/mcp" ? [] : [route];
  });
  const expected = [...new Set(written)].filter((route) => !internalRoutes.test(route));
  expect(
    expected.filter((route) => !listed.includes(route)),
    "routes missing in docs/internals/write-paths.md",
  ).toEqual([]);
  expect(listed.filter((route) => !expected.includes(route))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

test("every tool of the agent server and every scheduled job is in its table once, and the tables have no others", () => {
  expect(toolWrites.flatMap((write) => write.tools).toSorted(), "tools in docs/internals/write-paths.md").toEqual(
    tools.map(({ name }) => name).toSorted(),
  );
  expect(jobs.toSorted(), "jobs in docs/internals/write-paths.md").toEqual(jobNames.toSorted());
});

describe("the first limit of a write path", () => {
  let owner: Record<string, string> = {};
  let consumer: Record<string, string> = {};
  beforeAll(async () => {
    owner = await signIn(world.ownerEmail);
    consumer = await signIn(world.consumerEmail, "consumer");
  });

  const buildCredentials = (path: string, [limit]: WritePath["limits"]): Record<string, string> => {
    if (limit === "API_KEY")
      return { authorization: `Bearer ${path.startsWith("/v1/sandbox/") ? world.acme.keys.sandbox : world.acme.keys.live}` };
    if (limit !== "SESSION") return {};
    return /^\/(?:v1\/me|v1\/share\/|app)/.test(path) ? consumer : owner;
  };
  const gated = writePaths.flatMap(({ limits, routes }) =>
    routes.filter((route) => !isCheckedElsewhere.test(route)).map((route) => [route, limits] as const),
  );

  test.each(gated)("refuses %s with 429, Retry-After and a constant message", async (route, limits) => {
    const [method = "", template = ""] = route.split(" ");
    const path = template.replaceAll(/:\w+/g, "00000000000000000000000000");
    const isPage = !template.startsWith("/v1/") && !template.startsWith("/oauth/token") && !/^\/oauth\/re/.test(template);
    for (const limit of limits[0] === "SESSION" ? limits.slice(0, 2) : limits.slice(0, 1)) {
      const response = await callWith(refuseOnly(limit), path, {
        method,
        headers: {
          "content-type": isPage || template.startsWith("/oauth/") ? "application/x-www-form-urlencoded" : "application/json",
          "sec-fetch-site": "same-origin",
          ...buildCredentials(path, limits),
        },
        ...(method !== "GET" && { body: isPage ? "a=b" : "{}" }),
      });
      expect([limit, response.status]).toEqual([limit, 429]);
      expect(response.headers.get("retry-after")).toBe("7");
      if (!isPage && template.startsWith("/v1/"))
        expect(response.body.error.message).toBe("Too many requests. Retry after the time given in Retry-After.");
    }
  });
});

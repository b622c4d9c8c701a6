// Tests portal permissions per route: every route in the OpenAPI document that needs a member's session has an entry here with the outcome
// for each role. A refused request changes no row, and no request changes another business's rows.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  signInCast,
  callWithoutLimits,
  mockOutsideWorld,
  createAcmeRecords,
  roles,
  listRecordRows,
  type PortalCast,
  type Records,
  type Role,
} from "../../support/portal-cast.ts";
import { waitUntilSettled } from "../../support/background-work.ts";
import { readDatabaseContents, getWithKey, world, type TestResponse } from "../../support/world.ts";

/**
 * The expected outcomes of one route. Where possible, the request is invalid, so that it changes nothing even for a role that may use the
 * route.
 */
interface RouteAccess {
  readonly owner: string;
  readonly member: string;
  /** The outcome for the owner of another business who requests this business's records. */
  readonly stranger: string;
  readonly sent?: unknown;
  readonly query?: string;
}

const ownersOnly = "403 owner_required";
/** A route that every member of the business may use. A stranger gets the records of their own business. */
const open = (expected: string, sent?: unknown): RouteAccess => ({ owner: expected, member: expected, stranger: expected, sent });
/** Like `open`, but for a single record. A stranger gets "not found". */
const openRecord = (expected: string, none = "404 not_found", sent?: unknown): RouteAccess => ({
  owner: expected,
  member: expected,
  stranger: none,
  sent,
});
const buildOwnerAccess = (expected: string, sent?: unknown): RouteAccess => ({
  owner: expected,
  member: ownersOnly,
  stranger: expected,
  sent,
});
const buildOwnerRecordAccess = (expected: string, none = "404 not_found", sent?: unknown): RouteAccess => ({
  owner: expected,
  member: ownersOnly,
  stranger: none,
  sent,
});

const portal = "/v1/business/portal";
const badInput = "400 invalid_request";

const access: Readonly<Record<string, RouteAccess>> = {
  [`GET ${portal}`]: open("200 ok"),
  [`PATCH ${portal}`]: buildOwnerAccess(badInput, { country: "?" }),
  [`GET ${portal}/domains`]: open("200 ok"),
  [`POST ${portal}/domains`]: buildOwnerAccess(badInput, { domain: "" }),
  [`POST ${portal}/domains/{domain_id}/verify`]: buildOwnerRecordAccess(badInput, badInput, { method: "none" }),
  [`DELETE ${portal}/domains/{domain_id}`]: buildOwnerRecordAccess("200 ok"),
  [`GET ${portal}/keys`]: open("200 ok"),
  [`POST ${portal}/keys`]: buildOwnerAccess(badInput, {}),
  [`DELETE ${portal}/keys/{key_id}`]: buildOwnerRecordAccess("200 ok"),
  [`GET ${portal}/recipients`]: buildOwnerAccess("200 ok"),
  [`POST ${portal}/recipients`]: buildOwnerAccess(badInput, {}),
  [`DELETE ${portal}/recipients`]: buildOwnerAccess(badInput, {}),
  [`GET ${portal}/clients`]: open("200 ok"),
  [`POST ${portal}/clients`]: buildOwnerAccess(badInput, {}),
  [`PATCH ${portal}/clients/{client_id}`]: buildOwnerAccess(badInput, { return_urls: [1] }),
  [`GET ${portal}/members`]: open("200 ok"),
  [`POST ${portal}/members`]: buildOwnerAccess(badInput, {}),
  [`PATCH ${portal}/members/{member_id}`]: buildOwnerRecordAccess("200 ok", "404 not_found", { role: "member" }),
  [`DELETE ${portal}/members/{member_id}`]: buildOwnerRecordAccess("200 ok"),
  // This test runs last, because it removes the member from the business. A business's only owner cannot leave.
  [`DELETE ${portal}/members/me`]: { owner: "409 last_owner", member: "200 ok", stranger: "409 last_owner" },
  [`GET ${portal}/certs`]: open("200 ok"),
  [`GET ${portal}/certs/{cert_id}`]: openRecord("200 ok", "404 cert_not_found"),
  [`POST ${portal}/certs/{cert_id}/reveal`]: openRecord("200 ok", "404 cert_not_found"),
  [`GET ${portal}/certs/{cert_id}/views`]: openRecord("200 ok", "404 cert_not_found"),
  "POST /v1/certs/{cert_id}/erase-subject": buildOwnerRecordAccess(badInput, badInput, { reason: 1 }),
  [`GET ${portal}/requests/{request_id}`]: openRecord("200 ok"),
  [`GET ${portal}/audit`]: open("200 ok"),
  [`POST ${portal}/integrate`]: open(badInput, {}),
  [`POST ${portal}/agent-token`]: open(badInput, { name: 1 }),
  [`GET ${portal}/agent-tokens`]: open("200 ok"),
  [`DELETE ${portal}/agent-tokens/{token_id}`]: buildOwnerRecordAccess("200 ok"), // members can revoke only their own tokens, and this one belongs to the owner
  "GET /v1/webhooks": open("200 ok"),
  "POST /v1/webhooks": buildOwnerAccess(badInput, {}),
  "PATCH /v1/webhooks/{webhook_id}": buildOwnerRecordAccess("200 ok", "404 not_found", { description: "Ours" }),
  "DELETE /v1/webhooks/{webhook_id}": buildOwnerRecordAccess("200 ok"),
  "GET /v1/webhooks/{webhook_id}/secret": buildOwnerRecordAccess("200 ok"),
  "POST /v1/webhooks/{webhook_id}/rotate-secret": buildOwnerRecordAccess("200 ok"),
  "POST /v1/webhooks/{webhook_id}/test": openRecord("200 ok"),
  "GET /v1/webhooks/{webhook_id}/deliveries": openRecord("200 ok"),
  "POST /v1/webhooks/deliveries/{delivery_id}/replay": openRecord("200 ok"),
  "GET /v1/webhooks/deliveries/{delivery_id}/attempts": openRecord("200 ok"),
  "POST /v1/webhooks/deliveries/{delivery_id}/reveal": openRecord("200 ok"),
  "POST /v1/webhooks/{webhook_id}/recover": openRecord("200 ok", "404 not_found", { since: new Date(0).toISOString() }),
  "GET /v1/billing/checkout": { ...buildOwnerAccess("303 ok"), query: "?plan=business" },
};

/** Consumer routes. They refuse every member of a business. */
const consumerRoutes = /^(?:GET|POST|PUT|DELETE) \/v1\/(?:me(?!\/(?:sessions|passkeys))(?:\/|$)|share\/consent$)/;
/** Routes that every signed-in person can use, for themselves only. */
const personalRoutes = /^(?:GET \/v1\/auth\/session|(?:GET|POST|DELETE) \/v1\/me\/(?:sessions|passkeys)(?:\/|$).*)$/;

/** Returns the sort key of a route's test. Tests that delete records run last, because other tests use these records. */
const orderOf = (name: string): number => (name === `DELETE ${portal}/members/me` ? 2 : /^DELETE .*\{/.test(name) ? 1 : 0);
const inOrder = Object.entries(access).sort(([a], [b]) => orderOf(a) - orderOf(b));

let cast: PortalCast;
let records: Records;
let described: readonly string[] = [];

beforeAll(async () => {
  mockOutsideWorld();
  cast = await signInCast();
  records = await createAcmeRecords(cast);
  const { paths } = (await getWithKey("/v1/openapi.json")).body as {
    paths: Record<string, Record<string, { security?: readonly Record<string, unknown>[] }>>;
  };
  described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security = [] }]) =>
      security.length > 0 && security.every((scheme) => "session" in scheme) ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  );
});
beforeEach(() => {
  mockOutsideWorld();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const send = (role: Role, name: string, sent?: unknown, query = ""): Promise<TestResponse> => {
  const [method = "", path = ""] = name.split(" ");
  const address = path.replaceAll(
    /\{([a-z_]+)\}/g,
    (_, parameter: string) => (parameter === "client_id" ? world.acme.clients.live : records[parameter]) ?? `no record for ${parameter}`,
  );
  return callWithoutLimits(`${address}${query}`, {
    method,
    headers: { ...(role !== "nobody" && cast[role]), ...(sent !== undefined && { "content-type": "application/json" }) },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
  });
};

test("every route that needs a member's session has an entry, and every entry has a route", () => {
  const portalRoutes = described.filter((name) => !consumerRoutes.test(name) && !personalRoutes.test(name));
  expect(portalRoutes.toSorted()).toEqual(Object.keys(access).toSorted());
  expect(described.filter((name) => consumerRoutes.test(name)).length).toBeGreaterThan(10);
});

describe("portal routes return the expected outcome to signed-out callers, consumers, another business's owner, members and owners", () => {
  test.each(inOrder)("%s", async (name, { sent, query, ...byRole }) => {
    const expected: Readonly<Record<Role, string>> = { nobody: "401 unauthorized", consumer: "403 forbidden", ...byRole };
    for (const role of roles) {
      const isRefused = Number.parseInt(expected[role], 10) >= 400;
      // The database is read only if its contents are compared, because reading it takes longer than most requests.
      const before = isRefused || role === "stranger" ? await readDatabaseContents() : {};
      const response = await send(role, name, sent, query);
      await waitUntilSettled();
      expect([role, describeOutcome(response)]).toEqual([role, expected[role]]);
      const after = isRefused || role === "stranger" ? await readDatabaseContents() : {};
      if (isRefused) expect(after, role).toEqual(before);
      if (role === "stranger") {
        expect(listRecordRows(after, records)).toEqual(listRecordRows(before, records));
        for (const mark of [
          world.acme.id,
          world.ownerEmail,
          world.acme.clients.live,
          ...Object.values(records).filter((id) => id.includes("_")),
        ])
          expect(response.text).not.toContain(mark);
      }
    }
  });
});

describe("consumer routes", () => {
  test("return 403 forbidden to every member of a business and 401 unauthorized without a session", async () => {
    const unknown = { ...records, share_id: `shr_${"0".repeat(26)}`, business_id: world.acme.id, removal_id: `rmv_${"0".repeat(26)}` };
    const before = await readDatabaseContents();
    for (const name of described.filter((route) => consumerRoutes.test(route)))
      for (const role of ["nobody", "stranger", "owner"] as const) {
        const [method = "", path = ""] = name.split(" ");
        const address = path.replaceAll(/\{([a-z_]+)\}/g, (_, parameter: string) => (unknown as Records)[parameter] as string);
        const response = await callWithoutLimits(address, {
          method,
          headers: { ...(role !== "nobody" && cast[role]), "content-type": "application/json" },
          ...(method !== "GET" && { body: "{}" }),
        });
        expect([name, role, describeOutcome(response)]).toEqual([name, role, role === "nobody" ? "401 unauthorized" : "403 forbidden"]);
      }
    expect(await readDatabaseContents()).toEqual(before);
  });
});

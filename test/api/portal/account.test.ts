// Tests reading and changing a business's account, what each billing status allows, and what every portal route requires.
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { getExampleOwnerEmail } from "../../../scripts/demo-world.ts";
import { clearCodes, signIn } from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, type Person } from "../../support/portal.ts";
import { fillPath, unknownRecords } from "../../support/unknown-records.ts";
import { call, readDatabaseContents, createServiceCall, world, type Call, type TestResponse } from "../../support/world.ts";

let round = 0;
let owner: Person & { id: string; userId: string };
beforeEach(async () => {
  round += 1;
  owner = await signUpBusiness(`owner-${round}@account.example`);
});
const change = (body: object, person: Person = owner) => callPortal(person, "PATCH", "", body);

describe("GET and PATCH /v1/business/portal", () => {
  test("returns the account with the signed-in member", async () => {
    const response = await callPortal(owner, "GET", "");
    expect(response.body.data).toEqual({
      business: {
        id: owner.id,
        name: "Fresh Roofs LLC",
        status: "active",
        plan: "free",
        legal_name: null,
        mailing_address: null,
        contact_email: null,
        contact_phone: null,
        logo_url: null,
        country: "US",
        retention_years: 5,
        revocation_scope_default: "business",
        emit_certificate_issued: false,
        created_at: expect.any(String),
      },
      user: { id: owner.userId, email: `owner-${round}@account.example`, realm: "business", role: "owner", business_id: owner.id },
    });
  });

  test.each([
    ["(202) 555-0123", "US"],
    ["(202) 555-0123 ext. 5", "US"],
    ["1-800-FLOWERS", "US"],
    ["（２０２）５５５－０１２３", "US"],
    ["020 7946 0018", "GB"],
    ["+41 79 123 45 67", "US"],
  ])("accepts the phone number %s of a business in %s as typed", async (contact_phone, country) => {
    expect((await change({ contact_phone, country })).body.data.business).toMatchObject({ contact_phone });
  });

  test("sets given fields, keeps missing ones, and clears those that are null", async () => {
    const details = {
      name: " Fresh Roofs Ltd ",
      legal_name: "Fresh Roofs Limited",
      mailing_address: "1 High Street\nTesttown",
      contact_email: "privacy@fresh-roofs.example",
      contact_phone: "+44 20 7946 0000",
      logo_url: "https://fresh-roofs.example/logo.png",
      country: "gb",
      retention_years: 7,
      revocation_scope_default: "certificate",
      emit_certificate_issued: true,
    };
    expect((await change(details)).body.data.business).toMatchObject({ ...details, name: "Fresh Roofs Ltd", country: "GB" });
    expect((await change({ contact_phone: null, logo_url: "" })).body.data.business).toMatchObject({
      ...details,
      name: "Fresh Roofs Ltd",
      country: "GB",
      contact_phone: null,
      logo_url: null,
    });
    expect((await callPortal(owner, "GET", "")).body.data.business.retention_years).toBe(7);
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "business.profile_changed")).toHaveLength(2);
  });

  test("names the field's own range for a number that is too large to be exact", async () => {
    const { message } = (await change({ retention_years: -1e21 })).body.error;
    expect(message).toBe("retention_years: must be at least 1.");
    expect((await change({ retention_years: 1e21 })).body.error.message).toBe("retention_years: must be at most 10.");
  });

  test("records one change when two requests set the same values at the same time", async () => {
    const countChanges = async (): Promise<number> =>
      (await listAuditEntryTypes(owner.id)).filter((type) => type === "business.profile_changed").length;
    const before = await countChanges();
    const details = { contact_email: "twice@fresh-roofs.example", contact_phone: null, retention_years: 3, emit_certificate_issued: false };
    const responses = await Promise.all(Array.from({ length: 5 }, () => change(details)));
    expect(responses.map(describeOutcome)).toEqual(Array(5).fill("200 ok"));
    expect((await callPortal(owner, "GET", "")).body.data.business).toMatchObject(details);
    expect((await countChanges()) - before).toBe(1);
  });

  test("changes nothing and records nothing when the values are the same", async () => {
    await change({ contact_email: "privacy@fresh-roofs.example" });
    const before = await readDatabaseContents();
    expect(describeOutcome(await change({ contact_email: "privacy@fresh-roofs.example", country: "us" }))).toBe("200 ok");
    expect(describeOutcome(await change({}))).toBe("200 ok");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test.each<readonly [string, object]>([
    ["a blank name", { name: " " }],
    ["an empty name", { name: "" }],
    ["a long legal name", { legal_name: "x".repeat(201) }],
    ["an address with a bidirectional override", { mailing_address: "a\u202eb" }],
    ["an invalid contact email", { contact_email: "privacy" }],
    ["an invalid phone number", { contact_phone: "call us" }],
    ["an address as a phone number", { contact_phone: "12 Main Street" }],
    ["a logo over http", { logo_url: "http://fresh-roofs.example/logo.png" }],
    ["a javascript: logo", { logo_url: "javascript:alert(1)" }],
    ["a logo URL with credentials", { logo_url: "https://a:b@fresh-roofs.example/logo.png" }],
    ["a logo on localhost", { logo_url: "https://localhost/logo.png" }],
    ["an unknown country", { country: "XX" }],
    ["zero years", { retention_years: 0 }],
    ["eleven years", { retention_years: 11 }],
    ["one and a half years", { retention_years: 1.5 }],
    ["a flag that is a string", { emit_certificate_issued: "yes" }],
  ])("returns 400 invalid_request for %s and changes nothing", async (_name, body) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await change({ legal_name: "Other", ...body }))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("ignores status, plan and another business's id in the body", async () => {
    await change({ status: "suspended", plan: "enterprise", id: world.other.id, business_id: world.other.id, legal_name: "Mine" });
    expect((await callPortal(owner, "GET", "")).body.data.business).toMatchObject({
      id: owner.id,
      status: "active",
      plan: "free",
      legal_name: "Mine",
    });
    expect(await env.DB.prepare("SELECT legal_name FROM businesses WHERE id = ?").bind(world.other.id).first("legal_name")).not.toBe(
      "Mine",
    );
  });
});

/** A portal route: its name in the OpenAPI document and its URL with the IDs of unknown records. */
interface PortalRoute {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly hasBody: boolean;
  readonly changes: boolean;
  readonly needsOwner: boolean;
  /** The outcome for an allowed caller, if the route takes no body. The IDs in its URL belong to no record. */
  readonly found: string;
}

/** These routes only read, but record each read. */
const recordedReads: readonly string[] = [
  "POST /v1/business/portal/certs/{cert_id}/reveal",
  "POST /v1/webhooks/deliveries/{delivery_id}/reveal",
];
const ownerReads: readonly string[] = ["GET /v1/business/portal/recipients", "GET /v1/webhooks/{webhook_id}/secret"];
const memberChanges: readonly string[] = [
  "DELETE /v1/business/portal/agent-tokens/{token_id}", // a member's own tokens
  "DELETE /v1/business/portal/members/me",
  "POST /v1/business/portal/agent-token",
  "POST /v1/business/portal/integrate",
  "POST /v1/webhooks/deliveries/{delivery_id}/replay",
  "POST /v1/webhooks/{webhook_id}/recover",
  "POST /v1/webhooks/{webhook_id}/test",
];

/**
 * All routes of the portal, from the OpenAPI document. The tests expect a new route to be for owners if it changes something, and for all
 * members otherwise. `roles.test.ts` requires an entry for each route with the roles that can use it.
 */
let routes: readonly PortalRoute[] = [];
beforeAll(async () => {
  const { paths } = (await call("/v1/openapi.json")).body as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: object }>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      path,
      method: method.toUpperCase(),
      hasBody: requestBody !== undefined,
    })),
  );
  routes = operations
    .filter(({ path }) => /^\/v1\/(?:business\/portal|webhooks)(?:\/|$)/.test(path) && path !== "/v1/webhooks/stripe")
    .map((operation) => {
      const { path, method } = operation;
      const name = `${method} ${path}`;
      const changes = method !== "GET" && !recordedReads.includes(name);
      const needsOwner = changes ? !memberChanges.includes(name) : ownerReads.includes(name);
      const notFound = path.includes("{cert_id}") ? "404 cert_not_found" : "404 not_found";
      return {
        ...operation,
        name,
        url: fillPath(path, unknownRecords),
        changes,
        needsOwner,
        found: path.includes("{") ? notFound : "200 ok",
      };
    });
  expect(routes.map(({ name }) => name)).toEqual(expect.arrayContaining([...recordedReads, ...ownerReads, ...memberChanges]));
});

const callRoute = (
  { url, method, hasBody }: PortalRoute,
  person: Person | null,
  headers: Readonly<Record<string, string>> = {},
  service: Call = call,
): Promise<TestResponse> =>
  service(url, {
    method,
    headers: { ...(person !== null && { cookie: person.cookie }), ...(hasBody && { "content-type": "application/json" }), ...headers },
    ...(hasBody && { body: "{}" }),
  });

describe("the billing status", () => {
  test.each([
    ["past_due", null, "402 subscription_past_due"],
    ["suspended", "402 business_suspended", "402 business_suspended"],
    ["closed", "402 business_inactive", "402 business_inactive"],
  ])("%s: reads are refused with %s and changes with %s", async (name, refusedRead, refusedChange) => {
    await clearCodes();
    const person = await signIn(getExampleOwnerEmail(name));
    const before = await readDatabaseContents();
    for (const route of routes)
      expect(describeOutcome(await callRoute(route, person)), route.name).toBe(
        route.changes ? refusedChange : (refusedRead ?? route.found),
      );
    expect(await readDatabaseContents()).toEqual(before);
  });
});

// every-route.test.ts checks that all routes require a session.
describe("a portal route", () => {
  test("requires a session of the business realm, the app's own origin, JSON, and an owner for changes", async () => {
    await clearCodes();
    const consumer = await signIn(world.consumerEmail, "consumer");
    const member = await signIn(world.memberEmail);
    const before = await readDatabaseContents();
    for (const route of routes) {
      const { name, url, method, hasBody, needsOwner } = route;
      expect(describeOutcome(await callRoute(route, null)), name).toBe("401 unauthorized");
      expect(describeOutcome(await callRoute(route, consumer)), name).toBe("403 forbidden");
      if (needsOwner) expect(describeOutcome(await callRoute(route, member)), name).toBe("403 owner_required");
      if (method === "GET") continue;
      expect(describeOutcome(await callRoute(route, owner, { origin: "null" })), name).toBe("403 csrf_failed");
      expect(describeOutcome(await callRoute(route, owner, { "sec-fetch-site": "cross-site" })), name).toBe("403 csrf_failed");
      if (!hasBody) continue;
      const asText = { method, headers: { cookie: owner.cookie, "content-type": "text/plain" }, body: "{}" };
      expect(describeOutcome(await call(url, asText)), name).toBe("415 unsupported_media_type");
    }
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("is readable by the app's pages with the cookie, and by no other page", async () => {
    const ours = await callPortal(owner, "GET", "", undefined, { origin: "http://svc.test" });
    expect([ours.headers.get("access-control-allow-origin"), ours.headers.get("access-control-allow-credentials")]).toEqual([
      "http://svc.test",
      "true",
    ]);
    const foreign = await callPortal(owner, "GET", "", undefined, { origin: "https://evil.example" });
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("returns 503 storage_unavailable while the database is unavailable, and works again afterward", async () => {
    const rejectQuery = (): Promise<never> => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const callDuringOutage = createServiceCall({
      DB: {
        prepare: () => ({ bind: () => ({ all: rejectQuery, raw: rejectQuery, first: rejectQuery, run: rejectQuery }) }),
        batch: rejectQuery,
      },
    });
    for (const route of routes)
      expect(describeOutcome(await callRoute(route, owner, {}, callDuringOutage)), route.name).toBe("503 storage_unavailable");
    expect(describeOutcome(await callPortal(owner, "GET", ""))).toBe("200 ok");
  });
});

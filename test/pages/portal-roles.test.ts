// Tests permissions in the portal. Every page and form has an entry with the expected result for each kind of visitor in both environments.
// A refused request changes no row, and the owner of another business changes no row of this business.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toCanonicalJson } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { buildApp } from "../../workers/app.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import {
  getFormToken,
  signInCast,
  callWithoutLimits,
  mockOutsideWorld,
  createAcmeRecords,
  roles,
  listRecordRows,
  type PortalCast,
  type Records,
  type Role,
} from "../support/portal-cast.ts";
import { getPageText } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { readDatabaseContents, world, type TestResponse } from "../support/world.ts";

/**
 * The expected result for each role: a status, followed by the target of a redirect, or by `owners` if the page says that only owners can
 * do this.
 */
interface Line extends Readonly<Record<Role, string>> {
  /**
   * The result in test mode, if it differs, for roles that may open the page. The IDs are those of live records, which do not exist in test
   * mode.
   */
  readonly test?: string;
  readonly id?: string;
  readonly sent?: Readonly<Record<string, string>>;
}

const signIn = { nobody: "303 /portal/sign-in", consumer: "303 /portal/sign-in" };
const ownersOnly = "403 owners";
type More = Pick<Line, "test" | "id" | "sent">;
/** A page that every member of the business can open. The owner of another business sees that business's own records. */
const open = (outcome: string, more: More = {}): Line => ({ ...signIn, owner: outcome, member: outcome, stranger: outcome, ...more });
/** Like `open`, but for a page about one record. The owner of another business gets 404. */
const record = (outcome: string, id: string, more: More = {}): Line => ({ ...open(outcome, more), stranger: "404", id });
const ownerOnly = (outcome: string, more: More = {}): Line => ({ ...open(outcome, more), member: ownersOnly });
const ownerOnlyRecord = (outcome: string, id: string, more: More = {}): Line => ({ ...ownerOnly(outcome, more), stranger: "404", id });
/** Pages that need no session. */
const publicPage = (outcome: string): Line => ({ nobody: outcome, consumer: outcome, stranger: outcome, member: outcome, owner: outcome });

/** Paths under /portal and under /portal/test. */
const lines: Readonly<Record<string, Line>> = {
  "GET /sign-in": { ...publicPage("303 /portal"), nobody: "200", consumer: "200" },
  "POST /sign-in": publicPage("400"),
  "POST /sign-in/code": publicPage("303 /portal/sign-in"),
  "POST /sign-in/other": publicPage("303 /portal/sign-in"),
  "GET /sign-in/link": { ...publicPage("303 /portal"), nobody: "200", consumer: "200" },
  "POST /sign-in/link": publicPage("303 /portal/sign-in/link?outcome=failed"),
  "POST /sign-in/elsewhere": publicPage("400"),
  "GET /sign-in/passkey": publicPage("303 /portal/sign-in"),
  "POST /sign-in/passkey": publicPage("200"),
  "POST /sign-in/passkey/verify": publicPage("303 /portal/sign-in?outcome=passkey"),
  // The page for people who have been invited but have not joined a business. Their sessions are of a separate kind.
  "GET /invitations": { ...signIn, stranger: "303 /portal/businesses", member: "303 /portal/businesses", owner: "303 /portal/businesses" },
  "POST /invitations/accept": publicPage("303 /portal/sign-in"),
  "POST /invitations/decline": publicPage("303 /portal/sign-in"),
  "GET /sign-up": { ...publicPage("303 /portal"), nobody: "200", consumer: "200" },
  "POST /sign-up": publicPage("400"),
  "POST /sign-out": publicPage("303 /portal/sign-in"),
  "GET /businesses": open("200"),
  "POST /businesses": open("404"),
  "POST /businesses/decline": open("404"),
  "GET ": open("200"),
  "GET /steps": open("200"),
  "POST /export": open("200", { sent: { chart: "certificate_days" } }),
  "GET /certificates": open("200"),
  "POST /certificates/export": open("200"),
  "POST /certificates/views": open("303 /portal/certificates?status=active", {
    sent: { status: "active", name: "Standing" },
  }),
  "POST /certificates/views/remove": open("303 /portal/certificates", { sent: { name: "Standing" } }),
  "POST /certificates/find": open("303 /portal/certificates"),
  "GET /certificates/:id": record("200", "cert_id", { test: "303 /portal/certificates/:id" }),
  "POST /certificates/:id/reveal": record("200", "cert_id"),
  "POST /certificates/:id/evidence": record("200", "cert_id", { sent: { format: "zip" } }),
  "GET /deadlines": open("200"),
  "GET /deadlines/:id": record("200", "cert_id", { test: "404" }),
  "POST /deadlines/:id": record("303 /portal/deadlines?done=acknowledged", "cert_id", {
    test: "404",
    sent: { shown: sha256Hex(toCanonicalJson(["certificate"])) }, // the form showed the withdrawal of the whole certificate
  }),
  "GET /shares": open("200"),
  "GET /shares/:id": record("200", "share_id", { test: "404" }),
  "GET /domains": open("200"),
  "POST /domains": ownerOnly("400", { sent: { domain: "" } }),
  "GET /domains/:id": record("200", "domain_id"),
  "POST /domains/:id/verify": ownerOnlyRecord("409", "domain_id"),
  "GET /domains/:id/remove": ownerOnlyRecord("200", "domain_id"),
  "POST /domains/:id/remove": ownerOnlyRecord("303 /portal/domains?done=removed", "domain_id"),
  "GET /snippet": open("200"),
  "POST /snippet": open("400"),
  "GET /webhooks": open("200"),
  "POST /webhooks": ownerOnly("400"),
  "POST /webhooks/:id/export": record("200", "webhook_id", { test: "404" }),
  "GET /webhooks/new": open("200"),
  "GET /webhooks/:id": record("200", "webhook_id", { test: "404" }),
  "GET /webhooks/:id/edit": record("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/edit": ownerOnlyRecord("303 /portal/webhooks/:id?done=saved", "webhook_id", {
    test: "404",
    sent: { url: "https://hook1.merchant-tests.com/in", events: "some", "event.certificate.revoked": "1" },
  }),
  "GET /webhooks/:id/recover": record("200", "webhook_id", { test: "404" }),
  "GET /webhooks/:id/rotate": ownerOnlyRecord("200", "webhook_id", { test: "404" }),
  "GET /webhooks/:id/remove": ownerOnlyRecord("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/secret": ownerOnlyRecord("200", "webhook_id"),
  "GET /webhooks/:id/deliveries/:delivery": record("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/deliveries/:delivery/replay": record("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/deliveries/:delivery/reveal": record("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/test": record("200", "webhook_id", { test: "404" }),
  "POST /webhooks/:id/recover": record("303 /portal/webhooks/:id?done=recovering", "webhook_id", { sent: { since: "2026-01-01T00:00" } }),
  "POST /webhooks/:id/status": ownerOnlyRecord("303 /portal/webhooks/:id?done=saved", "webhook_id"),
  "POST /webhooks/:id/rotate": ownerOnlyRecord("200", "webhook_id"),
  "POST /webhooks/:id/remove": ownerOnlyRecord("303 /portal/webhooks?done=removed", "webhook_id"),
  "GET /events": open("200"),
  "GET /events/:seq": record("200", "seq", { test: "404" }),
  "POST /events/:seq/replay": record("303 /portal/events/:id?done=resent", "seq"),
  "GET /keys": open("200"),
  "POST /keys": ownerOnly("400"),
  "POST /clients": ownerOnly("400"),
  "GET /clients/:id": record("200", "client_id", { test: "404" }),
  "POST /clients/:id": ownerOnlyRecord("303 /portal/clients/:id?done=saved", "client_id", { test: "404" }),
  "GET /keys/:id/remove": ownerOnlyRecord("200", "key_id", { test: "404" }),
  "POST /keys/:id/remove": ownerOnlyRecord("303 /portal/keys?done=removed", "key_id"),
  "POST /lookup": open("400"),
  "GET /requests": open("200"),
  "GET /requests/:id": record("200", "request_id"),
  "GET /team": open("200"),
  "POST /team": ownerOnly("400"),
  "POST /team/:id/role": ownerOnlyRecord("303 /portal/team?done=saved", "member_id"),
  "GET /team/:id/remove": ownerOnlyRecord("200", "member_id"),
  "POST /team/:id/remove": ownerOnlyRecord("303 /portal/team?done=removed", "member_id"),
  "GET /team/leave": open("200"),
  // A member can leave, but the only owner cannot.
  "POST /team/leave": { ...open("409"), member: "303 /portal/sign-in" },
  "GET /account": open("200"),
  "GET /account/reauthenticate": open("303 /portal/account", { test: "303 /portal/test/account" }),
  "POST /account/passkeys/new": open("200"),
  "POST /account/passkeys": open("400"),
  "POST /account/passkeys/remove": open("303 /portal/account"),
  "POST /account/sessions/end": open("303 /portal/account"),
  "POST /account/sessions/end-others": open("303 /portal/account"),
  "GET /audit": open("200"),
  "GET /billing": open("200"),
  "POST /billing/export": open("200"),
  "GET /billing/checkout": ownerOnly("303 https://checkout.stripe.com/c/pay/cs_test"),
  "GET /settings": open("200"),
  "POST /settings/profile": ownerOnly("400", { sent: { name: "" } }),
  "POST /settings/retention": ownerOnly("400", { sent: { retention_years: "0" } }),
  "POST /settings/withdrawals": ownerOnly("303 /portal/settings?done=saved"),
  "POST /settings/events": ownerOnly("303 /portal/settings?done=saved"),
};

/** Paths that exist only in test mode. */
const testLines: Readonly<Record<string, Line>> = {
  "GET /sandbox": open("200"),
  "POST /sandbox/clock": open("303 /portal/test/sandbox?done=moved"),
  "POST /sandbox/trigger": open("400"),
  "GET /sandbox/reset": open("200"),
  "POST /sandbox/reset": open("303 /portal/test/sandbox?done=reset"),
};

let cast: PortalCast;
let records: Records;
beforeEach(() => {
  mockOutsideWorld();
});
beforeAll(async () => {
  mockOutsideWorld();
  cast = await signInCast();
  records = await createAcmeRecords(cast);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const ownersWords = "Only owners can change this.";
const describeOutcome = (response: TestResponse): string => {
  const location = response.headers.get("location")?.replace(/\?next=.*$/, "");
  if (location !== undefined) return `${response.status} ${location}`;
  return response.status === 403 && getPageText(response).includes(ownersWords) ? ownersOnly : String(response.status);
};

interface FormRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

const buildRequest = (root: string, name: string, { id, sent = {} }: Line): FormRequest => {
  const [method = "", below = ""] = name.split(" ");
  const path = `${root}${below.replace(/:(?:id|seq)/, records[id ?? ""] ?? "no record").replace(":delivery", records.delivery_id ?? "")}`;
  return { method, path, fields: { delivery: records.delivery_id as string, ...sent } };
};

const send = async (role: Role, { method, path, fields }: FormRequest, withToken = true): Promise<TestResponse> => {
  const { cookie } = cast[role];
  if (method === "GET") return callWithoutLimits(path, { headers: { cookie, "sec-fetch-site": "same-origin" } });
  const form = withToken ? { form: await getFormToken({ cookie }, path) } : {};
  return callWithoutLimits(path, {
    method,
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", cookie },
    body: new URLSearchParams({ ...fields, ...form }).toString(),
  });
};

const listPrivateMarks = (): readonly string[] => [
  world.acme.id,
  world.ownerEmail,
  world.acme.clients.live,
  ...Object.values(records).filter((id) => id.includes("_")),
];

const check = async (role: Role, request: FormRequest, expected: string): Promise<void> => {
  // For a nonmember, a redirect to the sign-in page is a refusal, unless the request signs out.
  const isSentAway = (role === "nobody" || role === "consumer") && expected === signIn.nobody && !request.path.endsWith("/sign-out");
  const isRefused = Number.parseInt(expected, 10) >= 400 || isSentAway;
  const isStranger = role === "stranger";
  // The contents are read only if they are compared, because reading them takes longer than most requests.
  const before = isRefused || isStranger ? await readDatabaseContents() : {};
  const response = await send(role, request);
  await waitUntilSettled();
  expect([role, describeOutcome(response)]).toEqual([role, expected]);
  const after = isRefused || isStranger ? await readDatabaseContents() : {};
  if (isRefused) expect(after, role).toEqual(before);
  if (!isStranger) return;
  expect(listRecordRows(after, records)).toEqual(listRecordRows(before, records));
  // A value in the request path may appear in the page's links.
  for (const mark of listPrivateMarks().filter((one) => !request.path.includes(one))) expect(response.text).not.toContain(mark);
};

/** Orders the forms: those that remove records needed by other forms run late, and leaving and signing out run last. */
const getSortOrder = (name: string): number =>
  /sign-out$/.test(name) ? 3 : /leave$/.test(name) ? 2 : /(?:remove|rotate|reset)$/.test(name) ? 1 : 0;
const inOrder = (linesByName: Readonly<Record<string, Line>>): [string, Line][] =>
  Object.entries(linesByName).sort(([a], [b]) => getSortOrder(a) - getSortOrder(b));
const fillId = (outcome: string, { id = "" }: Line): string => outcome.replace(":id", records[id] ?? "");

test("covers every page and every form of the portal in both environments, and lists no others", async () => {
  const { routes } = buildApp(await getPlatform(env));
  const served = routes.flatMap(({ method, path }) => (path.startsWith("/portal") && !path.endsWith("*") ? [`${method} ${path}`] : []));
  const listPaths = (root: string, linesByName: Readonly<Record<string, Line>>): string[] =>
    Object.keys(linesByName).map((name) => name.replace(" ", ` ${root}`));
  const lined = [...listPaths("/portal", lines), ...listPaths("/portal/test", lines), ...listPaths("/portal/test", testLines)];
  expect([...new Set(served)].toSorted()).toEqual(lined.toSorted());
});

describe("each page and each refused form in test mode", () => {
  test.each(inOrder(lines))("%s", async (name, line) => {
    const request = buildRequest("/portal/test", name, line);
    for (const role of roles) {
      const isLetIn = line[role] === line.owner && role !== "nobody" && role !== "consumer";
      const expected = isLetIn && line.test !== undefined ? line.test : line[role];
      if (request.method === "GET" || expected.startsWith("4")) await check(role, request, fillId(expected, line));
    }
  });
  test.each(inOrder(testLines))("%s", async (name, line) => {
    for (const role of roles) await check(role, buildRequest("/portal/test", name, line), line[role]);
  });
});

describe("each page and each form", () => {
  test.each(inOrder(lines))("%s", async (name, line) => {
    const request = buildRequest("/portal", name, line);
    if (request.method === "POST" && line.nobody === signIn.nobody && !/\/(?:sign-|invitations)/.test(name)) {
      const before = await readDatabaseContents();
      expect(describeOutcome(await send("owner", request, false)), "without the form's own token").toBe("403");
      expect(await readDatabaseContents()).toEqual(before);
    }
    for (const role of roles) await check(role, request, fillId(line[role], line));
  });
});

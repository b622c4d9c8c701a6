// Tests signing up a business. Signing up with another person's address gives a stranger no access.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import {
  requestEmailCode,
  findEmailCode,
  parseCode,
  getCookie,
  clearCodes,
  submitEmailCode,
  listMailTo,
  signIn,
} from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, signUp } from "../../support/portal.ts";
import { call, readDatabaseContents, countRows, createServiceCall, world } from "../../support/world.ts";

let email = "";
let people = 0;
beforeEach(async () => {
  people += 1;
  email = `founder-${people}@fresh-roofs.example`;
  await clearCodes();
  await env.DB.prepare("DELETE FROM signups").run();
});
const createService = (settings: Record<string, unknown> = {}) => createServiceCall(settings);

describe("POST /v1/business/signup", () => {
  test("creates the account with an owner and two clients when the address is verified, and not before", async () => {
    const before = await countRows(["businesses", "members", "clients"]);
    const response = await signUp(email, {
      legal_name: "Fresh Roofs Limited",
      country: "gb",
      website: "https://www.fresh-roofs.co.uk/about",
    });
    expect(response.status).toBe(201);
    const { business, code_sent } = response.body.data;
    expect(business).toEqual({
      id: expect.stringMatching(/^biz_00[0-9a-hjkmnp-tv-z]{24}$/),
      name: "Fresh Roofs LLC",
      status: "active",
      plan: "free",
    });
    expect(code_sent).toBe(true);
    expect(await countRows(["businesses", "members", "clients"])).toEqual(before);

    const signedIn = await submitEmailCode(email, await findEmailCode(email), "business");
    expect(signedIn.body.data).toEqual({
      user: { id: expect.stringMatching(/^mem_/), email, realm: "business", role: "owner", business_id: business.id },
      created: true,
    });
    const owner = { cookie: getCookie(signedIn) };
    const account = await callPortal(owner, "GET", "");
    expect(account.body.data.business).toMatchObject({ ...business, legal_name: "Fresh Roofs Limited", country: "GB", retention_years: 5 });
    const clients = (await callPortal(owner, "GET", "/clients")).body.data.clients as { client_id: string; environment: string }[];
    expect(clients.map(({ environment }) => environment).sort()).toEqual(["live", "sandbox"]);
    expect(clients.every(({ client_id }) => /^pc_(?:live|test)_/.test(client_id))).toBe(true);
    const domains = (await callPortal(owner, "GET", "/domains")).body.data.domains as object[];
    expect(domains).toMatchObject([{ domain: "fresh-roofs.co.uk", status: "pending", covers_subdomains: false }]);
    expect(await listAuditEntryTypes(business.id)).toEqual(["business.signed_up"]);
    expect(await countRows(["signups"])).toEqual({ signups: 0 });
  });

  test("lets the same person sign in later to the same business", async () => {
    const { id } = await signUpBusiness(email);
    const repeated = await signIn(email);
    expect((await callPortal(repeated, "GET", "")).body.data.business.id).toBe(id);
  });

  test("returns, costs and stores the same for a known address as for an unknown one", async () => {
    const known = await signUp(world.ownerEmail, { business_name: "Somebody else" });
    const unknown = await signUp(email, { business_name: "Somebody else" });
    const summarizeResponse = ({ status, body, headers }: typeof known) => [
      status,
      { ...body.data, business: { ...body.data.business, id: body.data.business.id.length } },
      [...headers.keys()].sort(),
    ];
    expect(summarizeResponse(known)).toEqual(summarizeResponse(unknown));
    const { results } = await env.DB.prepare("SELECT count(*) AS n FROM signups GROUP BY email_index").all();
    expect(results).toEqual([{ n: 1 }, { n: 1 }]);
  });

  test("accepts an address with invisible characters around it", async () => {
    expect((await signUp(`\u200e${email}\ufeff`)).status).toBe(201);
    const signedIn = await submitEmailCode(email, await findEmailCode(email), "business");
    expect(signedIn.body.data).toMatchObject({ created: true, user: { email } });
  });

  test("sends a known person a code for their existing account, and creates no other", async () => {
    const before = await countRows(["businesses", "members"]);
    const response = await signUp(world.ownerEmail, { business_name: "A stranger's choice" });
    const signedIn = await submitEmailCode(world.ownerEmail, await findEmailCode(world.ownerEmail), "business");
    expect(signedIn.body.data).toMatchObject({ user: { business_id: world.acme.id, role: "owner" }, created: false });
    expect(response.body.data.business.id).not.toBe(world.acme.id);
    expect(await countRows(["businesses", "members"])).toEqual(before);
  });

  test("gives a stranger no account, no session and no text in the email", async () => {
    const before = await countRows(["businesses", "members", "sessions"]);
    const { id } = (await signUp(email, { business_name: "Visit evil.example now" })).body.data.business;
    expect(describeOutcome(await submitEmailCode(email, "000000", "business"))).toBe("400 login_failed");
    expect(await countRows(["businesses", "members", "sessions"])).toEqual(before);
    const [mail] = await listMailTo(email);
    expect(`${mail?.subject} ${mail?.text}`).not.toMatch(/evil/);
    expect(await env.DB.prepare("SELECT id FROM businesses WHERE id = ?").bind(id).first()).toBeNull();
  });

  test("creates the account for which the code was sent, and one account for two codes", async () => {
    await signUp(email, { business_name: "First" });
    const first = await findEmailCode(email);
    await env.DB.prepare("UPDATE email_codes SET created_at = created_at - 61000").run();
    await signUp(email, { business_name: "Second" });
    const second = (await listMailTo(email)).map(parseCode).find((code) => code !== first) as string;
    const signedIn = await submitEmailCode(email, first, "business");
    expect((await callPortal({ cookie: getCookie(signedIn) }, "GET", "")).body.data.business.name).toBe("First");
    expect(describeOutcome(await submitEmailCode(email, second, "business"))).toBe("400 login_failed");
    expect(await countRows(["signups"])).toEqual({ signups: 0 });
  });

  test("creates one account when two browsers finish at the same time", async () => {
    await signUp(email, { business_name: "First" });
    const first = await findEmailCode(email);
    await env.DB.prepare("UPDATE email_codes SET created_at = created_at - 61000").run();
    await signUp(email, { business_name: "Second" });
    const second = (await listMailTo(email)).map(parseCode).find((code) => code !== first) as string;
    const before = await countRows(["businesses", "members", "clients"]);
    await Promise.all([submitEmailCode(email, first, "business"), submitEmailCode(email, second, "business")]);
    const after = await countRows(["businesses", "members", "clients"]);
    expect([Number(after.businesses) - Number(before.businesses), Number(after.members) - Number(before.members)]).toEqual([1, 1]);
    expect(Number(after.clients) - Number(before.clients)).toBe(2);
  });

  test("can be completed with another code within a day, sent to the spelling given first", async () => {
    await signUp(`${email.slice(0, 1).toUpperCase()}${email.slice(1)}`);
    await env.DB.prepare("DELETE FROM email_codes").run();
    await env.DB.prepare("DELETE FROM captured_mail").run();
    await requestEmailCode(email, "business");
    const [mail] = await listMailTo(email);
    expect(mail?.to).toBe(`F${email.slice(1)}`);
    const signedIn = await submitEmailCode(email, parseCode(mail as never), "business");
    expect(signedIn.body.data).toMatchObject({ created: true, user: { email: `F${email.slice(1)}`, role: "owner" } });
  });

  test("creates a pending account if SIGNUP_APPROVAL is manual", async () => {
    const byHand = createService({ SIGNUP_APPROVAL: "manual" });
    const response = await signUp(email, {}, byHand);
    expect(response.body.data.business.status).toBe("pending");
    const signedIn = await submitEmailCode(email, await findEmailCode(email), "business", {}, byHand);
    expect(signedIn.status).toBe(200);
    expect(describeOutcome(await callPortal({ cookie: getCookie(signedIn) }, "GET", ""))).toBe("402 business_inactive");
  });

  const bad: readonly (readonly [string, object])[] = [
    ["no name", { business_name: undefined }],
    ["a blank name", { business_name: "  " }],
    ["a name with a control character", { business_name: "a\u0000b" }],
    ["a long name", { business_name: "x".repeat(201) }],
    ["no address", { email: undefined }],
    ["two addresses", { email: "a@example.com, b@example.com" }],
    ["an unknown country", { country: "XX" }],
    ["a legal name with a control character", { legal_name: "a\u0007b" }],
    ["an invalid website", { website: "https://" }],
  ];
  test.each(bad)("returns 400 invalid_request with %s and changes nothing", async (_name, change) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await signUp(email, change))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("creates one sign-up and one email per idempotency key", async () => {
    const key = { "idempotency-key": "signup-1" };
    const [first, second] = [await signUp(email, {}, call, key), await signUp(email, {}, call, key)];
    expect([second.headers.get("idempotency-replayed"), second.body.data]).toEqual(["true", first.body.data]);
    expect(await listMailTo(email)).toHaveLength(1);
  });

  test("limits requests by network address and emails by email address", async () => {
    const strict = createService({ LIMIT_SIGNUP_PER_IP: "3/3600", DEV_RATE_SCALE: "1" });
    const responses = [];
    for (let at = 0; at < 5; at += 1) responses.push(describeOutcome(await signUp(email, {}, strict)));
    expect(responses).toEqual(["201 ok", "201 ok", "201 ok", "429 rate_limited", "429 rate_limited"]);
    expect(await listMailTo(email)).toHaveLength(1);
    expect(await countRows(["signups"])).toEqual({ signups: 1 });
  });

  test("refuses requests from pages of other sites", async () => {
    expect(describeOutcome(await signUp(email, {}, call, { origin: "https://evil.example" }))).toBe("403 csrf_failed");
    expect(describeOutcome(await signUp(email, {}, call, { "sec-fetch-site": "cross-site" }))).toBe("403 csrf_failed");
  });

  test("stores the request encrypted until it is completed", async () => {
    await signUp(email, { business_name: "Quiet Company", legal_name: "Quieter Still" });
    const contents = JSON.stringify(await readDatabaseContents());
    for (const text of ["Quiet Company", "Quieter Still", email]) expect(contents).not.toContain(text);
  });
});

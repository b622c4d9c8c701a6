// Tests the consent sheet in a browser without scripts. Its steps are plain forms that redirect to the same URL.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { buildJsonRequest, findEmailCode, clearCodes, signIn } from "../support/people.ts";
import { registerPasskey } from "../support/passkeys.ts";
import {
  createVerifier,
  describeOutcome,
  grantShare,
  signInPerson,
  getWithApiKey,
  postWithApiKey,
  redeemCode,
} from "../support/sharing.ts";
import { call, origin, createServiceCall, world, type TestResponse } from "../support/world.ts";

beforeEach(clearCodes);

const returnUrl = `${origin}/quote?step=2`;

const searchFor = (verifier: string, change: Readonly<Record<string, string>> = {}): string =>
  `?${new URLSearchParams({
    client_id: world.acme.clients.live,
    origin,
    scope: "email phone?",
    purpose: "Send you a solar estimate",
    code_challenge: computeCodeChallenge(verifier),
    code_challenge_method: "S256",
    state: "xyz",
    return_url: returnUrl,
    ...change,
  })}`;

class Visitor {
  readonly cookies = new Map<string, string>();
  readonly answers: TestResponse[] = [];

  async #send(path: string, init: RequestInit): Promise<TestResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", "sec-fetch-site": "same-origin", ...(init.headers as object), ...(cookie !== "" && { cookie }) };
    const response = await call(path, { redirect: "manual", ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=", 2);
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.answers.push(response);
    return response;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    return this.#send(path, { headers });
  }

  async post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    const body = new URLSearchParams(form).toString();
    const response = await this.#send(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
    return response.status === 303 ? this.get(response.headers.get("location") ?? "") : response;
  }
}

const extractHeading = ({ text }: TestResponse): string => (/<h1>(.*?)<\/h1>/s.exec(text)?.[1] ?? "").replaceAll(/<[^>]+>/g, "");
const extractToken = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";

const reviewHeading = "Share these details?";
const listFormActions = ({ text }: TestResponse): readonly string[] =>
  [...text.matchAll(/<form[^>]*action="([^"?]+)/g)].map(([, path]) => path as string);

/** Continues to the review as a new person whose only saved value is the sign-in address. */
const reachDecision = async (search: string, headers: Readonly<Record<string, string>> = { referer: `${origin}/` }) => {
  const visitor = new Visitor();
  const email = `sheet-${crypto.randomUUID()}@example.com`;
  await visitor.get(`/authorize${search}`, headers);
  await visitor.post(`/authorize/email${search}`, { email });
  const decision = await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) });
  return { visitor, email, decision };
};

const createSignedInVisitor = ({ headers }: Awaited<ReturnType<typeof signInPerson>>): Visitor => {
  const visitor = new Visitor();
  const [name = "", value = ""] = headers.cookie.split("=");
  visitor.cookies.set(name, value);
  return visitor;
};

const readSavedFields = async (visitor: Visitor): Promise<Record<string, string | null>> =>
  (await visitor.get("/v1/me/fields")).body.data.fields;
const countShares = async (visitor: Visitor): Promise<number> => (await visitor.get("/v1/me/shares")).body.data.shares.length;
const readNewestShare = async (visitor: Visitor) => (await visitor.get("/v1/me/shares")).body.data.shares[0];

describe("the consent sheet", () => {
  test("signs in, takes the decision, and returns a code that redeems", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier);
    const { visitor, email, decision } = await reachDecision(search);
    expect(extractHeading(decision)).toBe(reviewHeading);
    expect(decision.text).toContain(`<bdi>${email}</bdi>`);
    expect(decision.text).toMatch(/name="group\.phone" value="phone" id="group-phone"\/>/); // the checkbox is not checked
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), days: "30" });
    expect(extractHeading(response)).toBe("Shared with Acme Solar LLC");
    const back = new URL((/href="([^"]+)"[^>]*>Back to/.exec(response.text)?.[1] ?? "").replaceAll("&amp;", "&"));
    expect(`${back.origin}${back.pathname}`).toBe(`${origin}/quote`);
    expect([back.searchParams.get("step"), back.searchParams.get("svc_state")]).toEqual(["2", "xyz"]);
    const redeemed = await redeemCode({ code: back.searchParams.get("svc_code") ?? "", verifier });
    expect(redeemed.body.data).toMatchObject({ scope: ["email"], fields: { email } });
    const share = (await getWithApiKey(`/v1/shares/${redeemed.body.data.share_id}`)).body.data;
    expect(share.duration_days).toBe(30);
    const laterResponse = await visitor.get(`/authorize${search}`);
    expect([laterResponse.status, extractHeading(laterResponse)]).toEqual([409, "You already responded"]);
  });

  test("writes the duration of a share of one day in the singular", async () => {
    const { decision } = await reachDecision(searchFor(createVerifier(), { duration_days: "1" }));
    expect(decision.text).toMatch(/<option value="asked">[^<]+ \(1 day\)<\/option>/);
  });

  test("shows a name as it was written, and an address with commas", async () => {
    const search = searchFor(createVerifier(), { scope: "name address" });
    const { visitor, decision } = await reachDecision(search);
    const typed = {
      "field.first_name": "Pat",
      "field.last_name": "Example",
      "field.address_line1": "12 Long Street",
      "field.city": "Testville",
      "field.zip": "94000",
      "field.country": "us",
    };
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), ...typed });
    expect(extractHeading(response)).toBe("Shared with Acme Solar LLC");
    const repeated = await visitor.get(`/authorize${searchFor(createVerifier(), { scope: "name address" })}`, { referer: `${origin}/` });
    expect(repeated.text).toContain("<bdi>Pat Example</bdi>");
    expect(repeated.text).toContain("<bdi>12 Long Street, Testville, 94000, US</bdi>");
  });

  test("P22: keeps the connection to the opening window on every response", async () => {
    const { visitor, decision } = await reachDecision(searchFor(createVerifier()));
    await visitor.post(`/authorize/decide${searchFor(createVerifier())}`, { token: extractToken(decision) });
    await visitor.get(`/authorize${searchFor(createVerifier(), { client_id: "pc_live_00000000000000000000000000" })}`);
    await visitor.get("/authorize");
    await visitor.get(`/authorize/not-now${searchFor(createVerifier())}`);
    const moved = await call(`/v1/authorize${searchFor(createVerifier())}`, {
      redirect: "manual",
      headers: { "sec-fetch-mode": "navigate" },
    });
    expect([moved.status, moved.headers.get("referrer-policy")]).toEqual([303, "origin"]);
    for (const { headers } of [...visitor.answers, moved]) expect(headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    for (const { headers, status } of visitor.answers)
      if (status !== 303) expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test.each([
    ["to another origin", { return_url: "https://evil.example/" }],
    ["to another port", { return_url: `${origin}:8443/` }],
    ["to a URL with a user name", { return_url: origin.replace("https://", "https://user@") }],
  ])("P21: sends no code by redirect when requested %s", async (_name, change) => {
    const search = searchFor(createVerifier(), change);
    const { visitor, decision } = await reachDecision(search);
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    expect(extractHeading(response)).toBe("Shared with Acme Solar LLC");
    expect(response.text).not.toContain("svc_code=");
    // Only the page script can deliver the result. Without scripts, the page says so and hides every form.
    expect(decision.text).toContain("Turn on JavaScript to share");
    expect(decision.text).toMatch(/<div class="steps" data-decides="" hidden="">\s*<form/);
  });

  test("P25: takes one decision when submitted several times", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    const token = extractToken(decision);
    const codes = [];
    for (const form of [{ token }, { token, "group.phone": "phone" }, { token }])
      codes.push(/data-code="([^"]+)"/.exec((await visitor.post(`/authorize/decide${search}`, form)).text)?.[1]);
    expect(new Set(codes).size).toBe(1);
    expect(codes[0]).toMatch(/^ac_00/);
  });

  test("asks the person to try again if the account changes during every attempt, and does not blame the business", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    let isGrant = false;
    const database = {
      prepare: (text: string) => {
        isGrant ||= text.startsWith('insert into "shares"');
        return env.DB.prepare(text);
      },
      withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
      batch: async (statements: D1PreparedStatement[]) => {
        if (isGrant) await env.DB.prepare("UPDATE businesses SET revision = revision + 1 WHERE id = ?").bind(world.acme.id).run();
        isGrant = false;
        return env.DB.batch(statements);
      },
    };
    const response = await createServiceCall({ DB: database })(`/authorize/decide${search}`, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
        cookie: [...visitor.cookies].map((pair) => pair.join("=")).join("; "),
      },
      body: new URLSearchParams({ token: extractToken(decision) }).toString(),
    });
    expect([response.status, extractHeading(response)]).toEqual([503, "This page is unavailable right now"]);
    expect(await countShares(visitor)).toBe(0);
  });

  test("P11: binds a decision to the request, the browser and the person that it was shown to", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    const token = extractToken(decision);
    const other = searchFor(createVerifier());
    await visitor.get(`/authorize${other}`, { referer: `${origin}/` });
    expect(extractHeading(await visitor.post(`/authorize/decide${other}`, { token }))).toBe(reviewHeading);
    const otherVisit = await reachDecision(search);
    expect(extractHeading(await otherVisit.visitor.post(`/authorize/decide${search}`, { token }))).toBe(reviewHeading);
    const forged = await visitor.post(`/authorize/decide${search}`, { token }, { "sec-fetch-site": "cross-site" });
    expect(forged.status).toBe(403);
  });

  test("ends a request that is older than ten minutes and offers to start again", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
    try {
      const late = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
      expect([late.status, extractHeading(late)]).toEqual([400, "This request expired"]);
      expect(extractHeading(await visitor.get(`/authorize${search}`))).toBe(reviewHeading);
    } finally {
      vi.useRealTimers();
    }
  });

  test("restores the person's own choices, and nothing that a URL or another site supplies", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    const ticked = /id="group-phone" checked=""/;
    const shorter = /<option value="30" selected=""/;
    const choice = { token: extractToken(decision), "group.phone": "phone", "field.phone": "+1 202 555 0123", days: "30" };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
    try {
      const late = await visitor.post(`/authorize/decide${search}`, choice);
      expect(extractHeading(late)).toBe("This request expired");
      const hiddenFields = [...late.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)"/g)].map(([, name, value]) => [
        name,
        value,
      ]);
      const repeated = await visitor.post(`/authorize/review${search}`, Object.fromEntries(hiddenFields));
      expect([repeated.status, extractHeading(repeated)]).toEqual([200, reviewHeading]);
      expect([ticked.test(repeated.text), shorter.test(repeated.text)]).toEqual([true, true]);
      const byAddress = await visitor.get(`/authorize${search}&group.phone=phone&days=30`);
      const byOtherToken = await visitor.post(`/authorize/review${search}`, { ...choice, token: `${choice.token}x` });
      for (const { text, status } of [byAddress, byOtherToken])
        expect([status, ticked.test(text), shorter.test(text)]).toEqual([200, false, false]);
      const forged = await visitor.post(`/authorize/review${search}`, choice, { "sec-fetch-site": "cross-site" });
      expect(forged.status).toBe(403);
      const response = await visitor.post(`/authorize/decide${search}`, { ...choice, token: extractToken(repeated) });
      expect(response.text).toContain("email and phone");
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ["the decision", "decide", 0],
    ["the form of an expired request", "review", 11],
  ])("keeps the choices if the person is signed out before submitting %s", async (_name, step, minutes) => {
    const search = searchFor(createVerifier(), { scope: "email phone? name? address?" });
    const { visitor, email, decision } = await reachDecision(search);
    const readChosenOptions = ({ text }: TestResponse) => [
      /id="group-phone" checked=""/.test(text),
      /<option value="30" selected=""/.test(text),
    ];
    const choice = {
      token: extractToken(decision),
      "group.phone": "phone",
      "group.name": "first_name last_name",
      "group.address": "address_line1 address_line2 city state zip country",
      days: "30",
    };
    const signIn = async (address: string): Promise<TestResponse> => {
      await visitor.post(`/authorize/email${search}`, { email: address });
      return visitor.post(`/authorize/code${search}`, { code: await findEmailCode(address) });
    };
    const submitSignedOut = async (): Promise<TestResponse> => {
      await visitor.post("/v1/auth/logout", {});
      return visitor.post(`/authorize/${step}${search}`, choice);
    };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
    try {
      const response = await submitSignedOut();
      expect(response.text).toContain('id="sheet-email"');
      const repeatedSignIn = await signIn(email);
      expect([extractHeading(repeatedSignIn), ...readChosenOptions(repeatedSignIn)]).toEqual([reviewHeading, true, true]);
      expect(readChosenOptions(await visitor.get(`/authorize${search}`))).toEqual([false, false]); // the choices are shown only once
      await submitSignedOut();
      const other = `sheet-${crypto.randomUUID()}@example.com`;
      await signIn(other);
      const otherResponse = await visitor.get(`/authorize${search}`);
      expect([extractHeading(otherResponse), ...readChosenOptions(otherResponse)]).toEqual([reviewHeading, false, false]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("keeps the selected duration when nothing was selected to share", async () => {
    const search = searchFor(createVerifier(), { scope: "email? phone?" });
    const { visitor, decision } = await reachDecision(search);
    const nothing = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), days: "90" });
    expect([nothing.status, /<option value="90" selected=""/.test(nothing.text)]).toEqual([400, true]);
    expect(nothing.text).toMatch(/<title>Error: /);
  });

  test("issues another code for the same decision when every detail was optional", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier, { scope: "email? phone?" });
    const { visitor, decision } = await reachDecision(search);
    await visitor.post(`/authorize/decide${search}`, {
      token: extractToken(decision),
      "group.phone": "phone",
      "field.phone": "+1 202 555 0123",
    });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 70_000 });
    try {
      const late = await visitor.get(`/authorize${search}`);
      expect(extractHeading(late)).toBe("You already responded");
      const repeated = await visitor.post(`/authorize/decide${search}`, { token: extractToken(late), again: "on" });
      expect(extractHeading(repeated)).toBe("Shared with Acme Solar LLC");
      const redeemed = await redeemCode({ code: /data-code="([^"]+)"/.exec(repeated.text)?.[1] ?? "", verifier });
      expect(redeemed.body.data).toMatchObject({ scope: ["phone"], fields: { phone: "+1 202 555 0123" } });
    } finally {
      vi.useRealTimers();
    }
  });

  test.each<readonly [number, string, Readonly<Record<string, string>>]>([
    [404, "This request isn’t valid", { client_id: "pc_live_00000000000000000000000000" }],
    [403, "This request isn’t from a verified website", { origin: "https://evil.example" }],
    [400, "This request isn’t valid", { code_challenge_method: "plain" }],
    [400, "This request isn’t valid", { scope: "shoe_size" }],
    [
      402,
      "This business can’t receive details right now",
      { client_id: world.examples.suspended.clients.live, origin: "https://example.com" },
    ],
  ])("explains why no decision is possible: %i %s", async (status, heading, change) => {
    const response = await new Visitor().get(`/authorize${searchFor(createVerifier(), change)}`);
    expect([response.status, extractHeading(response)]).toEqual([status, heading]);
    expect(response.text).not.toContain("<form");
  });

  test("names the invalid parameter in the person's language", async () => {
    const read = async (lang: string): Promise<string> =>
      (await new Visitor().get(`/authorize${searchFor(createVerifier(), { scope: "shoe_size", lang })}`)).text;
    expect(await read("en")).toContain('For developers: check the parameter <code translate="no">scope</code>.');
    expect(await read("es")).toContain('Para desarrolladores: revise el parámetro <code translate="no">scope</code>.');
    expect(await read("fr")).toContain('vérifiez le paramètre <code translate="no">scope</code>.');
  });

  test("signs in with a passkey inside the sheet, and offers the code when the passkey is refused", async () => {
    const person = await signInPerson();
    const { authenticator } = await registerPasskey(person.headers);
    const search = searchFor(createVerifier());
    const visitor = new Visitor();
    const first = await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    expect(first.text).toMatch(/<form[^>]*action="\/authorize\/passkey\?[^>]*hidden/);
    const response = await visitor.post(`/authorize/passkey${search}`, {});
    const options = JSON.parse((/data-options="([^"]+)"/.exec(response.text)?.[1] ?? "").replaceAll("&quot;", '"'));
    const credential = JSON.stringify(await authenticator.sign(options));
    const refused = await visitor.post(`/authorize/passkey/verify${search}`, { credential: "{}" });
    expect([extractHeading(refused), refused.text.includes("We couldn’t use that passkey.")]).toEqual([
      "Share your contact details with Acme Solar LLC?",
      true,
    ]);
    const foreign = await visitor.post(`/authorize/passkey/verify${search}`, { credential }, { "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(403);
    const decision = await visitor.post(`/authorize/passkey/verify${search}`, { credential });
    expect(decision.text).toContain(person.email);
    const done = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    expect(extractHeading(done)).toBe("Shared with Acme Solar LLC");
    for (const { headers } of visitor.answers) expect(headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    const thief = new Visitor();
    await thief.get(`/authorize${search}`, { referer: `${origin}/` });
    expect((await thief.post(`/authorize/passkey/verify${search}`, { credential })).text).toContain("We couldn’t use that passkey.");
  });

  test("needs no sign-in for a test client and shares a test person's details", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier, { client_id: world.acme.clients.sandbox, scope: "email name" });
    const visitor = new Visitor();
    const decision = await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    expect(decision.text).toContain("Test mode. No real details are shared.");
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), persona: "minimal" });
    const code = /data-code="([^"]+)"/.exec(response.text)?.[1] ?? "";
    const redeemed = await redeemCode({ code, verifier }, { client_id: world.acme.clients.sandbox });
    expect(redeemed.body.data.fields).toEqual({ email: "sandbox@example.com", first_name: "Sandy", last_name: null });
    expect(describeOutcome(await getWithApiKey(`/v1/shares/${redeemed.body.data.share_id}`))).toBe("404 not_found");
  });

  test("uses the language of the requesting page until the person selects another", async () => {
    const visitor = new Visitor();
    const fromPage = { referer: `${origin}/` };
    expect((await visitor.get(`/authorize${searchFor(createVerifier(), { locale: "es" })}`, fromPage)).text).toContain(
      "¿Compartir sus datos de contacto con",
    );
    const chosen = await visitor.get(`/authorize${searchFor(createVerifier(), { locale: "es", lang: "fr-CA" })}`, fromPage);
    expect(chosen.text).toContain("Partager vos coordonnées avec");
    expect(chosen.text).toMatch(/href="\?client_id=[^"]*&amp;lang=en"/);
    const search = searchFor(createVerifier(), { locale: "es", lang: "fr-CA" });
    await visitor.get(`/authorize${search}`, fromPage);
    const wrong = await visitor.post(`/authorize/email${search}`, { email: "pat" });
    expect(wrong.status).toBe(400);
    const switched = await visitor.get(`/authorize/email${search}`); // the language links on that page lead to this URL
    expect([switched.status, switched.headers.get("location")]).toEqual([303, `/authorize${search}`]);
  });

  test("uses the requested language on error pages too, and keeps the request in every other language", async () => {
    const search = searchFor(createVerifier(), { locale: "es" });
    const forged = await new Visitor().post(`/authorize/email${search}`, { email: "pat" }, { "sec-fetch-site": "cross-site" });
    expect([forged.status, forged.headers.get("content-language")]).toEqual([403, "es"]);
    const strict = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_AUTHORIZE_PER_IP: "1/60" });
    await strict(`/authorize${search}`);
    const limited = await strict(`/authorize${search}`);
    expect([limited.status, limited.headers.get("content-language")]).toEqual([429, "es"]);
    expect(limited.text).toContain('<html lang="es"');
    expect(limited.text).toMatch(/href="\?client_id=[^"]*&amp;locale=es&amp;lang=en"/);
  });
});

describe("the review of the consent sheet", () => {
  test("takes missing fields and saves them together with the decision", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier, { scope: "email name phone?" });
    const { visitor, email, decision } = await reachDecision(search);
    expect(decision.text).toContain('name="field.first_name"');
    expect(await readSavedFields(visitor)).toMatchObject({ email: null, first_name: null });
    const typed = { "field.first_name": "Pat", "field.last_name": "Example", "group.phone": "phone", "field.phone": "+1 202 555 0123" };
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), ...typed });
    expect(extractHeading(response)).toBe("Shared with Acme Solar LLC");
    const fields = { email, first_name: "Pat", last_name: "Example", phone: "+1 202 555 0123" };
    expect(await readSavedFields(visitor)).toMatchObject(fields);
    const redeemed = await redeemCode({ code: /data-code="([^"]+)"/.exec(response.text)?.[1] ?? "", verifier });
    expect(redeemed.body.data.fields).toEqual(fields);
    const trail = (await visitor.get("/v1/me/audit")).body.data;
    const types = [...trail.pending, ...trail.entries].map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(["fields.updated", "share.created"]));
  });

  test("saves nothing with a decision that is refused, and nothing from a group whose box is not checked", async () => {
    const search = searchFor(createVerifier(), { scope: "email name phone?" });
    const { visitor, decision } = await reachDecision(search);
    const token = extractToken(decision);
    await visitor.post(`/authorize/decide${search}`, { token, "field.first_name": "Pat", "field.last_name": " " });
    expect([await readSavedFields(visitor), await countShares(visitor)]).toMatchObject([{ first_name: null }, 0]);
    const typed = { "field.first_name": "Pat", "field.last_name": "Example", "field.phone": "+1 202 555 0123" };
    await visitor.post(`/authorize/decide${search}`, { token, ...typed });
    expect(await readSavedFields(visitor)).toMatchObject({ first_name: "Pat", phone: null });
    expect((await readNewestShare(visitor)).scope).toEqual(["email", "first_name", "last_name"]);
  });

  describe("with an optional group of which only the city is saved", () => {
    const openSheet = async () => {
      const pat = await signInPerson();
      await pat.put("/v1/me/fields", { address_line1: null, address_line2: null, city: "Denver", state: null, zip: null, country: null });
      const visitor = createSignedInVisitor(pat);
      const search = searchFor(createVerifier(), { scope: "email address?" });
      const sheet = await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
      const [, checkbox = ""] = /name="group\.address" value="([^"]*)"/.exec(sheet.text) ?? [];
      return { pat, visitor, search, form: { token: extractToken(sheet), "group.address": checkbox } };
    };

    test("shares no field that was saved after the sheet was shown", async () => {
      const { pat, visitor, search, form } = await openSheet();
      expect((await pat.put("/v1/me/fields", { address_line1: "12 Elm St", zip: "80202" })).status).toBe(200);
      await visitor.post(`/authorize/decide${search}`, form);
      expect((await readNewestShare(visitor)).scope).toEqual(["email", "city"]);
    });

    test("shares nothing and shows the sheet again if a selected box contains none of its fields", async () => {
      const { visitor, search, form } = await openSheet();
      const shown = await visitor.post(`/authorize/decide${search}`, { ...form, "group.address": "on" });
      expect([shown.status, extractHeading(shown), await countShares(visitor)]).toEqual([200, reviewHeading, 0]);
      expect(shown.text).toContain('name="group.address" value="city" id="group-address" checked=""');
      await visitor.post(`/authorize/decide${search}`, form);
      expect((await readNewestShare(visitor)).scope).toEqual(["email", "city"]);
    });

    test("shares a field that was saved after the sheet was shown once the review shows it", async () => {
      const { pat, visitor, search, form } = await openSheet();
      await pat.put("/v1/me/fields", { address_line1: "12 Elm St", zip: "80202" });
      const { text } = await visitor.post(`/authorize/review${search}`, form);
      expect(text).toContain("<bdi>12 Elm St, Denver, 80202</bdi>");
      expect(text).toContain('name="group.address" value="address_line1 city zip" id="group-address" checked=""');
      await visitor.post(`/authorize/decide${search}`, { ...form, "group.address": "address_line1 city zip" });
      expect((await readNewestShare(visitor)).scope).toEqual(["email", "address_line1", "city", "zip"]);
    });

    test("shows the group's inputs if the city was deleted and another field saved", async () => {
      const { pat, visitor, search, form } = await openSheet();
      await pat.put("/v1/me/fields", { city: null, zip: "80202" });
      const refused = await visitor.post(`/authorize/decide${search}`, form);
      expect([refused.status, await countShares(visitor)]).toEqual([400, 0]);
      expect(refused.text).toContain('<a href="#field-city">');
      expect(refused.text).toMatch(/id="field-city"[^>]*aria-invalid="true"/);
      expect(refused.text).toMatch(/id="field-zip"[^>]*value="80202"/);
    });
  });

  test("links each error to its field, which is marked as invalid and keeps what was typed", async () => {
    const search = searchFor(createVerifier(), { scope: "email name country phone?" });
    const { visitor, decision } = await reachDecision(search);
    const typed = {
      "field.first_name": "Pat",
      "field.last_name": "",
      "field.country": "Texas",
      "group.phone": "phone",
      "field.phone": "12",
    };
    const refused = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision), ...typed });
    expect([refused.status, /<title>Error: /.test(refused.text)]).toEqual([400, true]);
    const links = [...refused.text.matchAll(/<a href="#(field-[^"]+)">([^<]+)</g)].map(([, id, text]) => [id, text]);
    expect(links).toEqual([
      ["field-phone", "Enter a phone number, such as +1 415 555 0132."],
      ["field-country", "Choose a country from the list."],
      ["field-last_name", "Enter your last name."],
    ]);
    for (const [id] of links) {
      const input = new RegExp(`<(?:input|select) id="${id}"[^>]*>`).exec(refused.text)?.[0] ?? "";
      expect([id, /aria-invalid="true"/.test(input), input.includes(`aria-describedby="`)]).toEqual([id, true, true]);
      expect(refused.text).toContain(`id="${id}-error"`);
    }
    for (const value of ["Pat", "Texas", "12"]) expect(refused.text).toContain(`value="${value}"`);
    expect(refused.text).toMatch(/id="group-phone" checked=""/);
    expect(await countShares(visitor)).toBe(0);
  });

  test("changes saved details with the decision", async () => {
    const search = searchFor(createVerifier(), { scope: "email name" });
    const { visitor, decision } = await reachDecision(search);
    await visitor.post(`/authorize/decide${search}`, {
      token: extractToken(decision),
      "field.first_name": "Pat",
      "field.last_name": "Example",
    });
    const next = searchFor(createVerifier(), { scope: "email name" });
    await visitor.get(`/authorize${next}`, { referer: `${origin}/` });
    const edit = await visitor.get(`/authorize${next}&edit=1`);
    expect(edit.text).toMatch(/id="field-first_name"[^>]*value="Pat"/);
    const typed = {
      "field.email": (await readSavedFields(visitor)).email ?? "",
      "field.first_name": "Patricia",
      "field.last_name": "Example",
    };
    await visitor.post(`/authorize/decide${next}`, { token: extractToken(edit), ...typed });
    expect(await readSavedFields(visitor)).toMatchObject({ first_name: "Patricia", last_name: "Example" });
    const { id } = await readNewestShare(visitor);
    expect((await getWithApiKey(`/v1/consumers/${id}/current`)).body.data.fields.first_name).toBe("Patricia");
  });

  test("gives consent only when its button is clicked: the Enter key shows the review again with everything that was typed", async () => {
    const search = searchFor(createVerifier(), { scope: "email name phone?" });
    const { visitor, decision } = await reachDecision(search);
    const form = /<form method="post" action="\/authorize\/review[^"]*"[\s\S]*?<\/form>/.exec(decision.text)?.[0] ?? "";
    const [first, ...others] = [...form.matchAll(/<button[^>]*type="submit"[^>]*>/g)].map(([button]) => button);
    expect(first).not.toContain("formaction");
    expect(others.filter((button) => button.includes(`formaction="/authorize/decide`))).toHaveLength(1);
    const typed = { "field.first_name": "Pat", "field.last_name": "Example", "group.phone": "phone", days: "30" };
    const entered = await visitor.post(`/authorize/review${search}`, { token: extractToken(decision), ...typed });
    expect([entered.status, extractHeading(entered)]).toEqual([200, reviewHeading]);
    expect(entered.text).toMatch(/id="field-first_name"[^>]*value="Pat"/);
    expect(entered.text).toMatch(/id="group-phone" checked=""/);
    expect(await countShares(visitor)).toBe(0);
  });
});

describe("every step of the consent sheet", () => {
  test("names the business that is asking and offers Not now", async () => {
    const search = searchFor(createVerifier(), { scope: "email name" });
    const visitor = new Visitor();
    const email = `sheet-${crypto.randomUUID()}@example.com`;
    const steps = [
      await visitor.get(`/authorize${search}`, { referer: `${origin}/` }),
      await visitor.post(`/authorize/passkey${search}`, {}),
      await visitor.post(`/authorize/email${search}`, { email }),
      await visitor.post(`/authorize/code${search}`, { code: "12" }),
      await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) }),
    ];
    for (const step of steps) {
      const asker = /<div class="asker">[\s\S]*?<\/div>/.exec(step.text)?.[0] ?? "";
      expect(asker).toContain("Acme Solar LLC");
      expect(asker).toContain(`${new URL(origin).host} · verified website`);
      expect(step.text).toMatch(/<a class="[^"]*" data-not-now=""[^>]*>Not now<\/a>/);
    }
    expect(steps.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
  });

  test("sends a new code on the code step, and the newest one signs in", async () => {
    const search = searchFor(createVerifier());
    const visitor = new Visitor();
    const email = `sheet-${crypto.randomUUID()}@example.com`;
    await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    const step = await visitor.post(`/authorize/email${search}`, { email });
    expect(listFormActions(step)).toContain("/authorize/new-code");
    expect(step.text).toContain('Send you a solar estimate</bdi></p><p class="quiet">Nothing is shared yet.');
    const first = await findEmailCode(email);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      await clearCodes();
      const repeated = await visitor.post(`/authorize/new-code${search}`, {});
      expect([extractHeading(repeated), repeated.text.includes("Use the code in the most recent email.")]).toEqual([
        "Check your email",
        true,
      ]);
      const second = await findEmailCode(email);
      expect(second).not.toBe(first);
      expect(extractHeading(await visitor.post(`/authorize/code${search}`, { code: second }))).toBe(reviewHeading);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a request without evidence that the business made it", () => {
  const unconfirmed = "We can’t confirm this request";

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ["without a Referer", {}],
    ["from another site", { referer: "https://evil.example/" }],
    ["from a subdomain of the site", { referer: "https://shop.www.example.com/" }],
  ])("is explained before anything is asked when it comes %s, and no step accepts a form", async (_name, headers) => {
    const search = searchFor(createVerifier());
    const visitor = new Visitor();
    const first = await visitor.get(`/authorize${search}`, headers);
    expect([first.status, extractHeading(first), listFormActions(first)]).toEqual([200, unconfirmed, ["/authorize/opened"]]);
    expect(first.text).not.toContain("Send you a solar estimate");
    for (const step of ["email", "new-code", "code", "passkey", "passkey/verify", "review", "decide"]) {
      const response = await visitor.post(`/authorize/${step}${search}`, { email: "pat@example.com", token: extractToken(first) });
      expect([step, response.status, extractHeading(response)]).toEqual([step, 403, unconfirmed]);
    }
  });

  test("cannot be accepted by a signed-in person or with a test client", async () => {
    const person = await signInPerson();
    const live = createSignedInVisitor(person);
    const search = searchFor(createVerifier());
    const first = await live.get(`/authorize${search}`);
    await live.post(`/authorize/decide${search}`, { token: extractToken(first) });
    expect([extractHeading(first), await countShares(live)]).toEqual([unconfirmed, 0]);
    const testSearch = searchFor(createVerifier(), { client_id: world.acme.clients.sandbox });
    const tester = new Visitor();
    const shown = await tester.get(`/authorize${testSearch}`);
    const decided = await tester.post(`/authorize/decide${testSearch}`, { token: extractToken(shown) });
    expect([decided.status, decided.text.includes("data-code")]).toEqual([403, false]);
  });

  test("loses its evidence if its URL is copied to another browser", async () => {
    const search = searchFor(createVerifier());
    await reachDecision(search);
    expect(extractHeading(await new Visitor().get(`/authorize${search}`))).toBe(unconfirmed);
  });

  test("is confirmed by the page that opened the sheet, and the share records that", async () => {
    const search = searchFor(createVerifier());
    const visitor = new Visitor();
    const first = await visitor.get(`/authorize${search}`);
    const token = extractToken(first);
    const wrong = [
      { token, opener_origin: "https://evil.example" },
      { token, opener_origin: "" },
      { token: `${token}x`, opener_origin: origin },
      { opener_origin: origin },
    ];
    for (const form of wrong) expect((await visitor.post(`/authorize/opened${search}`, form)).status).toBe(403);
    const otherResponse = await new Visitor().post(`/authorize/opened${search}`, { token, opener_origin: origin });
    const forged = await visitor.post(`/authorize/opened${search}`, { token, opener_origin: origin }, { "sec-fetch-site": "cross-site" });
    const other = await visitor.post(`/authorize/opened${searchFor(createVerifier())}`, { token, opener_origin: origin });
    expect([otherResponse.status, forged.status, other.status]).toEqual([403, 403, 403]);
    const confirmed = await visitor.post(`/authorize/opened${search}`, { token, opener_origin: origin });
    expect(confirmed.text).toContain('id="sheet-email"');
    expect(confirmed.text).toContain('data-back=""'); // the result goes only to that page, never through a redirect
    const email = `sheet-${crypto.randomUUID()}@example.com`;
    await visitor.post(`/authorize/email${search}`, { email });
    const decision = await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) });
    await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    expect(await readNewestShare(visitor)).toMatchObject({ request_evidence: "message", status: "active" });
  });

  test("is confirmed by the Referer, and the share records that in the business's view and in the audit trail", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await reachDecision(search);
    await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    const { id, request_evidence } = await readNewestShare(visitor);
    expect([request_evidence, (await getWithApiKey(`/v1/shares/${id}`)).body.data.request_evidence]).toEqual(["referer", "referer"]);
    const exported = (await visitor.get("/v1/me/export")).body;
    expect(exported.shares[0].request_evidence).toBe("referer");
  });

  test("is confirmed by a registered return URL, exactly as it was registered", async () => {
    const owner = await signIn(world.ownerEmail);
    const path = `/v1/business/portal/clients/${world.acme.clients.live}`;
    const register = (return_urls: string[]) => call(path, { ...buildJsonRequest({ return_urls }, owner), method: "PATCH" });
    expect((await register([`${origin}/landing`])).body.data.return_urls).toEqual([`${origin}/landing`]);
    const other = await new Visitor().get(`/authorize${searchFor(createVerifier(), { return_url: `${origin}/landing?x=1` })}`);
    expect(extractHeading(other)).toBe(unconfirmed);
    const search = searchFor(createVerifier(), { return_url: `${origin}/landing` });
    const { visitor, decision } = await reachDecision(search, {});
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    expect(response.text).toContain(`${origin}/landing?svc_code=`);
    expect((await readNewestShare(visitor)).request_evidence).toBe("return_url");
    await register([]);
    expect(extractHeading(await new Visitor().get(`/authorize${search}`))).toBe(unconfirmed);
  });

  test("is confirmed by a signature of the business's API key over exactly this request, for an hour", async () => {
    const query = new URLSearchParams(searchFor(createVerifier()));
    const sign = (key: string) => postWithApiKey("/v1/share/requests", Object.fromEntries(query), key);
    expect(describeOutcome(await sign(world.other.keys.live))).toBe("404 client_not_found");
    expect(describeOutcome(await sign(world.acme.keys.sandbox))).toBe("404 client_not_found");
    const signed = (await sign(world.acme.keys.live)).body.data;
    const search = new URL(signed.authorize_url).search;
    expect(search).toContain(encodeURIComponent(signed.request_signature));
    const changeParameter = (name: string, value: string): string => {
      const parameters = new URLSearchParams(search);
      parameters.set(name, value);
      return `/authorize?${parameters}`;
    };
    const changes = {
      purpose: "Call you about loans",
      duration_days: "700",
      disclosure_text: "I agree to everything.",
      scope: "email phone",
    };
    for (const [name, value] of Object.entries(changes))
      expect([name, extractHeading(await new Visitor().get(changeParameter(name, value)))]).toEqual([name, unconfirmed]);
    const late = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(3_600_000) });
    expect((await late(`/authorize${search}`)).text).toContain(unconfirmed);
    const { visitor, decision } = await reachDecision(search, {});
    const response = await visitor.post(`/authorize/decide${search}`, { token: extractToken(decision) });
    expect(response.text).toContain("svc_code=");
    expect((await readNewestShare(visitor)).request_evidence).toBe("request_signature");
  });

  test("is accepted by the API with the person's session, and the share records that", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    expect(share.request_evidence).toBe("api");
    const renewed = await person.post(`/v1/me/shares/${share.id}/renew`, { consent: true });
    expect(renewed.body.data.share.request_evidence).toBe("api");
  });
});

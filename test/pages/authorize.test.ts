// The consent sheet in a browser without scripts: plain forms whose responses redirect to the same URL.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { findEmailCode, clearCodes } from "../support/people.ts";
import { registerPasskey } from "../support/passkeys.ts";
import { createVerifier, describeOutcome, signInPerson, getWithApiKey, redeemCode } from "../support/sharing.ts";
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

/** A browser with its cookies and its current URL. */
class Visitor {
  readonly cookies = new Map<string, string>();
  readonly answers: TestResponse[] = [];

  async #send(path: string, init: RequestInit): Promise<TestResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", "sec-fetch-site": "same-origin", ...(init.headers as object), ...(cookie !== "" && { cookie }) };
    const answer = await call(path, { redirect: "manual", ...init, headers });
    for (const set of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=", 2);
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.answers.push(answer);
    return answer;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    return this.#send(path, { headers });
  }

  async post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    const body = new URLSearchParams(form).toString();
    const answer = await this.#send(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
    return answer.status === 303 ? this.get(answer.headers.get("location") ?? "") : answer;
  }
}

const headingOf = ({ text }: TestResponse): string => (/<h1>(.*?)<\/h1>/s.exec(text)?.[1] ?? "").replaceAll(/<[^>]+>/g, "");
const tokenOf = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";

/** Continues to the decision with the required details filled in. */
const upToDecision = async (search: string, headers: Readonly<Record<string, string>> = { referer: `${origin}/` }) => {
  const visitor = new Visitor();
  const email = `sheet-${crypto.randomUUID()}@example.com`;
  await visitor.get(`/authorize${search}`, headers);
  await visitor.post(`/authorize/email${search}`, { email });
  const details = await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) });
  expect(headingOf(details)).toBe("Your details");
  expect(details.text).toContain(`value="${email}"`);
  const decision = await visitor.post(`/authorize/details${search}`, { email, phone: "+1 202 555 0123" });
  return { visitor, email, decision };
};

/** Continues to the decision of a request without required details, which has no step before it. */
const upToOptional = async (search: string) => {
  const visitor = new Visitor();
  const email = `sheet-${crypto.randomUUID()}@example.com`;
  await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
  await visitor.post(`/authorize/email${search}`, { email });
  await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) });
  const decision = await visitor.post(`/authorize/details${search}`, { email, phone: "+1 202 555 0123" });
  return { visitor, decision };
};

describe("the consent sheet", () => {
  test("signs in, asks for missing details, takes the decision, and returns a code that redeems", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier);
    const { visitor, email, decision } = await upToDecision(search);
    expect(headingOf(decision)).toBe("Share details with Acme Solar LLC?");
    expect(decision.text).toContain(email);
    expect(decision.text).toMatch(/name="group\.phone" value="on" id="group-phone"\/>/); // a checkbox that is not checked
    const done = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision), days: "30" });
    expect(headingOf(done)).toBe("Shared with Acme Solar LLC");
    const back = new URL((/href="([^"]+)"[^>]*>Go back to/.exec(done.text)?.[1] ?? "").replaceAll("&amp;", "&"));
    expect(`${back.origin}${back.pathname}`).toBe(`${origin}/quote`);
    expect([back.searchParams.get("step"), back.searchParams.get("svc_state")]).toEqual(["2", "xyz"]);
    const redeemed = await redeemCode({ code: back.searchParams.get("svc_code") ?? "", verifier });
    expect(redeemed.body.data).toMatchObject({ scope: ["email"], fields: { email } });
    const share = (await getWithApiKey(`/v1/shares/${redeemed.body.data.share_id}`)).body.data;
    expect(share.duration_days).toBe(30);
    const later = await visitor.get(`/authorize${search}`);
    expect([later.status, headingOf(later)]).toEqual([409, "You have already decided this"]);
  });

  test("shows a name as it was written, and an address with commas", async () => {
    const search = searchFor(createVerifier(), { scope: "name address" });
    const visitor = new Visitor();
    const email = `sheet-${crypto.randomUUID()}@example.com`;
    await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    await visitor.post(`/authorize/email${search}`, { email });
    await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(email) });
    const typed = {
      first_name: "Pat",
      last_name: "Example",
      address_line1: "12 Long Street",
      city: "Testville",
      zip: "94000",
      country: "US",
    };
    const decision = await visitor.post(`/authorize/details${search}`, typed);
    expect(decision.text).toContain("<bdi>Pat Example</bdi>");
    expect(decision.text).toContain("<bdi>12 Long Street, Testville, 94000, US</bdi>");
  });

  test("P22: keeps the connection to the opening window on every response", async () => {
    const { visitor, decision } = await upToDecision(searchFor(createVerifier()));
    await visitor.post(`/authorize/decide${searchFor(createVerifier())}`, { token: tokenOf(decision) });
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

  test.each<readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ["without a Referer", {}, {}],
    ["from another site", { referer: "https://evil.example/" }, {}],
    ["from a subdomain of the site", { referer: "https://shop.www.example.com/" }, {}],
    ["to another origin", { referer: `${origin}/` }, { return_url: "https://evil.example/" }],
    ["to another port", { referer: `${origin}/` }, { return_url: `${origin}:8443/` }],
    ["to a URL with a user name", { referer: `${origin}/` }, { return_url: origin.replace("https://", "https://user@") }],
  ])("P21: sends no code by redirect when requested %s", async (_name, headers, change) => {
    const search = searchFor(createVerifier(), change);
    const { visitor, decision } = await upToDecision(search, headers);
    const done = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision) });
    expect(headingOf(done)).toBe("Shared with Acme Solar LLC");
    expect(done.text).not.toContain("svc_code=");
    expect(decision.text).toContain("Scripts are off here, and without them nothing decided here can reach");
  });

  test("P25: takes one decision when submitted several times", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await upToDecision(search);
    const token = tokenOf(decision);
    const codes = [];
    for (const form of [{ token }, { token, "group.phone": "on" }, { token }])
      codes.push(/data-code="([^"]+)"/.exec((await visitor.post(`/authorize/decide${search}`, form)).text)?.[1]);
    expect(new Set(codes).size).toBe(1);
    expect(codes[0]).toMatch(/^ac_00/);
  });

  test("P11: binds a decision to the request, the browser and the person it was shown to", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await upToDecision(search);
    const token = tokenOf(decision);
    const other = searchFor(createVerifier());
    expect(headingOf(await visitor.post(`/authorize/decide${other}`, { token }))).toBe("Share details with Acme Solar LLC?");
    const elsewhere = await upToDecision(search);
    expect(headingOf(await elsewhere.visitor.post(`/authorize/decide${search}`, { token }))).toBe("Share details with Acme Solar LLC?");
    const forged = await visitor.post(`/authorize/decide${search}`, { token }, { "sec-fetch-site": "cross-site" });
    expect(forged.status).toBe(403);
  });

  test("ends a request that is older than ten minutes and offers to start again", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await upToDecision(search);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
    try {
      const late = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision) });
      expect([late.status, headingOf(late)]).toEqual([400, "This took longer than 10 minutes"]);
      expect(headingOf(await visitor.get(`/authorize${search}`))).toBe("Share details with Acme Solar LLC?");
    } finally {
      vi.useRealTimers();
    }
  });

  test("restores the person's own choices, and nothing that a URL or another site supplies", async () => {
    const search = searchFor(createVerifier());
    const { visitor, decision } = await upToDecision(search);
    const ticked = /id="group-phone" checked=""/;
    const shorter = /id="days-30" checked=""/;
    const choice = { token: tokenOf(decision), "group.phone": "on", days: "30" };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
    try {
      const late = await visitor.post(`/authorize/decide${search}`, choice);
      expect(headingOf(late)).toBe("This took longer than 10 minutes");
      const hiddenFields = [...late.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)"/g)].map(([, name, value]) => [
        name,
        value,
      ]);
      const again = await visitor.post(`/authorize/again${search}`, Object.fromEntries(hiddenFields));
      expect([again.status, headingOf(again)]).toEqual([200, "Share details with Acme Solar LLC?"]);
      expect([ticked.test(again.text), shorter.test(again.text)]).toEqual([true, true]);
      const byAddress = await visitor.get(`/authorize${search}&group.phone=on&days=30`);
      const byOtherToken = await visitor.post(`/authorize/again${search}`, { ...choice, token: `${choice.token}x` });
      for (const { text, status } of [byAddress, byOtherToken])
        expect([status, ticked.test(text), shorter.test(text)]).toEqual([200, false, false]);
      const forged = await visitor.post(`/authorize/again${search}`, choice, { "sec-fetch-site": "cross-site" });
      expect(forged.status).toBe(403);
      const done = await visitor.post(`/authorize/decide${search}`, { ...choice, token: tokenOf(again) });
      expect(done.text).toContain("E-mail and phone");
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ["the decision", "decide", 0],
    ["the form of an expired request", "again", 11],
  ])("keeps the choices when the person is signed out before submitting %s", async (_name, step, minutes) => {
    const search = searchFor(createVerifier(), { scope: "email phone? name? address?" });
    const { visitor, email, decision } = await upToDecision(search);
    const chosen = ({ text }: TestResponse) => [/id="group-phone" checked=""/.test(text), /id="days-30" checked=""/.test(text)];
    const choice = { token: tokenOf(decision), "group.phone": "on", "group.name": "on", "group.address": "on", days: "30" };
    const signIn = async (address: string): Promise<TestResponse> => {
      await visitor.post(`/authorize/email${search}`, { email: address });
      return visitor.post(`/authorize/code${search}`, { code: await findEmailCode(address) });
    };
    const signedOut = async (): Promise<TestResponse> => {
      await visitor.post("/v1/auth/logout", {});
      return visitor.post(`/authorize/${step}${search}`, choice);
    };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
    try {
      const response = await signedOut();
      expect(response.text).toContain('id="sheet-email"');
      const again = await signIn(email);
      expect([headingOf(again), ...chosen(again)]).toEqual(["Share details with Acme Solar LLC?", true, true]);
      expect(chosen(await visitor.get(`/authorize${search}`))).toEqual([false, false]); // the message is shown only once
      await signedOut();
      const other = `sheet-${crypto.randomUUID()}@example.com`;
      await signIn(other);
      const theirs = await visitor.post(`/authorize/details${search}`, { email: other, phone: "+1 202 555 0124" });
      expect([headingOf(theirs), ...chosen(theirs)]).toEqual(["Share details with Acme Solar LLC?", false, false]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("keeps the selected duration when nothing was selected to share", async () => {
    const search = searchFor(createVerifier(), { scope: "email? phone?" });
    const { visitor, decision } = await upToOptional(search);
    const nothing = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision), days: "90" });
    expect([nothing.status, /id="days-90" checked=""/.test(nothing.text)]).toEqual([400, true]);
    expect(nothing.text).toMatch(/<title>Error: /);
  });

  test("issues another code for the same decision when every detail was optional", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier, { scope: "email? phone?" });
    const { visitor, decision } = await upToOptional(search);
    await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision), "group.phone": "on" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 70_000 });
    try {
      const late = await visitor.get(`/authorize${search}`);
      expect(headingOf(late)).toBe("You have decided this");
      const again = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(late), again: "on" });
      expect(headingOf(again)).toBe("Shared with Acme Solar LLC");
      const redeemed = await redeemCode({ code: /data-code="([^"]+)"/.exec(again.text)?.[1] ?? "", verifier });
      expect(redeemed.body.data).toMatchObject({ scope: ["phone"], fields: { phone: "+1 202 555 0123" } });
    } finally {
      vi.useRealTimers();
    }
  });

  test.each<readonly [number, string, Readonly<Record<string, string>>]>([
    [404, "This request is broken", { client_id: "pc_live_00000000000000000000000000" }],
    [403, "This request comes from the wrong place", { origin: "https://evil.example" }],
    [400, "This request is broken", { code_challenge_method: "plain" }],
    [400, "This request is broken", { scope: "shoe_size" }],
    [
      402,
      "This business cannot take shares at the moment",
      { client_id: world.examples.suspended.clients.live, origin: "https://example.com" },
    ],
  ])("explains why no decision is possible: %i %s", async (status, heading, change) => {
    const answer = await new Visitor().get(`/authorize${searchFor(createVerifier(), change)}`);
    expect([answer.status, headingOf(answer)]).toEqual([status, heading]);
    expect(answer.text).not.toContain("<form");
  });

  test("signs in with a passkey inside the sheet, and offers the code when the passkey is refused", async () => {
    const by = await signInPerson();
    const { authenticator } = await registerPasskey(by.headers);
    const search = searchFor(createVerifier());
    const visitor = new Visitor();
    const first = await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    expect(first.text).toMatch(/<form[^>]*action="\/authorize\/passkey\?[^>]*hidden/);
    const response = await visitor.post(`/authorize/passkey${search}`, {});
    const options = JSON.parse((/data-options="([^"]+)"/.exec(response.text)?.[1] ?? "").replaceAll("&quot;", '"'));
    const credential = JSON.stringify(await authenticator.sign(options));
    const refused = await visitor.post(`/authorize/passkey/answer${search}`, { credential: "{}" });
    expect([headingOf(refused), refused.text.includes("The passkey was not accepted.")]).toEqual([
      "Share details with Acme Solar LLC?",
      true,
    ]);
    const foreign = await visitor.post(`/authorize/passkey/answer${search}`, { credential }, { "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(403);
    const decision = await visitor.post(`/authorize/passkey/answer${search}`, { credential });
    expect(decision.text).toContain(by.email);
    const done = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision) });
    expect(headingOf(done)).toBe("Shared with Acme Solar LLC");
    for (const { headers } of visitor.answers) expect(headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    const thief = new Visitor();
    expect((await thief.post(`/authorize/passkey/answer${search}`, { credential })).text).toContain("The passkey was not accepted.");
  });

  test("needs no sign-in for a test client and shares a test person's details", async () => {
    const verifier = createVerifier();
    const search = searchFor(verifier, { client_id: world.acme.clients.sandbox, scope: "email name" });
    const visitor = new Visitor();
    const decision = await visitor.get(`/authorize${search}`, { referer: `${origin}/` });
    expect(decision.text).toContain("Test. Nobody’s real details. Nobody is told.");
    const done = await visitor.post(`/authorize/decide${search}`, { token: tokenOf(decision), persona: "minimal" });
    const code = /data-code="([^"]+)"/.exec(done.text)?.[1] ?? "";
    const redeemed = await redeemCode({ code, verifier }, { client_id: world.acme.clients.sandbox });
    expect(redeemed.body.data.fields).toEqual({ email: "sandbox@example.com", first_name: "Sandy", last_name: null });
    expect(describeOutcome(await getWithApiKey(`/v1/shares/${redeemed.body.data.share_id}`))).toBe("404 not_found");
  });

  test("uses the language of the requesting page until the person selects another", async () => {
    const visitor = new Visitor();
    expect((await visitor.get(`/authorize${searchFor(createVerifier(), { locale: "es" })}`)).text).toContain("¿Compartir datos con");
    const chosen = await visitor.get(`/authorize${searchFor(createVerifier(), { locale: "es", lang: "fr-CA" })}`);
    expect(chosen.text).toContain("Partager vos renseignements avec");
    expect(chosen.text).toMatch(/href="\?client_id=[^"]*&amp;lang=en"/);
    const search = searchFor(createVerifier(), { locale: "es", lang: "fr-CA" });
    const wrong = await visitor.post(`/authorize/email${search}`, { email: "pat" });
    expect(wrong.status).toBe(400);
    const switched = await visitor.get(`/authorize/email${search}`); // follows the links on that page
    expect([switched.status, switched.headers.get("location")]).toEqual([303, `/authorize${search}`]);
  });

  test("uses that language on error pages too, and keeps the request in every other language", async () => {
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

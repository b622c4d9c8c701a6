// Tests connecting an agent by OAuth: discovery, the authorization page, and the exchange of a code for a token.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PageFetchResult, PageRequest } from "../../core/access/outbound-page.ts";
import { buildApp } from "../../workers/app.ts";
import { deleteExpired } from "../../workers/background/expiry-sweep.ts";
import { StorageFault } from "../../storage/faults.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { callTool, createToken, createTokenWith, postToAgentServer, callMethod } from "../support/agents.ts";
import { createServicesWith } from "../support/changed-services.ts";
import {
  getAuthorizationCode,
  parseRedirectParameters,
  buildAuthorizePath,
  createChallenge,
  openConsentPage,
  postDecision,
  exchangeCode,
  buildForm,
  loopback,
  postRegistration,
  registerClient,
  verifier,
} from "../support/oauth-connection.ts";
import { clearCodes, findEmailCode, listMailTo, signIn } from "../support/people.ts";
import { call, readDatabaseContents, productionSettings, createServiceCall, world, type TestResponse } from "../support/world.ts";

let clock = Date.now();
// Each test runs two hours later than the one before, because all tests together make more decisions than one person may make per hour.
beforeEach(async () => {
  clock += 7_200_000;
  vi.useFakeTimers({ toFake: ["Date"], now: clock });
  await env.DB.batch([
    env.DB.prepare("DELETE FROM agent_tokens"),
    env.DB.prepare("DELETE FROM oauth_codes"),
    env.DB.prepare("DELETE FROM oauth_clients"),
  ]);
});
afterEach(() => {
  vi.useRealTimers();
});

type Session = { readonly cookie: string };
const signInAsPat = (): Promise<Session> => signIn(world.consumerEmail, "consumer");
const signInAsOwner = (): Promise<Session> => signIn(world.ownerEmail);
const atOnce = Number(env.AT_ONCE); // `npm run stress` sets 1,000
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error ?? "ok"}`;
/** Returns the actor in the newest entry about a revoked token in the person's audit trail. */
const readRevoker = async (session: Session): Promise<unknown> => {
  const { entries } = (await call("/v1/me/audit", { headers: session })).body.data;
  return entries.find(({ type }: { type: string }) => type === "agent_token.revoked")?.payload.actor;
};
const count = async (table: "agent_tokens" | "oauth_codes"): Promise<unknown> =>
  env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first("n");

describe("discovery", () => {
  test("returns the metadata URL and the scope with a 401", async () => {
    const response = await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" });
    const challenge = 'Bearer resource_metadata="http://svc.test/.well-known/oauth-protected-resource/mcp", scope="svc:agent"';
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge]);
    const tried = await callMethod("pat_00wrong", "ping");
    expect(tried.headers.get("www-authenticate")).toBe(`${challenge}, error="invalid_token"`);
  });

  test("serves the resource and issuer metadata to any origin", async () => {
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      const { status, body, headers } = await call(path, { headers: { origin: "https://inspector.example" } });
      expect([status, headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
      expect(body).toEqual({
        resource: "http://svc.test/mcp",
        authorization_servers: ["http://svc.test"],
        scopes_supported: ["svc:agent"],
        bearer_methods_supported: ["header"],
        resource_name: "svc",
      });
    }
    const { body } = await call("/.well-known/oauth-authorization-server");
    expect(body).toMatchObject({
      issuer: "http://svc.test",
      authorization_endpoint: expect.stringMatching(/\/oauth\/authorize$/),
      token_endpoint: "http://svc.test/oauth/token",
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    expect(body.token_endpoint_auth_methods_supported).toContain("none");
    expect(JSON.stringify(body)).not.toContain("offline_access");
  });

  test("returns a JSON 404 for other well-known names", async () => {
    for (const path of [
      "openid-configuration",
      "openid-configuration/mcp",
      "oauth-authorization-server/mcp",
      "oauth-protected-resource/other",
      "mcp",
    ]) {
      const { status, headers } = await call(`/.well-known/${path}`, { headers: { accept: "text/html" } });
      expect([path, status, headers.get("content-type")]).toEqual([path, 404, expect.stringContaining("application/json")]);
    }
  });

  test("uses the agent server's host in production and the app's host for the authorization page", async () => {
    const paths = ["/.well-known/oauth-authorization-server", "/oauth/register", "/oauth/token"];
    const readStatusesAt = async (host: string) => {
      const service = createServiceCall(productionSettings, host);
      return Promise.all(paths.map(async (path) => (await service(path, path.startsWith("/oauth") ? { method: "POST" } : {})).status));
    };
    expect(await readStatusesAt("https://mcp.svc.test")).toEqual([200, 400, 400]);
    expect(await readStatusesAt("https://app.svc.test")).toEqual([404, 404, 404]);
    expect(await readStatusesAt("https://api.svc.test")).toEqual([404, 404, 404]);
    expect((await createServiceCall(productionSettings, "https://app.svc.test")("/oauth/authorize")).status).toBe(400);
    expect((await createServiceCall(productionSettings, "https://mcp.svc.test")("/oauth/authorize")).status).toBe(404);
    const { body } = await createServiceCall(productionSettings, "https://mcp.svc.test")(paths[0] as string);
    expect([body.issuer, body.authorization_endpoint]).toEqual(["https://mcp.svc.test", "https://app.svc.test/oauth/authorize"]);
  });
});

describe("a person", () => {
  test("connects a program and gets an agent token for 90 days that can be revoked like any other", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    const { page, sealed } = await openConsentPage(client, session);
    expect(page.status).toBe(200);
    const sent = await postDecision(sealed, "allow", session);
    expect(sent.status).toBe(303);
    expect(sent.headers.get("location")?.startsWith(`${loopback}?`)).toBe(true);
    const parameters = parseRedirectParameters(sent);
    expect([parameters.get("state"), parameters.get("iss")]).toEqual(["a state", "http://svc.test"]);
    const exchanged = await exchangeCode(parameters.get("code") ?? "", client);
    expect(exchanged.body).toEqual({
      access_token: expect.stringMatching(/^pat_00/),
      token_type: "Bearer",
      expires_in: 7_776_000,
      scope: "svc:agent",
    });
    expect(exchanged.headers.get("cache-control")).toBe("no-store");
    const token = exchanged.body.access_token;
    expect((await callTool(token, "svc_get_audit")).body.result.isError).toBe(false);
    const { agent_tokens: listed } = (await call("/v1/me/agent-tokens", { headers: session })).body.data;
    expect(listed).toMatchObject([
      { name: "Helper", source: "oauth", client: { name: "Helper", host: null, verified: false }, redirect_host: "127.0.0.1" },
    ]);
    await createTokenWith("consumer", session, { name: "Pasted" });
    const { agent_tokens: both } = (await call("/v1/me/agent-tokens", { headers: session })).body.data;
    expect(both).toContainEqual(expect.objectContaining({ name: "Pasted", source: "minted", client: null, redirect_host: null }));
    await call(`/v1/me/agent-tokens/${listed[0].id}`, { method: "DELETE", headers: session });
    expect((await callMethod(token, "ping")).status).toBe(401);
  });

  test("connects a program for a business whose token cannot read a person's records", async () => {
    const client = await registerClient();
    const { page } = await openConsentPage(client, await signInAsOwner());
    expect(page.text).toContain("Acme Solar LLC");
    expect(page.text).toMatch(/ account\. Signed in as .+ \(owner\)/);
    // The page shows just enough for people to recognize their address, because others may see the screen.
    expect(page.text).not.toContain(world.ownerEmail);
    const { access_token: token } = (await exchangeCode(await getAuthorizationCode(client, await signInAsOwner()), client)).body;
    expect((await callTool(token, "svc_list_events")).body.result.isError).toBe(false);
    expect((await callTool(token, "svc_update_field", { field: "city", value: "x" })).body.result.isError).toBe(true);
  });

  test("signs in with forms alone and returns to the same request", async () => {
    const client = await registerClient();
    const path = buildAuthorizePath(client);
    const first = await call(path);
    expect([first.status, first.text.includes("<script")]).toEqual([200, false]);
    const search = path.slice("/oauth/authorize".length);
    const response = await call(`/oauth/authorize/email${search}`, buildForm({ email: world.consumerEmail, as: "consumer" }));
    expect(response.status).toBe(303);
    const back = response.headers.get("location") ?? "";
    expect(back).toContain("as=consumer");
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
    expect((await call(back, { headers: { cookie } })).text).toContain("one-time-code");
    const code = await findEmailCode(world.consumerEmail);
    const signed = await call(back.replace("/authorize?", "/authorize/code?"), buildForm({ code }, { cookie }));
    const session = (signed.headers.getSetCookie().find((one) => one.startsWith("svc_session=")) ?? "").split(";")[0] as string;
    const page = await call(signed.headers.get("location") ?? "", { headers: { cookie: session } });
    expect(page.text).toContain('name="request"');
  });

  test("sees which program is asking on every step, can ask for a new code, and can decline before signing in", async () => {
    const client = await registerClient();
    const path = buildAuthorizePath(client);
    const first = await call(path);
    const response = await call(
      path.replace("/authorize?", "/authorize/email?"),
      buildForm({ email: world.consumerEmail, as: "consumer" }),
    );
    const back = response.headers.get("location") ?? "";
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
    const code = await call(back, { headers: { cookie } });
    const wrong = await call(back.replace("/authorize?", "/authorize/code?"), buildForm({ code: "12" }, { cookie }));
    const { page } = await openConsentPage(client, await signInAsPat());
    for (const step of [first, code, wrong, page]) {
      const asker = /<div class="asker">[\s\S]*?<\/div>/.exec(step.text)?.[0] ?? "";
      for (const word of ["Helper", "We couldn’t verify it", "An app on this device"]) expect(asker).toContain(word);
    }
    for (const step of [first, code, wrong]) {
      const declined = new URL((/<a[^>]*href="([^"]+)"[^>]*>Don’t allow</.exec(step.text)?.[1] ?? "").replaceAll("&amp;", "&"));
      expect([declined.href.startsWith(loopback), declined.searchParams.get("error")]).toEqual([true, "access_denied"]);
    }
    vi.setSystemTime(clock + 61_000);
    await clearCodes();
    const repeated = await call(back.replace("/authorize?", "/authorize/new-code?"), buildForm({}, { cookie }));
    const resent = await call(repeated.headers.get("location") ?? "", { headers: { cookie } });
    expect(resent.text).toContain("Use the code in the most recent email.");
    const newest = await findEmailCode(world.consumerEmail);
    const signed = await call(back.replace("/authorize?", "/authorize/code?"), buildForm({ code: newest }, { cookie }));
    expect(signed.headers.getSetCookie().some((one) => one.startsWith("svc_session="))).toBe(true);
  });

  test("sees in three languages which program is asking and what is not verified, and viewing writes nothing", async () => {
    const before = await readDatabaseContents();
    const client = await registerClient();
    const session = await signInAsPat();
    const seen = await readDatabaseContents();
    for (const [lang, words] of [
      ["en", ["We couldn’t verify it", "An app on this device", "Share your details, add details to a share, or renew a share"]],
      ["es", ["svc no pudo verificarlo", "Una aplicación de este dispositivo", "ampliar lo que usted comparte ni renovar un permiso"]],
      ["fr-CA", ["svc n’a pas pu le vérifier", "Une application sur cet appareil", "en ajouter à un partage ou renouveler"]],
    ] as const) {
      const { page } = await openConsentPage(client, session, { lang });
      for (const word of words) expect(page.text, lang).toContain(word);
      expect(page.headers.get("content-security-policy")).toContain("form-action 'self' http://127.0.0.1:7777;");
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(page.headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    }
    expect(await readDatabaseContents()).toEqual(seen);
    expect(before.oauth_codes).toEqual(seen.oauth_codes);
  });

  test("keeps the opener window, regardless of the response", async () => {
    const session = await signInAsPat();
    const path = buildAuthorizePath(await registerClient());
    const step = (name: string): string => path.replace("?", `/${name}?`);
    const full = createServiceCall({ LIMIT_OAUTH_AUTHORIZE_PER_IP: "1/60", LIMIT_AUTH_VERIFY_PER_IP: "1/60", DEV_RATE_SCALE: "1" });
    const throwUnavailable = (): never => {
      throw new Error("D1_ERROR: away");
    };
    const callDuringOutage = createServiceCall({ DB: { prepare: throwUnavailable, batch: throwUnavailable } });
    await full(path);
    await full(step("code"), buildForm({ code: "123456" }));
    const responses: Record<string, TestResponse> = {
      "200 nobody signed in": await call(path),
      "400 an unknown program": await call("/oauth/authorize?client_id=nobody"),
      "403 a foreign form": await call(step("code"), buildForm({ code: "123456" }, { "sec-fetch-site": "cross-site" })),
      "303 no code was asked for": await call(step("code"), buildForm({ code: "123456" })),
      "429 too often": await full(path),
      "429 too many forms": await full(step("code"), buildForm({ code: "123456" })),
      "404 an invalid link": await call("/oauth/end/tok_none?t=none"),
      "503 an outage": await callDuringOutage(path, { headers: session }),
    };
    for (const [name, { status, headers }] of Object.entries(responses)) {
      expect(status, name).toBe(Number(name.slice(0, 3)));
      expect(headers.get("cross-origin-opener-policy"), name).toBe("unsafe-none");
    }
  });

  test("denies access: the program gets access_denied and nothing is written", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    const { sealed } = await openConsentPage(client, session);
    const parameters = parseRedirectParameters(await postDecision(sealed, "deny", session));
    expect([parameters.get("error"), parameters.get("state"), parameters.get("iss")]).toEqual([
      "access_denied",
      "a state",
      "http://svc.test",
    ]);
    expect(await count("oauth_codes")).toBe(0);
  });

  test("allows access once, however often the button is pressed", async () => {
    const session = await signInAsPat();
    const { sealed } = await openConsentPage(await registerClient(), session);
    const responses = await Promise.all(Array.from({ length: 8 }, () => postDecision(sealed, "allow", session)));
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409, 409, 409, 409, 409]);
    expect(await count("oauth_codes")).toBe(1);
  });

  test("gets an email about each connection with a link that ends it", async () => {
    const client = await registerClient();
    const { access_token: token } = (await exchangeCode(await getAuthorizationCode(client, await signInAsPat()), client)).body;
    const mail = (await listMailTo(world.consumerEmail)).find(({ text }) => text.includes("/oauth/end/"));
    expect(mail?.text).toContain("Helper");
    const link = new URL(/https?:\/\/\S+\/oauth\/end\/\S+/.exec(mail?.text ?? "")?.[0] as string);
    const path = `${link.pathname}${link.search}`;
    const response = await call(path);
    expect(response.status).toBe(200);
    for (const words of ["Disconnect this assistant?", "Helper", "We couldn’t verify it"]) expect(response.text).toContain(words);
    expect(response.text).toMatch(/Connected \d{1,2} [A-Z][a-z]+ \d{4}</);
    expect((await callMethod(token, "ping")).status).toBe(200);
    for (const wrong of [
      link.pathname,
      `${link.pathname}?t=x`,
      path.replace(/\w\?t=/, (text) => (text[0] === "0" ? `1${text.slice(1)}` : `0${text.slice(1)}`)),
    ])
      expect((await call(wrong, buildForm({}))).status).toBe(404);
    expect((await callMethod(token, "ping")).status).toBe(200);
    const ended = await call(path, buildForm({}));
    expect([ended.status, ended.text.includes("Assistant disconnected"), ended.text.includes("Helper")]).toEqual([200, true, true]);
    expect((await callMethod(token, "ping")).status).toBe(401);
    for (const used of [await call(path), await call(path, buildForm({}))]) {
      expect([used.status, used.text.includes("Already disconnected"), used.text.includes("Helper")]).toEqual([200, true, true]);
      expect(used.text).not.toContain("<form");
    }
  });

  test("can replace an earlier connection of the same program or keep both", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    const isConnected = "This assistant is already connected";
    expect((await openConsentPage(client, session)).page.text).not.toContain(isConnected);
    const first = (await exchangeCode(await getAuthorizationCode(client, session), client)).body.access_token;
    const { page } = await openConsentPage(client, session);
    for (const words of ['value="replace"', isConnected, "the earlier connection, it loses access", "If you keep both"])
      expect(page.text).toContain(words);
    const second = (await exchangeCode(await getAuthorizationCode(client, session), client)).body.access_token;
    const other = await createToken("consumer");
    const third = (await exchangeCode(await getAuthorizationCode(client, session, {}, "replace"), client)).body.access_token;
    const states = [first, second, third, other.token].map(async (token) => (await callMethod(token, "ping")).status);
    expect(await Promise.all(states)).toEqual([401, 401, 200, 200]);
  });
});

describe("a person with ten assistants", () => {
  const createTenTokens = async (session: Session): Promise<void> => {
    for (let at = 0; at < 10; at += 1) expect((await createTokenWith("consumer", session, { name: `Number ${at}` })).status).toBe(201);
  };
  const extractTokenIds = (text: string): string[] =>
    [...text.matchAll(/name="token_id" value="(tok_[^"]+)"/g)].map(([, id]) => id as string);
  const endOne = (client: string, token_id: string, headers: Record<string, string>) =>
    call(buildAuthorizePath(client).replace("/authorize?", "/authorize/end-one?"), buildForm({ token_id }, headers));

  test("must end one of ten connections on the page before allowing an eleventh", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    await createTenTokens(session);
    const { page } = await openConsentPage(client, session);
    const ids = extractTokenIds(page.text);
    expect([ids.length, page.text.includes('value="allow"'), page.text.includes('value="deny"')]).toEqual([10, false, true]);
    expect(page.text.indexOf("Number 3")).toBeLessThan(page.text.indexOf("This assistant can’t"));
    const ended = await endOne(client, ids[0] as string, session);
    expect([ended.status, ended.headers.get("location")?.startsWith("/oauth/authorize?")]).toEqual([303, true]);
    const after = await openConsentPage(client, session);
    expect([extractTokenIds(after.page.text), after.page.text.includes('value="allow"')]).toEqual([[], true]);
    expect(describeOutcome(await exchangeCode(await getAuthorizationCode(client, session), client))).toBe("200 ok");
    expect(await count("agent_tokens")).toBe(11);
  });

  test("can still replace the connection of the same program", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    await exchangeCode(await getAuthorizationCode(client, session), client);
    for (let at = 0; at < 9; at += 1) await createTokenWith("consumer", session);
    const { page } = await openConsentPage(client, session);
    expect([page.text.includes('value="replace"'), page.text.includes('value="allow"')]).toEqual([true, false]);
    expect([page.text.includes("the earlier connection, it loses access"), page.text.includes("If you keep both")]).toEqual([true, false]);
    expect(describeOutcome(await exchangeCode(await getAuthorizationCode(client, session, {}, "replace"), client))).toBe("200 ok");
  });

  test("cannot end a connection from another site, without a session, or for another person", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    await createTenTokens(session);
    const [id = ""] = extractTokenIds((await openConsentPage(client, session)).page.text);
    expect((await endOne(client, id, { ...session, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await endOne(client, id, { cookie: "" })).status).toBe(303);
    expect((await endOne(client, id, await signInAsOwner())).status).toBe(303);
    expect((await endOne(client, id, await signIn("somebody-else@example.com", "consumer"))).status).toBe(303);
    expect(extractTokenIds((await openConsentPage(client, session)).page.text)).toHaveLength(10);
  });

  test("gets 409 token_limit from the API, and 201 after a DELETE", async () => {
    const session = await signInAsPat();
    await createTenTokens(session);
    expect((await createTokenWith("consumer", session)).body.error.code).toBe("token_limit");
    const { agent_tokens: listed } = (await call("/v1/me/agent-tokens", { headers: session })).body.data;
    await call(`/v1/me/agent-tokens/${listed[0].id}`, { method: "DELETE", headers: session });
    expect((await createTokenWith("consumer", session)).status).toBe(201);
  });
});

describe("the authorization form", () => {
  test("shows the same request in another language if a form returned the page", async () => {
    const path = buildAuthorizePath(await registerClient());
    const atStep = path.replace("/oauth/authorize?", "/oauth/authorize/email?");
    expect((await call(atStep, buildForm({ email: "none", as: "consumer" }))).status).toBe(400);
    const redirect = await call(`${atStep}&lang=es`, { redirect: "manual" });
    expect(redirect.status).toBe(303);
    const shown = await call(redirect.headers.get("location") as string);
    expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/<html lang="es".*id="connect-email"/s)]);
  });

  test("keeps the request in the language links of an error page", async () => {
    const { status, text } = await call(buildAuthorizePath(await registerClient(), { response_type: "token" }));
    const link = /<a href="([^"]*)" lang="es"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(status).toBe(400);
    expect(new URLSearchParams(link).get("response_type")).toBe("token");
  });

  test("is valid for one person and session, for ten minutes and only from our own page", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    const { sealed } = await openConsentPage(client, session);
    const edited = `${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`;
    expect((await postDecision(sealed, "allow", await signInAsPat())).status).toBe(400);
    expect((await postDecision(sealed, "allow", await signInAsOwner())).status).toBe(400);
    expect((await postDecision(sealed, "allow", { cookie: "" })).status).toBe(400);
    expect((await postDecision(edited, "allow", session)).status).toBe(400);
    for (const foreign of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }])
      expect((await postDecision(sealed, "allow", { ...session, ...foreign })).status).toBe(403);
    vi.setSystemTime(clock + 600_001);
    expect((await postDecision(sealed, "allow", session)).status).toBe(400);
    expect(await count("oauth_codes")).toBe(0);
  });
});

describe("a code", () => {
  test("becomes one token when many exchange it concurrently", async () => {
    const client = await registerClient();
    const code = await getAuthorizationCode(client, await signInAsPat());
    const responses = await Promise.all(Array.from({ length: atOnce }, () => exchangeCode(code, client)));
    const succeeded = responses.filter(({ status }) => status === 200);
    expect(succeeded).toHaveLength(1);
    expect(new Set(responses.filter(({ status }) => status !== 200).map(describeOutcome))).toEqual(new Set(["400 invalid_grant"]));
    expect(await count("agent_tokens")).toBe(1);
    expect((await callMethod(succeeded[0]?.body.access_token, "ping")).status).toBe(200);
  });

  test("is not used up by a request with a missing or wrong parameter", async () => {
    const client = await registerClient();
    const other = await registerClient({ client_name: "Other" });
    const code = await getAuthorizationCode(client, await signInAsPat());
    const wrong: readonly [object, string][] = [
      [{ code_verifier: `${verifier}x` }, "400 invalid_grant"],
      [{ code_verifier: "short" }, "400 invalid_grant"],
      [{ code_verifier: createChallenge(verifier) }, "400 invalid_grant"],
      [{ code_verifier: null }, "400 invalid_request"],
      [{ code_verifier: "" }, "400 invalid_request"],
      [{ redirect_uri: "http://127.0.0.1:7778/callback" }, "400 invalid_grant"],
      [{ redirect_uri: null }, "400 invalid_request"],
      [{ client_id: other }, "400 invalid_grant"],
      [{ client_id: "https://claude.ai/oauth/other" }, "400 invalid_grant"],
      [{ client_id: "https://claude.ai/oauth/other", client_secret: "" }, "400 invalid_grant"],
      [{ client_id: "https://claude.ai/oauth/other", client_secret: "guess" }, "401 invalid_client"],
      [{ client_id: `${client.slice(0, -1)}${client.endsWith("A") ? "B" : "A"}` }, "401 invalid_client"],
      [{ client_id: client.replace("dcr_", "dcr_A") }, "401 invalid_client"],
      [{ client_id: "somebody" }, "401 invalid_client"],
      [{ client_id: null }, "400 invalid_request"],
      [{ client_secret: "guess" }, "401 invalid_client"],
      [{ resource: "https://elsewhere.example/mcp" }, "400 invalid_target"],
      [{ grant_type: "refresh_token" }, "400 unsupported_grant_type"],
      [{ grant_type: "client_credentials" }, "400 unsupported_grant_type"],
      [{ grant_type: null }, "400 invalid_request"],
      [{ code: `${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}` }, "400 invalid_grant"],
      [{ code: "oac_" }, "400 invalid_grant"],
      [{ code: null }, "400 invalid_request"],
    ];
    for (const [change, expected] of wrong)
      expect(describeOutcome(await exchangeCode(code, client, change as never)), JSON.stringify(change)).toBe(expected);
    const twice = buildForm({ grant_type: "authorization_code" });
    expect(describeOutcome(await call("/oauth/token", { ...twice, body: `${twice.body}&code=a&code=b` }))).toBe("400 invalid_request");
    expect(describeOutcome(await exchangeCode(code, client, { resource: "HTTP://SVC.test/mcp/" }))).toBe("200 ok");
  });

  test("replaces the earlier token even if the client names the local host differently in the exchange", async () => {
    const session = await signInAsPat();
    const client = await registerClient();
    const uri = { redirect_uri: "http://127.0.0.1:50123/callback" };
    const otherHost = { redirect_uri: "http://localhost:50123/callback" };
    await exchangeCode(await getAuthorizationCode(client, session, uri), client, otherHost);
    await exchangeCode(await getAuthorizationCode(client, session, uri, "replace"), client, uri);
    const live = env.DB.prepare("SELECT COUNT(*) AS n FROM agent_tokens WHERE revoked_at IS NULL");
    expect(await live.first("n")).toBe(1);
  });

  test.each(["http://svc.test", "http://svc.test/"])(
    "is exchanged for the resource %s, the origin of the server and its issuer",
    async (resource) => {
      const client = await registerClient();
      const code = await getAuthorizationCode(client, await signInAsPat(), { resource } as never);
      expect(describeOutcome(await exchangeCode(code, client, { resource }))).toBe("200 ok");
    },
  );

  test("is refused for another resource with an error that names the right one", async () => {
    const client = await registerClient();
    const code = await getAuthorizationCode(client, await signInAsPat());
    const refused = await exchangeCode(code, client, { resource: "http://svc.test/other" });
    expect(refused.body).toMatchObject({ error: "invalid_target", error_description: "resource must be http://svc.test/mcp" });
  });

  test("expires after five minutes", async () => {
    const client = await registerClient();
    const code = await getAuthorizationCode(client, await signInAsPat());
    vi.setSystemTime(clock + 300_000);
    expect(describeOutcome(await exchangeCode(code, client))).toBe("400 invalid_grant");
  });

  test("revokes its token when replayed later with correct parameters, but not when replayed soon or with wrong ones", async () => {
    const client = await registerClient();
    const session = await signInAsPat();
    const code = await getAuthorizationCode(client, session);
    const token = (await exchangeCode(code, client)).body.access_token;
    vi.setSystemTime(clock + 9_000);
    expect(describeOutcome(await exchangeCode(code, client))).toBe("400 invalid_grant");
    vi.setSystemTime(clock + 11_000);
    await exchangeCode(code, client, { code_verifier: `${verifier}x` });
    expect((await callMethod(token, "ping")).status).toBe(200);
    expect(describeOutcome(await exchangeCode(code, client))).toBe("400 invalid_grant");
    expect((await callMethod(token, "ping")).status).toBe(401);
    expect(await readRevoker(session)).toBe("service");
  });

  test("creates no eleventh token, even when others are created concurrently", async () => {
    const client = await registerClient();
    const session = await signInAsPat();
    const codes: string[] = [];
    for (let at = 0; at < 12; at += 1) codes.push(await getAuthorizationCode(client, session));
    const [responses, minted] = await Promise.all([
      Promise.all(codes.map((code) => exchangeCode(code, client))),
      Promise.all(codes.map(() => createTokenWith("consumer", session))),
    ]);
    expect([...responses, ...minted].filter(({ status }) => status < 300)).toHaveLength(10);
    const refused = responses.filter(({ status }) => status === 400);
    expect(refused.length).toBeGreaterThan(1);
    expect(refused.every(({ body }) => body.error === "invalid_grant" && body.error_description.includes("10 active agent tokens"))).toBe(
      true,
    );
    expect(await count("agent_tokens")).toBe(10);
  });

  test("is refused once the member is removed or the business is suspended", async () => {
    const client = await registerClient();
    const code = await getAuthorizationCode(client, await signInAsOwner());
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.acme.id).run();
    const refused = describeOutcome(await exchangeCode(code, client));
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    expect(refused).toBe("400 invalid_grant");
    expect(describeOutcome(await exchangeCode(code, client))).toBe("200 ok");
  });

  test("is never logged, nor are the token, the client ID and the verifier", async () => {
    const lines: string[] = [];
    for (const method of ["log", "info", "warn", "error"] as const)
      vi.spyOn(console, method).mockImplementation((...words: unknown[]) => {
        lines.push(words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "));
      });
    const session = await signInAsPat();
    const client = await registerClient({ client_name: "zqnamezq" });
    const code = await getAuthorizationCode(client, session, { state: "zqstatezq" });
    const { access_token: token } = (await exchangeCode(code, client)).body;
    await exchangeCode(code, client, { code_verifier: `${verifier}x` });
    await callMethod(token, "ping");
    await callTool(token, "zqtoolzq");
    await call("/oauth/revoke", buildForm({ token }));
    await callMethod(token, "ping");
    vi.restoreAllMocks();
    expect(lines.length).toBeGreaterThan(8);
    const loggedText = lines.join("\n");
    for (const secret of [
      code,
      token,
      client,
      verifier,
      createChallenge(verifier),
      "zqstatezq",
      "zqnamezq",
      "zqtoolzq",
      "pat_",
      "oac_",
      "dcr_",
    ])
      expect(loggedText.includes(secret), secret.slice(0, 8)).toBe(false);
  });

  test("is stored only as a hash, like the token", async () => {
    const client = await registerClient();
    const code = await getAuthorizationCode(client, await signInAsPat());
    const token = (await exchangeCode(code, client)).body.access_token as string;
    const stored = Object.values(await readDatabaseContents()).join("\n");
    expect([stored.includes(code.slice(6)), stored.includes(token.slice(6))]).toEqual([false, false]);
  });
});

describe("an authorization request", () => {
  const faults: readonly [string, object, string][] = [
    ["another response type", { response_type: "token" }, "unsupported_response_type"],
    ["no PKCE", { code_challenge: null, code_challenge_method: null }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a challenge without its method", { code_challenge_method: null }, "invalid_request"],
    ["an empty challenge", { code_challenge: "" }, "invalid_request"],
    ["another resource", { resource: "https://evil.example/mcp" }, "invalid_target"],
    ["another path of the server as the resource", { resource: "http://svc.test/v1" }, "invalid_target"],
    ["a response in a fragment", { response_mode: "fragment" }, "invalid_request"],
    ["a request object", { request: "x" }, "invalid_request"],
  ];
  test.each(faults)("with %s is refused on our page with a link back instead of a redirect", async (_, change, error) => {
    const response = await call(buildAuthorizePath(await registerClient(), change as never), {
      headers: await signInAsPat(),
      redirect: "manual",
    });
    expect([response.status, response.headers.get("location"), response.headers.get("refresh")]).toEqual([400, null, null]);
    expect(response.text).toContain(`error=${error}`);
    expect(response.text).toContain("iss=http%3A%2F%2Fsvc.test");
  });

  test.each([
    "https://claude.ai.evil.example/cb",
    "https://claude.ai@evil.example/cb",
    "https://evil.example/cb",
    "javascript:alert(1)",
    "http://127.0.0.1.evil.example:7777/callback",
    "http://127.0.0.1:7777/callback/",
    "http://127.0.0.1:7777/CALLBACK",
    "http://127.0.0.1:7777/callback?x=1",
    "http://127.0.0.1:7777/x/../callback",
    "http://127.0.0.1:7777/%2e/callback",
    "http://127.0.0.1:7777\\callback",
    "http://127.0.0.1:7777/callback#x",
    "http://localhost@evil.example/callback",
    "http://0.0.0.0:7777/callback",
    "http://2130706433:7777/callback",
    "http://[::ffff:127.0.0.1]:7777/callback",
    "http://127.1:7777/callback",
    "//evil.example",
    "cursor://anysphere.cursor-mcp/oauth/other",
  ])("to an address that is not registered leads nowhere: %s", async (uri) => {
    const response = await call(buildAuthorizePath(await registerClient(), { redirect_uri: uri }), {
      headers: await signInAsPat(),
      redirect: "manual",
    });
    expect([response.status, response.headers.get("location"), response.headers.get("refresh")]).toEqual([400, null, null]);
    expect(response.text).not.toContain("error=");
    expect(response.text).not.toMatch(/evil|claude|javascript/);
  });

  test.each(["http://127.0.0.1:50123/callback", "http://localhost:50123/callback", "http://localhost/callback"])(
    "may use any port of any loopback host: %s",
    async (uri) => {
      const client = await registerClient();
      const code = await getAuthorizationCode(client, await signInAsPat(), { redirect_uri: uri });
      expect(describeOutcome(await exchangeCode(code, client, { redirect_uri: uri }))).toBe("200 ok");
    },
  );

  test("may use another loopback host when it exchanges the code, but not another port", async () => {
    const client = await registerClient();
    for (const [uri, result] of [
      ["http://localhost:50123/callback", "200 ok"],
      ["http://127.0.0.1:50124/callback", "400 invalid_grant"],
    ] as const) {
      const code = await getAuthorizationCode(client, await signInAsPat(), { redirect_uri: "http://127.0.0.1:50123/callback" });
      expect(describeOutcome(await exchangeCode(code, client, { redirect_uri: uri }))).toBe(result);
    }
  });

  test("of an unknown program, or with two IDs, is refused without a link back", async () => {
    const client = await registerClient();
    for (const path of [
      buildAuthorizePath("dcr_x.y"),
      buildAuthorizePath("x"),
      buildAuthorizePath(""),
      `${buildAuthorizePath(client)}&client_id=x`,
      "/oauth/authorize",
    ]) {
      const response = await call(path, { headers: await signInAsPat(), redirect: "manual" });
      expect([response.status, response.headers.get("location"), response.text.includes("error=")]).toEqual([400, null, false]);
    }
  });
});

describe("a program that registers itself", () => {
  test("stores nothing and gets only supported metadata", async () => {
    const before = await readDatabaseContents();
    const response = await postRegistration({
      client_name: "Cur\u202esor\u0000",
      redirect_uris: [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://evil.example/cb",
        "http://evil.example/cb",
        "https://www.cursor.com/cb",
      ],
      grant_types: ["authorization_code", "refresh_token"],
    });
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      client_name: "Cursor",
      redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/cb"],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "none",
    });
    expect(response.body.client_secret).toBeUndefined();
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("stores nothing when it registers many times, and is limited by IP address", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_OAUTH_REGISTER_PER_IP: "5/60" });
    const before = await readDatabaseContents();
    const registerFrom = async (address: string, name: string): Promise<number> => {
      const headers = { "content-type": "application/json", "cf-connecting-ip": address };
      const body = JSON.stringify({ client_name: name, redirect_uris: [loopback] });
      return (await service("/oauth/register", { method: "POST", headers, body })).status;
    };
    const ofOne: number[] = [];
    for (let n = 0; n < 7; n += 1) ofOne.push(await registerFrom("10.1.1.1", `Helper ${n}`));
    expect(ofOne).toEqual([201, 201, 201, 201, 201, 429, 429]);
    const statuses = new Set<number>();
    for (let n = 0; n < atOnce; n += 1) statuses.add(await registerFrom(`10.2.${n >> 8}.${n & 255}`, `Helper ${n}`));
    expect([...statuses]).toEqual([201]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test.each([
    ["no permitted redirect URI", { redirect_uris: ["https://evil.example/cb"] }, "400 invalid_redirect_uri"],
    ["no redirect URIs", {}, "400 invalid_redirect_uri"],
    ["redirect URIs that are not strings", { redirect_uris: [7] }, "400 invalid_redirect_uri"],
    ["21 redirect URIs", { redirect_uris: Array(21).fill(loopback) }, "400 invalid_redirect_uri"],
    ["an array", [], "400 invalid_client_metadata"],
    ["a body that is too large", { redirect_uris: [loopback], x: "x".repeat(9_000) }, "400 invalid_client_metadata"],
    ["an id that would be too long", { redirect_uris: [`${loopback}/${"x".repeat(1_000)}`] }, "400 invalid_client_metadata"],
  ])("with %s is refused", async (_, body, expected) => {
    expect(describeOutcome(await postRegistration(body))).toBe(expected);
  });

  test("may not use the name of a well-known program", async () => {
    const session = await signInAsPat();
    for (const name of ["Claude", "cLaUde  Code", "ChatGPT", "ｃｌａｕｄｅ", "svc"]) {
      const { page } = await openConsentPage(await registerClient({ client_name: name }), session);
      expect(/<h1>(.*?)<\/h1>/.exec(page.text)?.[1]).toBe("Connect an app at 127.0.0.1 to svc?");
    }
  });

  test("authenticates with its secret in the form or by Basic", async () => {
    for (const method of ["client_secret_post", "client_secret_basic"]) {
      const { client_id: id, client_secret: secret } = (
        await postRegistration({ redirect_uris: [loopback], token_endpoint_auth_method: method })
      ).body;
      const code = await getAuthorizationCode(id, await signInAsPat());
      expect(describeOutcome(await exchangeCode(code, id))).toBe("401 invalid_client");
      expect(describeOutcome(await exchangeCode(code, id, { client_secret: `${secret}x` }))).toBe("401 invalid_client");
      const wrong = await exchangeCode(code, id, {}, { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:x`)}` });
      expect([describeOutcome(wrong), wrong.headers.get("www-authenticate")]).toEqual(["401 invalid_client", 'Basic realm="svc"']);
      const right =
        method === "client_secret_post"
          ? await exchangeCode(code, id, { client_secret: secret })
          : await exchangeCode(code, id, { client_id: null }, { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${secret}`)}` });
      expect(describeOutcome(right)).toBe("200 ok");
    }
  });
});

describe("a program with a document", () => {
  const id = "https://assistant.merchant-tests.com/client.json";
  const document = { client_id: id, client_name: "Known Helper", redirect_uris: ["https://assistant.merchant-tests.com/cb"] };

  /**
   * Starts a new service for which every client document has this content. If the content is null, the documents' hosts are unreachable.
   */
  const createDocumentService = async (
    bodyOf: (url: string) => object | null | Promise<object | null>,
    maxAge?: number,
    changes: Partial<Platform> = {},
  ) => {
    const requests: PageRequest[] = [];
    const fetchPage = async (request: PageRequest): Promise<PageFetchResult> => {
      requests.push(request);
      const body = await bodyOf(request.url);
      if (body === null) return { outcome: "unreached", reason: "network" };
      const page = { url: request.url, type: "application/json", body: JSON.stringify(body) } as const;
      return { outcome: "page", page: { ...page, ...(maxAge !== undefined && { maxAgeSeconds: maxAge }) } };
    };
    const app = buildApp(createServicesWith(await createPlatform(env), { fetchPage, ...changes }));
    const send = async (path: string, init: RequestInit) => {
      const response = await app.fetch(new Request(`http://svc.test${path}`, init), env, createExecutionContext());
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const get = (path: string, headers: Record<string, string> = {}) => send(path, { headers });
    /** Allows the request and returns the code. */
    const allowClient = async (path: string, session: Session): Promise<string> => {
      const request = /name="request" value="([^"]+)"/.exec((await get(path, session)).text)?.[1] ?? "";
      const sent = await send("/oauth/authorize/decide", buildForm({ request, decision: "allow" }, session));
      return new URL(sent.headers.get("location") ?? "http://none.test").searchParams.get("code") ?? "";
    };
    return { requests, get, allow: allowClient };
  };
  const redirect_uri = "https://assistant.merchant-tests.com/cb";

  test("is shown with its host; the document is read without redirects and up to 8 KiB", async () => {
    const { requests, get } = await createDocumentService(() => document);
    const page = await get(buildAuthorizePath(id, { redirect_uri }), await signInAsPat());
    expect(page.status).toBe(200);
    expect(page.text).toContain("</strong> confirms this app’s identity");
    expect(page.text).toContain("Known Helper");
    expect(requests).toMatchObject([{ url: id, maxRedirects: 0, maxBytes: 8_192, accept: "json", ports: [443] }]);
  });

  test("is fetched once while cached, and at most ten documents per minute per host", async () => {
    const { requests, get } = await createDocumentService((url) => ({ ...document, client_id: url }));
    const session = await signInAsPat();
    for (let at = 0; at < 4; at += 1) await get(buildAuthorizePath(id, { redirect_uri }), session);
    expect(requests).toHaveLength(1);
    for (let at = 0; at < 30; at += 1) await get(buildAuthorizePath(`${id}?${at}`, { redirect_uri }), session);
    expect(requests).toHaveLength(10);
  });

  test.each([
    ["has another client ID", { ...document, client_id: "https://claude.ai/oauth/x" }],
    ["contains a secret", { ...document, client_secret: "x" }],
    ["authenticates with a secret", { ...document, token_endpoint_auth_method: "client_secret_post" }],
    ["has other redirect URIs", { ...document, redirect_uris: ["https://other.merchant-tests.com/cb"] }],
    ["has no redirect URIs", { client_id: id }],
    ["cannot be read", null],
    [
      "contains a private key",
      { ...document, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y", d: "d" }] } },
    ],
    ["contains a symmetric key", { ...document, jwks: { keys: [{ kty: "oct", k: "k" }] } }],
  ])("that %s is not followed", async (_, body) => {
    const { get } = await createDocumentService(() => body);
    const page = await get(buildAuthorizePath(id, { redirect_uri }), await signInAsPat());
    expect([page.status, page.text.includes("error=")]).toEqual([400, false]);
  });

  test("is cached as long as its host says, between five minutes and a day", async () => {
    const countRequestsWithin = async (maxAge: number | undefined, ms: number): Promise<number> => {
      const { requests, get } = await createDocumentService(() => document, maxAge);
      await get(buildAuthorizePath(id, { redirect_uri }));
      vi.setSystemTime(Date.now() + ms);
      await get(buildAuthorizePath(id, { redirect_uri }));
      return requests.length;
    };
    expect(await countRequestsWithin(undefined, 299_000)).toBe(1);
    expect(await countRequestsWithin(undefined, 300_000)).toBe(2);
    expect(await countRequestsWithin(0, 299_000)).toBe(1);
    expect(await countRequestsWithin(3_600, 3_599_000)).toBe(1);
    expect(await countRequestsWithin(3_600, 3_600_000)).toBe(2);
    expect(await countRequestsWithin(999_999_999, 86_399_000)).toBe(1);
    expect(await countRequestsWithin(999_999_999, 86_400_000)).toBe(2);
  });

  test("is fetched once for concurrent requests, and at most four documents are fetched at a time", async () => {
    let most = 0;
    let open = 0;
    const { requests, get } = await createDocumentService(async (url) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 50));
      open -= 1;
      return { ...document, client_id: url };
    });
    await Promise.all(Array.from({ length: 20 }, () => get(buildAuthorizePath(id, { redirect_uri }))));
    expect(requests).toHaveLength(1);
    const hosts = Array.from({ length: 12 }, (_, at) => `https://a${at}.merchant-tests.com/client.json`);
    await Promise.all(hosts.map((host) => get(buildAuthorizePath(host, { redirect_uri }))));
    expect(most).toBe(4);
  });

  test("is fetched even while another site's documents arrive one byte at a time and occupy all of that site's slots", async () => {
    const slow = Promise.withResolvers<void>();
    const { get } = await createDocumentService(async (url) => {
      if (new URL(url).hostname.endsWith(".slow-tests.com")) await slow.promise;
      return { ...document, client_id: url };
    });
    const hanging = Array.from({ length: 12 }, (_, at) =>
      get(buildAuthorizePath(`https://a${at}.slow-tests.com/client.json`, { redirect_uri })),
    );
    await Promise.resolve();
    expect((await get(buildAuthorizePath(id, { redirect_uri }))).text).toContain("Known Helper");
    slow.resolve();
    await Promise.all(hanging);
  });

  test("is served from its copy while its host is down, for seven days after approval, and then the sweep deletes the copy", async () => {
    const session = await signInAsPat();
    const path = buildAuthorizePath(id, { redirect_uri });
    expect((await (await createDocumentService(() => null)).get(path, session)).status).toBe(400);
    const reached = await createDocumentService(() => document);
    await reached.get(path, session);
    expect((await (await createDocumentService(() => null)).get(path, session)).status).toBe(400); // viewing the page stores nothing
    expect(await reached.allow(path, session)).toMatch(/^oac_/);
    const silent = await createDocumentService(() => null);
    expect((await silent.get(path, session)).text).toContain("Known Helper");
    const code = await silent.allow(path, session);
    expect(describeOutcome(await exchangeCode(code, id, { redirect_uri }))).toBe("200 ok");
    const week = 7 * 86_400_000;
    const countKeptClients = () => env.DB.prepare("SELECT COUNT(*) AS n FROM oauth_clients").first("n");
    vi.setSystemTime(clock + week - 1);
    expect((await (await createDocumentService(() => null)).get(path)).status).toBe(200);
    await deleteExpired(await createPlatform(env));
    expect(await countKeptClients()).toBe(1);
    vi.setSystemTime(clock + week);
    expect((await (await createDocumentService(() => null)).get(path)).status).toBe(400); // using the stored copy did not extend its lifetime
    await deleteExpired(await createPlatform(env));
    expect(await countKeptClients()).toBe(0);
  });

  describe("while the first shard, which stores the copies of documents, does not respond", () => {
    /**
     * `get` fails, and only reads of the copies use it. The person's records are read through `forId`, as if they were in another shard.
     */
    const createServiceWithoutCopies = async (bodyOf: () => object | null) => {
      const { shards } = await createPlatform(env);
      const getNone = (): never => {
        throw new StorageFault("outage");
      };
      return createDocumentService(bodyOf, undefined, { shards: { ...shards, get: getNone } });
    };

    test("can be connected by a person in another shard", async () => {
      const { allow } = await createServiceWithoutCopies(() => document);
      const code = await allow(buildAuthorizePath(id, { redirect_uri }), await signInAsPat());
      expect(describeOutcome(await exchangeCode(code, id, { redirect_uri }))).toBe("200 ok");
    });

    test("is known from the built-in list if its host does not respond either", async () => {
      const { get } = await createServiceWithoutCopies(() => null);
      const uri = { redirect_uri: "https://claude.ai/api/mcp/auth_callback" };
      expect((await get(buildAuthorizePath("https://claude.ai/oauth/mcp-oauth-client-metadata", uri))).status).toBe(200);
      expect((await get(buildAuthorizePath(id, { redirect_uri }))).status).toBe(503);
    });
  });

  test("is used in its current version once its host changes it", async () => {
    const session = await signInAsPat();
    const path = buildAuthorizePath(id, { redirect_uri });
    const code = await (await createDocumentService(() => document)).allow(path, session);
    const other = { ...document, redirect_uris: ["https://other.merchant-tests.com/cb"] };
    expect((await (await createDocumentService(() => other)).get(path, session)).status).toBe(400);
    expect((await await createDocumentService(() => ({})).then(({ get }) => get(path, session))).status).toBe(400);
    // The code of an earlier approval still works, but only with the redirect URI of that approval.
    expect(describeOutcome(await exchangeCode(code, id, { redirect_uri: "https://other.merchant-tests.com/cb" }))).toBe(
      "400 invalid_grant",
    );
    expect(describeOutcome(await exchangeCode(code, id, { redirect_uri }))).toBe("200 ok");
  });

  test.each([
    ["https://claude.ai/oauth/mcp-oauth-client-metadata", "Claude", "https://claude.ai/api/mcp/auth_callback"],
    ["https://claude.ai/oauth/mcp-oauth-client-metadata", "Claude", "https://claude.com/api/mcp/auth_callback"],
    ["https://claude.ai/oauth/claude-code-client-metadata", "Claude Code", "http://localhost:50123/callback"],
    ["https://chatgpt.com/oauth/abc123/client.json", "ChatGPT", "https://chatgpt.com/connector/oauth/abc123"],
    ["https://chatgpt.com/oauth/abc123/client.json", "ChatGPT", "https://chatgpt.com/connector_platform_oauth_redirect"],
    ["https://chatgpt.com/oauth/codex/client.json", "Codex", "http://127.0.0.1:1455/callback"],
    ["https://vscode.dev/oauth/client-metadata.json", "Visual Studio Code", "https://vscode.dev/redirect"],
    ["https://vscode.dev/oauth/client-metadata.json", "Visual Studio Code", "http://127.0.0.1:33418/"],
  ])("of %s is known without its host: %s goes to %s", async (client, name, uri) => {
    const { requests, get } = await createDocumentService(() => null);
    const page = await get(buildAuthorizePath(client, { redirect_uri: uri }), await signInAsPat());
    expect([page.status, requests.length]).toEqual([200, 1]);
    expect(page.text).toContain(name);
    expect((await get(buildAuthorizePath(client, { redirect_uri: "https://evil.example/cb" }), await signInAsPat())).status).toBe(400);
  });

  test("of ChatGPT is accepted only for its own connector URL", async () => {
    const { get } = await createDocumentService(() => null);
    const otherRedirect = { redirect_uri: "https://chatgpt.com/connector/oauth/other" };
    expect((await get(buildAuthorizePath("https://chatgpt.com/oauth/abc123/client.json", otherRedirect))).status).toBe(400);
    for (const address of [
      "https://chatgpt.com/oauth/a/b/client.json",
      "https://claude.ai/oauth/other",
      "https://chatgpt.com.evil.example/oauth/a/client.json",
    ])
      expect(
        (await get(buildAuthorizePath(address, { redirect_uri: "https://chatgpt.com/connector_platform_oauth_redirect" }))).status,
      ).toBe(400);
  });

  test("is loaded to the end even if the first caller disconnects, because other requests wait for it", async () => {
    const [isRequested, document] = [Promise.withResolvers<void>(), Promise.withResolvers<PageFetchResult>()];
    const background: Promise<void>[] = [];
    const changed = {
      fetchPage: (): Promise<PageFetchResult> => {
        isRequested.resolve();
        return document.promise;
      },
      waitUntil: (work: () => Promise<void>) => void background.push(work()),
    };
    const app = buildApp(createServicesWith(await createPlatform(env), changed));
    const path = buildAuthorizePath("https://slow.merchant-tests.com/client.json", { redirect_uri });
    const response = app.fetch(new Request(`http://svc.test${path}`), env, createExecutionContext());
    await isRequested.promise;
    // The runtime stops a request whose caller has disconnected, except for the work in `waitUntil`.
    expect(background).toHaveLength(1);
    document.resolve({ outcome: "unreached", reason: "network" });
    await Promise.all(background);
    expect((await response).status).toBe(400);
  });

  test("on one of our own hosts is refused without a request", async () => {
    const requestedUrls: string[] = [];
    const fetchPage = async ({ url }: PageRequest): Promise<PageFetchResult> => {
      requestedUrls.push(url);
      return { outcome: "unreached", reason: "network" };
    };
    const deployment = { ...env, ...productionSettings };
    const app = buildApp(createServicesWith(await createPlatform(deployment), { fetchPage }));
    for (const host of ["mcp", "app", "api", "verify"]) {
      const path = buildAuthorizePath(`https://${host}.svc.test/client.json`, { redirect_uri, resource: "https://mcp.svc.test/mcp" });
      expect((await app.fetch(new Request(`https://app.svc.test${path}`), deployment, createExecutionContext())).status).toBe(400);
    }
    expect(requestedUrls).toEqual([]);
  });

  test("with an unusual URL is refused without a request", async () => {
    const { requests, get } = await createDocumentService((url) => ({ ...document, client_id: url }));
    for (const odd of [
      "http://x.com/a",
      "https://x.com",
      "https://x.com/",
      "https://x.com:8443/a",
      "https://a@x.com/a",
      "https://127.0.0.1/a",
      "https://[::1]/a",
      "https://x.com/a/../b",
      "https://x.com/%2e%2e/b",
      "https://X.com/a",
      "https://localhost/a",
      "https://x.com/a#b",
    ])
      expect((await get(buildAuthorizePath(odd, { redirect_uri }))).status, odd).toBe(400);
    expect(requests).toEqual([]);
  });
});

describe("POST /oauth/revoke", () => {
  test("revokes a token for its holder and gives the same response for an unknown token", async () => {
    const { id, token } = await createToken("consumer");
    for (const text of ["x", token.replace(/.$/, (last) => (last === "A" ? "B" : "A"))])
      expect((await call("/oauth/revoke", buildForm({ token: text }))).status).toBe(200);
    expect((await callMethod(token, "ping")).status).toBe(200);
    const response = await call("/oauth/revoke", buildForm({ token }));
    expect([response.status, response.text]).toEqual([200, ""]);
    expect((await callMethod(token, "ping")).status).toBe(401);
    expect(describeOutcome(await call("/oauth/revoke", buildForm({})))).toBe("400 invalid_request");
    expect(await readRevoker(await signInAsPat())).toBe(`agent:${id}`);
  });
});

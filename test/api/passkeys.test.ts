// Tests passkeys: who can add one, which authenticator data is accepted, and what refusals reveal.
import { toStoredIndex } from "../../core/access/address-index.ts";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toBase64Url, fromBase64Url, encodeUtf8 } from "../../core/bytes.ts";
import { minuteMs } from "../../core/time.ts";
import { consumerEmailContext } from "../../storage/people-contexts.ts";
import { deleteExpired } from "../../workers/background/expiry-sweep.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { Authenticator, type AuthenticatorOverrides } from "../support/authenticator.ts";
import {
  registerPasskey,
  requestCreationOptions,
  requestSignInOptions,
  submitSignedCredential,
  signInWithPasskey,
} from "../support/passkeys.ts";
import { getCookie, clearCodes, buildJsonRequest, listMailTo, signIn, signInByEmail } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  call,
  readDatabaseContents,
  productionSettings,
  countRows,
  createServiceCall,
  world,
  type TestResponse,
} from "../support/world.ts";

const { consumerEmail, ownerEmail } = world;
const strangerEmail = "stranger@example.com";
const noon = Date.parse("2030-05-06T12:00:00.000Z");
const tables = ["passkeys", "sessions", "audit_entries", "consumers"] as const;

const setTime = (instant: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: instant });
};
let start = noon;
beforeEach(async () => {
  start += 24 * 60 * minuteMs; // each test uses its own day because of the per-person limits
  setTime(start);
  await clearCodes();
  for (const table of ["sessions", "passkeys", "webauthn_challenges"])
    for (const db of [env.DB, env.DB_01 as D1Database]) await db.prepare(`DELETE FROM ${table}`).run();
});
afterEach(() => {
  vi.useRealTimers();
});

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const signInAsConsumer = (email = consumerEmail): Promise<{ cookie: string }> => signIn(email, "consumer");
const list = async (headers: { cookie: string }) => (await call("/v1/me/passkeys", { headers })).body.data.passkeys;
const remove = (headers: { cookie: string }, id: string): Promise<TestResponse> =>
  call(`/v1/me/passkeys/${id}`, { method: "DELETE", headers });
const readSession = (cookie: string): Promise<TestResponse> => call("/v1/auth/session", { headers: { cookie } });
const withPasskey = async (authenticator = new Authenticator()): Promise<Authenticator> => {
  const { response } = await registerPasskey(await signInAsConsumer(), { authenticator });
  if (response.status !== 201) throw new Error(response.text);
  return authenticator;
};
/** Returns the status and the body without the request ID. */
const toComparable = (response: TestResponse): string => `${response.status} ${response.text.replace(response.body.request_id, "")}`;

describe("POST /v1/me/passkeys", () => {
  test("requires a discoverable passkey with user verification, under a user handle without meaning", async () => {
    const me = await signInAsConsumer();
    const optionsResponse = await requestCreationOptions(me);
    expect(optionsResponse.status).toBe(200);
    expect(optionsResponse.body.data.options).toMatchObject({
      rp: { id: "svc.test" },
      user: { name: consumerEmail },
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
      excludeCredentials: [],
      timeout: 5 * minuteMs,
    });
    const handle = fromBase64Url(optionsResponse.body.data.options.user.id) as Uint8Array;
    expect([handle.length, String.fromCharCode(...handle.subarray(0, 2))]).toEqual([32, "00"]);
    expect(fromBase64Url(optionsResponse.body.data.options.challenge)).toHaveLength(32);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(optionsResponse.body.data.options.challenge);

    const { response, authenticator } = await registerPasskey(me);
    const repeated = (await requestCreationOptions(me)).body.data.options;
    expect(repeated.excludeCredentials).toEqual([{ id: authenticator.id, transports: ["internal", "hybrid"], type: "public-key" }]);
    expect(repeated.user.id).toBe(authenticator.userHandle);
    expect(response.status).toBe(201);
  });

  test("lists the passkey, records it in the audit trail and sends an email in the person's language", async () => {
    const me = await signInAsConsumer();
    const headers = {
      ...me,
      "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0",
      "accept-language": "es",
    };
    const { response } = await registerPasskey(headers);
    const { id } = response.body.data;
    expect(response.body.data).toEqual({
      id: expect.stringMatching(/^psk_00[0-9a-hjkmnp-tv-z]{24}$/),
      name: "Firefox, Windows",
      created_at: new Date(start).toISOString(),
      last_used: null,
      backed_up: true,
    });
    expect(await list(me)).toEqual([response.body.data]);
    const [entry] = (await call("/v1/me/audit", { headers: me })).body.data.entries;
    expect(entry).toMatchObject({ type: "passkey.added", entity_type: "passkey", entity_id: id });
    await waitUntilSettled();
    const [mail] = await listMailTo(consumerEmail);
    expect(mail?.subject).toBe("Se agregó una llave de acceso a su cuenta");
    expect(mail?.text).toContain("Dispositivo: Firefox, Windows");
  });

  test("accepts a name, which is encrypted at rest", async () => {
    const me = await signInAsConsumer();
    expect((await registerPasskey(me, { name: "  Zqmarker phone " })).response.body.data.name).toBe("Zqmarker phone");
    expect(JSON.stringify(await readDatabaseContents())).not.toContain("Zqmarker");
    expect((await registerPasskey(me)).response.body.data.name).toBe("Passkey");
    for (const name of ["x".repeat(81), "a\u0007b", "a\u202eb"])
      expect((await registerPasskey(me, { name })).response.body.error.message).toMatch(/^name: must /);
  });

  test("requires a sign-in within the last ten minutes for the options and for the passkey", async () => {
    const me = await signInAsConsumer();
    setTime(start + 10 * minuteMs - 1);
    const { options } = (await requestCreationOptions(me)).body.data;
    setTime(start + 10 * minuteMs);
    const late = await requestCreationOptions(me);
    expect([describeOutcome(late), late.body.error.message]).toEqual([
      "403 forbidden",
      "This action requires a sign-in within the last 10 minutes. Sign in again first.",
    ]);
    const credential = await new Authenticator().make(options);
    expect(describeOutcome(await call("/v1/me/passkeys", buildJsonRequest({ credential }, me)))).toBe("403 forbidden");
    expect(await countRows(["passkeys"])).toEqual({ passkeys: 0 });
    expect((await registerPasskey(await signInAsConsumer())).response.status).toBe(201);
  });

  test("accepts an attestation that the new key signed itself, as some browsers send it", async () => {
    const { response, authenticator } = await registerPasskey(await signInAsConsumer(), { lies: { selfAttested: true } });
    expect(response.status, response.text).toBe(201);
    expect((await signInWithPasskey(authenticator)).status).toBe(200);
  });

  test("accepts a recent sign-in by passkey", async () => {
    const authenticator = await withPasskey();
    setTime(start + 60 * minuteMs);
    const signed = await signInWithPasskey(authenticator);
    expect((await registerPasskey({ cookie: getCookie(signed) })).response.status).toBe(201);
  });

  test.each<readonly [string, AuthenticatorOverrides]>([
    ["made on another origin", { origin: "https://evil.example" }],
    ["made on a sibling of the app", { origin: "http://evil.svc.test" }],
    ["made for another host", { rpId: "evil.example" }],
    ["made without user verification", { unverified: true }],
    ["that is a signature instead of a new passkey", { type: "webauthn.get" }],
    ["made for a challenge that is not ours", { challenge: toBase64Url(new Uint8Array(32)) }],
    ["with an unknown attestation format", { format: "nonsense" }],
    ["with a valid attestation certificate of a manufacturer", { attested: true }],
  ])("U8: refuses a passkey %s, and uses up its challenge", async (_name, lies) => {
    const me = await signInAsConsumer();
    const before = await countRows(tables);
    const { options } = (await requestCreationOptions(me)).body.data;
    const authenticator = new Authenticator();
    const bad = await call("/v1/me/passkeys", buildJsonRequest({ credential: await authenticator.make(options, lies) }, me));
    expect([describeOutcome(bad), bad.body.error.message]).toEqual([
      "400 passkey_refused",
      "The passkey could not be verified. Request new options and try again.",
    ]);
    const honest = await call("/v1/me/passkeys", buildJsonRequest({ credential: await authenticator.make(options) }, me));
    if (lies.challenge === undefined) expect(describeOutcome(honest)).toBe("400 passkey_refused");
    else expect(honest.status).toBe(201);
    if (lies.challenge === undefined) expect(await countRows(tables)).toEqual(before);
  });

  test("U8: accepts a challenge once, for five minutes, in the session that requested it, and only for adding", async () => {
    const me = await signInAsConsumer();
    const stranger = await signInAsConsumer(strangerEmail);
    const give = (credential: object, headers = me): Promise<TestResponse> =>
      call("/v1/me/passkeys", buildJsonRequest({ credential }, headers));
    const createCredential = async (): Promise<object> => new Authenticator().make((await requestCreationOptions(me)).body.data.options);

    const once = await createCredential();
    const responses = await Promise.all(Array.from({ length: 8 }, () => give(once)));
    expect(responses.map(describeOutcome).sort()).toEqual(["201 ok", ...Array.from({ length: 7 }, () => "400 passkey_refused")]);

    expect(describeOutcome(await give(await createCredential(), stranger))).toBe("400 passkey_refused");
    const creationOptions = (await requestCreationOptions(me)).body.data.options;
    const toSign = { ...creationOptions, challenge: (await requestSignInOptions()).challenge };
    expect(describeOutcome(await give(await new Authenticator().make(toSign)))).toBe("400 passkey_refused");

    const late = await createCredential();
    setTime(start + 5 * minuteMs);
    expect(describeOutcome(await give(late))).toBe("400 passkey_refused");
    expect(await countRows(["passkeys"])).toEqual({ passkeys: 1 });
  });

  test("refuses a passkey with another person's credential id, or with an ID other than the one it was created with", async () => {
    const othersAuthenticator = (await registerPasskey(await signInAsConsumer(strangerEmail))).authenticator;
    const me = await signInAsConsumer();
    expect(describeOutcome((await registerPasskey(me, { lies: { id: othersAuthenticator.id } })).response)).toBe("400 passkey_refused");
    const { options } = (await requestCreationOptions(me)).body.data;
    const credential = { ...(await new Authenticator().make(options)), id: othersAuthenticator.id, rawId: othersAuthenticator.id };
    expect(describeOutcome(await call("/v1/me/passkeys", buildJsonRequest({ credential }, me)))).toBe("400 passkey_refused");
    expect((await signInWithPasskey(othersAuthenticator)).body.data.user.email).toBe(strangerEmail);
  });

  test("returns 409 passkey_limit past ten passkeys, for any number of concurrent requests", async () => {
    const me = await signInAsConsumer();
    for (let count = 0; count < 8; count += 1) await registerPasskey(me);
    const registrations = await Promise.all(Array.from({ length: 5 }, () => registerPasskey(me)));
    expect(registrations.map(({ response }) => describeOutcome(response)).sort()).toEqual([
      "201 ok",
      "201 ok",
      "409 passkey_limit",
      "409 passkey_limit",
      "409 passkey_limit",
    ]);
    expect(describeOutcome(await requestCreationOptions(me))).toBe("409 passkey_limit");
    expect(await list(me)).toHaveLength(10);
    expect(await countRows(["passkeys"])).toEqual({ passkeys: 10 });
  });

  test("is for consumers only, and returns 403 forbidden to members of a business", async () => {
    const member = await signIn(ownerEmail);
    for (const [method, path] of [
      ["GET", "/v1/me/passkeys"],
      ["POST", "/v1/me/passkeys/options"],
      ["DELETE", `/v1/me/passkeys/psk_00${"0".repeat(24)}`],
    ] as const)
      expect(describeOutcome(await call(path, { method, headers: member }))).toBe("403 forbidden");
  });
});

describe("POST /v1/auth/passkey/verify", () => {
  test("starts a session of thirty days with a new token, and ends the browser's earlier session", async () => {
    const authenticator = await withPasskey();
    setTime(start + 60 * minuteMs);
    const { cookie: before } = await signInAsConsumer();
    const response = await signInWithPasskey(authenticator, {}, { cookie: before });
    expect(response.status, response.text).toBe(200);
    expect(response.body.data).toEqual({
      user: { id: expect.stringMatching(/^con_00/), email: consumerEmail, realm: "consumer", role: null, business_id: null },
      created: false,
    });
    expect(response.headers.get("set-cookie")).toMatch(
      /^svc_session=ses_00[A-Za-z0-9_-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const cookie = getCookie(response);
    expect(cookie).not.toBe(before);
    expect([(await readSession(cookie)).status, (await readSession(before)).status]).toEqual([200, 401]);
    expect((await list({ cookie }))[0].last_used).toBe(new Date(start).toISOString().slice(0, 10));
  });

  test("signs in a consumer if realm is null", async () => {
    const credential = await (await withPasskey()).sign(await requestSignInOptions());
    const response = await call("/v1/auth/passkey/verify", buildJsonRequest({ credential, realm: null }));
    expect(response.status, response.text).toBe(200);
    expect(response.body.data.user.realm).toBe("consumer");
  });

  test("uses the same options for everyone", async () => {
    const options = await requestSignInOptions();
    expect(options).toEqual({
      rpId: "svc.test",
      challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      timeout: 5 * minuteMs,
      userVerification: "required",
    });
    const { cookie } = await signInAsConsumer();
    const response = await call("/v1/auth/passkey/options", { method: "POST", headers: { cookie } });
    expect(Object.keys(response.body.data.options)).toEqual(Object.keys(options));
    expect((await requestSignInOptions()).challenge).not.toBe(options.challenge);
  });

  test("finds the shard by the user handle", async () => {
    const second = env.DB_01 as D1Database;
    const vault = await openVaultFromVars(env);
    const email = "second.home@example.com";
    const id = `con_01${"7".repeat(24)}`;
    await second
      .prepare("INSERT INTO consumers (id, email_sealed, email_index, audit_chain, created_at) VALUES (?, ?, ?, ?, 0)")
      .bind(id, await vault.seal(consumerEmailContext(id), email), toStoredIndex(await vault.blindIndex("email", email)), "7".repeat(32))
      .run();
    const { authenticator } = await registerPasskey(await signInByEmail(email, "consumer"));
    expect(String.fromCharCode(...(fromBase64Url(authenticator.userHandle) as Uint8Array).subarray(0, 2))).toBe("01");
    const response = await signInWithPasskey(authenticator);
    expect(response.body.data.user.id).toBe(id);
    expect(getCookie(response)).toMatch(/^svc_session=ses_01/);
    expect((await readSession(getCookie(response))).body.data.email).toBe(email);
  });

  const zeros = toBase64Url(new Uint8Array(32));
  const unknownHandle = toBase64Url(encodeUtf8(`00${"x".repeat(30)}`));
  test.each<readonly [string, AuthenticatorOverrides]>([
    ["signed on another origin", { origin: "https://evil.example" }],
    ["signed on a sibling of the app", { origin: "http://evil.svc.test" }],
    ["signed on the app's host over https", { origin: "https://svc.test" }],
    ["signed for another host", { rpId: "evil.example" }],
    ["signed without user verification", { unverified: true }],
    ["that was created instead of signed", { type: "webauthn.create" }],
    ["signed over a challenge that is not ours", { challenge: zeros }],
    ["of an unknown passkey", { id: "AAAAAAAAAAAAAAAAAAAAAA" }],
    ["of an unknown account", { userHandle: unknownHandle }],
    ["of an unknown shard", { userHandle: toBase64Url(encodeUtf8(`zz${"x".repeat(30)}`)) }],
    ["with a malformed user handle", { userHandle: "AAAA" }],
    ["without a user handle", { userHandle: null }],
    ["whose counter decreased", { counter: 3 }],
    ["whose counter did not change", { counter: 5 }],
  ])("U8, A18: returns the same 400 login_failed for a credential %s", async (_name, lies) => {
    const authenticator = await withPasskey();
    expect((await signInWithPasskey(authenticator, { counter: 5 })).status).toBe(200);
    const before = await countRows(tables);
    const options = await requestSignInOptions();
    const response = await submitSignedCredential(await authenticator.sign(options, lies));
    expect(response.headers.has("set-cookie")).toBe(false);
    expect(toComparable(response)).toBe(
      toComparable(await submitSignedCredential(await authenticator.sign({ ...options, challenge: zeros }))),
    );
    expect(describeOutcome(response)).toBe("400 login_failed");
    expect(await countRows(tables)).toEqual(before);
    const honest = await submitSignedCredential(await authenticator.sign(options, { counter: 9 }));
    expect(describeOutcome(honest)).toBe(lies.challenge === undefined ? "400 login_failed" : "200 ok"); // the first attempt used up the challenge
  });

  test("U8: refuses another key under the same credential id, and a removed passkey", async () => {
    const authenticator = await withPasskey();
    const me = await signInAsConsumer();
    const { options } = (await requestCreationOptions(me)).body.data;
    const impostor = new Authenticator();
    await impostor.make(options, { id: authenticator.id });
    impostor.userHandle = authenticator.userHandle;
    expect(describeOutcome(await signInWithPasskey(impostor, { counter: 50 }))).toBe("400 login_failed");
    expect((await signInWithPasskey(authenticator)).status).toBe(200);
    const [{ id }] = await list(me);
    await remove(me, id);
    expect(describeOutcome(await signInWithPasskey(authenticator))).toBe("400 login_failed");
  });

  test("U8: accepts each challenge and each counter value once, for any number of concurrent requests", async () => {
    const authenticator = await withPasskey();
    const signed = await authenticator.sign(await requestSignInOptions());
    const sessions = await countRows(["sessions"]);
    const responses = await Promise.all(Array.from({ length: 20 }, () => submitSignedCredential(signed)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await countRows(["sessions"])).toEqual({ sessions: (sessions.sessions as number) + 1 });
    const twins = await Promise.all([1, 2, 3, 4].map(async () => authenticator.sign(await requestSignInOptions(), { counter: 9 })));
    const given = await Promise.all(twins.map((twin) => submitSignedCredential(twin)));
    expect(given.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("U8: accepts a challenge for five minutes, and none that was issued for adding", async () => {
    const authenticator = await withPasskey();
    const me = await signInAsConsumer();
    const { challenge } = (await requestCreationOptions(me)).body.data.options;
    expect(describeOutcome(await submitSignedCredential(await authenticator.sign({ rpId: "svc.test", challenge }), me))).toBe(
      "400 login_failed",
    );
    const [early, late] = [await requestSignInOptions(), await requestSignInOptions()];
    setTime(start + 5 * minuteMs - 1);
    expect((await submitSignedCredential(await authenticator.sign(early))).status).toBe(200);
    setTime(start + 5 * minuteMs);
    expect(describeOutcome(await submitSignedCredential(await authenticator.sign(late)))).toBe("400 login_failed");
  });

  test("accepts an authenticator that never counts", async () => {
    const authenticator = await withPasskey(new Authenticator("http://svc.test", false));
    for (let times = 0; times < 3; times += 1) expect((await signInWithPasskey(authenticator)).status).toBe(200);
  });

  test.each([
    ["an empty credential", {}],
    ["an id that is not base64url", { id: "a+b" }],
    ["an id that is too long", { id: "A".repeat(1_365) }],
    ["another type", { type: "password" }],
    ["no response", { response: undefined }],
    ["client data that is not base64url", { response: { clientDataJSON: "{}", authenticatorData: "AA", signature: "AA" } }],
  ])("returns 400 invalid_request for %s", async (_name, change) => {
    const signed = {
      id: "AA",
      rawId: "AA",
      type: "public-key",
      response: { clientDataJSON: "AA", authenticatorData: "AA", signature: "AA" },
    };
    const credential = Object.keys(change).length === 0 ? {} : { ...signed, ...change };
    const response = await submitSignedCredential(credential);
    expect(describeOutcome(response)).toBe("400 invalid_request");
    expect(response.body.error.message).toMatch(/^credential/);
    expect(describeOutcome(await submitSignedCredential(signed))).toBe("400 login_failed");
  });

  test("uses the app's own origin, and in development also localhost on the requested port", async () => {
    const production = createServiceCall({ ...productionSettings }, "https://app.svc.test");
    expect((await requestSignInOptions(production)).rpId).toBe("app.svc.test");
    expect((await requestSignInOptions(createServiceCall({ ...productionSettings }, "https://api.svc.test"))).rpId).toBe("app.svc.test");
    const local = createServiceCall({}, "http://localhost:8787");
    const options = await requestSignInOptions(local);
    expect(options.rpId).toBe("localhost");
    expect((await requestSignInOptions(createServiceCall({}, "http://127.0.0.1:8787"))).rpId).toBe("svc.test");

    const authenticator = new Authenticator("http://localhost:8787");
    const me = await signInAsConsumer();
    const creationOptions = (await requestCreationOptions(me, local)).body.data.options;
    const credential = await authenticator.make(creationOptions);
    expect((await local("/v1/me/passkeys", buildJsonRequest({ credential }, me))).status).toBe(201);
    expect((await submitSignedCredential(await authenticator.sign(options), {}, local)).status).toBe(200);
    const otherOriginCredential = await authenticator.sign(await requestSignInOptions(local), { origin: "http://localhost:9999" });
    expect(describeOutcome(await submitSignedCredential(otherOriginCredential, {}, local))).toBe("400 login_failed");
  });

  test("sweeps challenges once they expire", async () => {
    await requestSignInOptions();
    const platform = await createPlatform(env);
    await deleteExpired({ ...platform, clock: () => start + 5 * minuteMs - 1 });
    expect(await countRows(["webauthn_challenges"])).toEqual({ webauthn_challenges: 1 });
    await deleteExpired({ ...platform, clock: () => start + 5 * minuteMs });
    expect(await countRows(["webauthn_challenges"])).toEqual({ webauthn_challenges: 0 });
  });
});

describe("DELETE /v1/me/passkeys/{id}", () => {
  test("removes a passkey whose name cannot be decrypted", async () => {
    const me = { cookie: getCookie(await signInWithPasskey(await withPasskey())) };
    await env.DB.prepare("UPDATE passkeys SET name_sealed = 'damaged'").run();
    const [{ id, name }] = await list(me);
    expect([name, describeOutcome(await remove(me, id))]).toEqual(["Passkey", "200 ok"]);
  });

  test("removes the passkey with one audit entry, and keeps current sessions", async () => {
    const authenticator = await withPasskey();
    const me = { cookie: getCookie(await signInWithPasskey(authenticator)) };
    const [{ id }] = await list(me);
    const response = await remove(me, id);
    expect([response.status, response.body.data]).toEqual([200, { deleted: true, id }]);
    expect([await list(me), (await readSession(me.cookie)).status]).toEqual([[], 200]);
    expect(describeOutcome(await remove(me, id))).toBe("404 not_found");
    const { entries } = (await call("/v1/me/audit", { headers: me })).body.data;
    const removals = entries.filter(
      ({ entity_id, type }: { entity_id: string; type: string }) => entity_id === id && type === "passkey.removed",
    );
    expect(removals).toHaveLength(1);
  });

  test("returns 403 forbidden when the last sign-in is ten minutes old, and keeps the passkey", async () => {
    const authenticator = await withPasskey();
    const me = { cookie: getCookie(await signInWithPasskey(authenticator)) };
    const [{ id }] = await list(me);
    setTime(start + 10 * minuteMs);
    expect(describeOutcome(await remove(me, id))).toBe("403 forbidden");
    expect(await list(me)).toHaveLength(1);
  });

  test("returns the same 404 not_found for another person's, an unknown and a malformed id, and changes nothing", async () => {
    await withPasskey();
    const [{ id }] = await list(await signInAsConsumer());
    const stranger = await signInAsConsumer(strangerEmail);
    const before = await countRows(["passkeys", "audit_entries"]);
    for (const one of [id, `psk_00${"0".repeat(24)}`, "nothing"])
      expect(describeOutcome(await remove(stranger, one))).toBe("404 not_found");
    expect(await countRows(["passkeys", "audit_entries"])).toEqual(before);
  });
});

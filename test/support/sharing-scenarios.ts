// Makes calls that produce every success and every refusal of the sharing routes and of the routes for a person's profile and fields. Tests
// compare the responses with the OpenAPI document.
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { copyRow } from "./copied-rows.ts";
import { listMailTo, signIn } from "./people.ts";
import {
  callWith,
  listBodyRefusals,
  createFaultyPlatform,
  withHeaders,
  createRateLimitedPlatform,
  buildKeyedPost,
  buildBearerHeader,
  listKeyRefusals,
  createOutagePlatform,
  listOutages,
  sendTwice,
  type Scenarios,
} from "./scenarios.ts";
import {
  buildDecision,
  createVerifier,
  grantShare,
  signInPerson,
  redeemCode,
  contactValues,
  type Grant,
  type SignedPerson,
} from "./sharing.ts";
import { buildJsonPost } from "./withdrawal.ts";
import { call, getWithKey, origin, world, type TestResponse } from "./world.ts";

const { acme, examples } = world;
const missingShareId = "shr_00000000000000000000000000";
const unknownClient = "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz";
const unknownSession = { cookie: `svc_session=ses_00${"A".repeat(43)}` };

let sharedPerson: Promise<SignedPerson> | undefined;
/** Returns the person that all scenarios use. The scenarios can share one person, because each grant creates a new share. */
export const getPat = (): Promise<SignedPerson> => {
  sharedPerson ??= signInPerson();
  return sharedPerson;
};
const createGrant = async (change: object = {}): Promise<Grant> => grantShare(await getPat(), change);
const createShareId = async (change: object = {}): Promise<string> => (await createGrant(change)).share.id;
const createRevokedShareId = async (): Promise<string> => {
  const id = await createShareId();
  await (await getPat()).post(`/v1/shares/${id}/revoke`, { reason: "Found another provider" });
  return id;
};
const createCeasedShareId = async (): Promise<string> => {
  const id = await createRevokedShareId();
  await call(`/v1/shares/${id}/cease-ack`, buildKeyedPost({ note: "Done", acknowledged_by: "Privacy team", actions: ["removed"] }));
  return id;
};
const createRenewal = async (): Promise<{ readonly old: string; readonly id: string }> => {
  const old = await createShareId({ disclosure_text: "We call you once." });
  const renewed = await (await getPat()).post(`/v1/me/shares/${old}/renew`, { consent: true, duration_days: 30 });
  return { old, id: renewed.body.data.share.id };
};
/** A clock that is past the end of a one-day share. */
const afterShareExpiry: Partial<Platform> = { clock: () => Date.now() + 2 * dayMs };
const createOneDayShareId = (): Promise<string> => createShareId({ duration_days: 1 });

/** Sends a request while acme's account has this status. */
const withBusinessStatus = async (status: string, send: () => Promise<TestResponse>): Promise<TestResponse> => {
  const setStatus = (next: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(next, acme.id).run();
  await setStatus(status);
  try {
    return await send();
  } finally {
    await setStatus("active");
  }
};

const buildAuthorizePath = (change: Record<string, string> = {}): string => {
  const { client_id, purpose, code_challenge } = buildDecision(createVerifier());
  const query = { client_id, origin, purpose, code_challenge, code_challenge_method: "S256", scope: "email phone?", ...change };
  return `/v1/authorize?${new URLSearchParams(query)}`;
};
const requestsPath = "/v1/share/requests";
/** Builds the body of a share request that a server sends. */
const buildShareRequest = (change: object = {}) => {
  const { consent: _, ...request } = buildDecision(createVerifier());
  return { ...request, scope: "email phone?", ...change };
};
/** Checks a share request with /v1/authorize. Returns a decision with the token from the response. */
const createCheckedRequest = async (clientId: string) => {
  const verifier = createVerifier();
  const decision = buildDecision(verifier, { client_id: clientId });
  const response = await getWithKey(buildAuthorizePath({ client_id: clientId, code_challenge: decision.code_challenge }));
  return { verifier, decision: { ...decision, authorize_token: response.body.data.authorize_token } };
};
const consentPath = "/v1/share/consent";
const sandboxPath = "/v1/share/sandbox-consent";
const postDecision = async (body: object): Promise<TestResponse> => (await getPat()).post(consentPath, body);
const buildSandboxDecision = (change: object = {}) => buildDecision(createVerifier(), { client_id: acme.clients.sandbox, ...change });
const postSandboxDecision = (body: object): Promise<TestResponse> => call(sandboxPath, buildJsonPost(body, { origin }));

const buildRedemption = async (change: object = {}): Promise<RequestInit> => {
  const { code, verifier } = await createGrant();
  return buildJsonPost({ code, code_verifier: verifier, client_id: acme.clients.live, ...change }, { origin });
};

interface PersonCall {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}
export const callAsPat = async (method: string, at: string, { body, headers = {}, changed = {} }: PersonCall = {}): Promise<TestResponse> =>
  callWith(changed, at, {
    method,
    headers: { ...(await getPat()).headers, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

/** Lists the refusals that all routes for people share. */
export const listPersonRefusals = (method: string, at: () => string, body?: unknown): Scenarios => {
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => callAsPat(method, at(), { ...sent, headers: unknownSession }),
    forbidden: async () => callAsPat(method, at(), { ...sent, headers: await signIn(world.memberEmail) }),
    rate_limited: () => callAsPat(method, at(), { ...sent, changed: createRateLimitedPlatform() }),
    storage_unavailable: () => callAsPat(method, at(), { ...sent, changed: createOutagePlatform() }),
    internal_error: () => callAsPat(method, at(), { ...sent, changed: createFaultyPlatform() }),
  };
};
export const listUnsafeRefusals = (method: string, at: () => string, body: unknown = {}): Scenarios => ({
  ...listPersonRefusals(method, at, body),
  csrf_failed: () => callAsPat(method, at(), { body, headers: { origin: "https://elsewhere.example" } }),
  payload_too_large: () => callAsPat(method, at(), { body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => callAsPat(method, at(), { body: "a=b", headers: { "content-type": "text/plain" } }),
});

const renewPath = (id: string): string => `/v1/me/shares/${id}/renew`;
const renewShare = async (id: string, body: object = { consent: true }): Promise<TestResponse> =>
  callAsPat("POST", renewPath(id), { body });
const revokePath = (id: string): string => `/v1/shares/${id}/revoke`;
const buildCeasePath = (id: string): string => `/v1/shares/${id}/cease-ack`;

const listGrantRefusals = (send: (body: object) => Promise<TestResponse>, environment: "live" | "sandbox"): Scenarios => {
  const sendWith = (change: object, business: DemoBusiness = acme) =>
    send(buildDecision(createVerifier(), { client_id: business.clients[environment], ...change }));
  return {
    invalid_request: () => sendWith({ consent: false }),
    client_not_found: () => sendWith({ client_id: unknownClient }),
    business_suspended: () => sendWith({}, examples.suspended),
    business_inactive: () => sendWith({}, examples.closed),
    subscription_past_due: () => sendWith({}, examples.past_due),
    origin_mismatch: () => sendWith({ origin: "https://elsewhere.example" }),
    code_used: async () => {
      const { verifier, decision } = await createCheckedRequest(acme.clients[environment]);
      const { code } = (await send(decision)).body.data;
      await redeemCode({ code, verifier }, { client_id: decision.client_id });
      return send(decision);
    },
  };
};

export const sharingScenarios: Readonly<Record<string, Scenarios>> = {
  authorizeShare: {
    200: () => getWithKey(buildAuthorizePath()),
    "200 with everything": () =>
      getWithKey(
        buildAuthorizePath({
          scope: "address, name?",
          state: "xyz",
          duration_days: "30",
          disclosure_text: "We call you once.",
          locale: "es",
        }),
      ),
    "200 of a test client": () => getWithKey(buildAuthorizePath({ client_id: acme.clients.sandbox })),
    303: () => call(buildAuthorizePath(), { headers: { "sec-fetch-mode": "navigate" }, redirect: "manual" }),
    invalid_request: () => getWithKey(buildAuthorizePath({ scope: "shoe_size" })),
    client_not_found: () => getWithKey(buildAuthorizePath({ client_id: unknownClient })),
    business_suspended: () => getWithKey(buildAuthorizePath({ client_id: examples.suspended.clients.live })),
    business_inactive: () => getWithKey(buildAuthorizePath({ client_id: examples.closed.clients.live })),
    origin_mismatch: () => getWithKey(buildAuthorizePath({ origin: "https://elsewhere.example" })),
    ...listOutages(buildAuthorizePath, {}),
  },
  signShareRequest: {
    200: () => call(requestsPath, buildKeyedPost(buildShareRequest({ state: "xyz", return_url: `${origin}/quote`, duration_days: 30 }))),
    "200 of a test client": () =>
      call(requestsPath, buildKeyedPost(buildShareRequest({ client_id: acme.clients.sandbox }), acme.keys.sandbox)),
    invalid_request: () => call(requestsPath, buildKeyedPost(buildShareRequest({ return_url: "https://elsewhere.example/" }))),
    client_not_found: () => call(requestsPath, buildKeyedPost(buildShareRequest(), world.other.keys.live)),
    subscription_past_due: () =>
      call(requestsPath, buildKeyedPost(buildShareRequest({ client_id: examples.past_due.clients.live }), examples.past_due.keys.live)),
    origin_mismatch: () => call(requestsPath, buildKeyedPost(buildShareRequest({ origin: "https://elsewhere.example" }))),
    ...listBodyRefusals(() => requestsPath, buildBearerHeader(acme.keys.live)),
    ...listKeyRefusals(
      () => requestsPath,
      () => buildShareRequest(),
    ),
  },
  grantShare: {
    201: () =>
      postDecision(
        buildDecision(createVerifier(), { state: "xyz", scope: ["address", "name"], missing_ok: ["address"], duration_days: 1 }),
      ),
    "201 of a request that was checked": async () => postDecision((await createCheckedRequest(acme.clients.live)).decision),
    ...listUnsafeRefusals("POST", () => consentPath, buildDecision(createVerifier())),
    ...listGrantRefusals(postDecision, "live"),
    share_inactive: async () => {
      const { decision } = await createCheckedRequest(acme.clients.live);
      const { share } = (await postDecision(decision)).body.data;
      await (await getPat()).post(revokePath(share.id), {});
      return postDecision(decision);
    },
    share_limit: async () => {
      const pat = await signInPerson();
      await copyRow("shares", (await grantShare(pat)).share.id, 99);
      return pat.post(consentPath, buildDecision(createVerifier()));
    },
    idempotency_conflict: async () => {
      const { post } = await getPat();
      return sendTwice((body, key) => post(consentPath, body, key), buildDecision(createVerifier()), buildDecision(createVerifier()));
    },
  },
  grantSandboxShare: {
    201: () => postSandboxDecision(buildSandboxDecision()),
    "201 of a person who lacks some": () => postSandboxDecision(buildSandboxDecision({ persona: "minimal", missing_ok: ["phone"] })),
    ...listBodyRefusals(() => sandboxPath),
    ...listOutages(() => sandboxPath, buildJsonPost(buildSandboxDecision())),
    ...listGrantRefusals(postSandboxDecision, "sandbox"),
    sandbox_only: () => postSandboxDecision(buildDecision(createVerifier())),
    share_inactive: async () => {
      const { decision } = await createCheckedRequest(acme.clients.sandbox);
      const { share } = (await postSandboxDecision(decision)).body.data;
      await call("/v1/sandbox/trigger", buildKeyedPost({ type: "share.revoked", share_id: share.id }, acme.keys.sandbox));
      return postSandboxDecision(decision);
    },
    idempotency_conflict: () =>
      sendTwice((body, key) => call(sandboxPath, buildJsonPost(body, key)), buildSandboxDecision(), buildSandboxDecision()),
  },
  redeemShare: {
    200: async () => call("/v1/share/redeem", await buildRedemption()),
    "200 with nothing in a field": async () => redeemCode(await createGrant({ scope: ["email", "address"], missing_ok: ["address"] })),
    "200 asked again": async () => {
      const lost = withHeaders(await buildRedemption(), { "idempotency-key": crypto.randomUUID() });
      await call("/v1/share/redeem", lost);
      return call("/v1/share/redeem", lost);
    },
    invalid_request: async () => call("/v1/share/redeem", await buildRedemption({ code_verifier: "short" })),
    code_invalid: async () => call("/v1/share/redeem", await buildRedemption({ client_id: world.other.clients.live })),
    pkce_mismatch: async () => call("/v1/share/redeem", await buildRedemption({ code_verifier: createVerifier() })),
    business_suspended: async () => {
      const redemption = await buildRedemption();
      return withBusinessStatus("suspended", () => call("/v1/share/redeem", redemption));
    },
    business_inactive: async () => {
      const redemption = await buildRedemption();
      return withBusinessStatus("closed", () => call("/v1/share/redeem", redemption));
    },
    origin_mismatch: async () => call("/v1/share/redeem", withHeaders(await buildRedemption(), { origin: "https://other.example" })),
    code_used: async () => {
      const grant = await createGrant();
      await redeemCode(grant);
      return redeemCode(grant);
    },
    share_inactive: async () => {
      const grant = await createGrant();
      await (await getPat()).post(revokePath(grant.share.id), {});
      return redeemCode(grant);
    },
    code_expired: async () => {
      const grant = await createGrant();
      vi.setSystemTime(Date.now() + minuteMs);
      return redeemCode(grant);
    },
    ...listBodyRefusals(() => "/v1/share/redeem"),
    ...listOutages(
      () => "/v1/share/redeem",
      buildJsonPost({ code: `ac_00${"A".repeat(43)}`, code_verifier: createVerifier(), client_id: acme.clients.live }),
    ),
  },
  revokeShare: {
    200: async () => callAsPat("POST", revokePath(await createShareId()), { body: { reason: "Found another provider" } }),
    "200 without a body": async () => callAsPat("POST", revokePath(await createShareId())),
    "200 a second time": async () => callAsPat("POST", revokePath(await createRevokedShareId()), { body: {} }),
    "200 of one that was acknowledged": async () => callAsPat("POST", revokePath(await createCeasedShareId()), { body: {} }),
    "200 by the link": async () => {
      const id = await createShareId();
      const mails = await listMailTo((await getPat()).email);
      const token = mails.map(({ text }) => new RegExp(`/stop/${id}#t=(\\S+)`).exec(text)?.[1]).find(Boolean);
      return call(revokePath(id), buildJsonPost({ revoke_token: token }));
    },
    ...listUnsafeRefusals("POST", () => revokePath(missingShareId)),
    invalid_request: () => callAsPat("POST", revokePath(missingShareId), { body: { reason: 1 } }),
    not_found: () => callAsPat("POST", revokePath(missingShareId), { body: {} }),
    share_inactive: async () => callAsPat("POST", revokePath(await createOneDayShareId()), { body: {}, changed: afterShareExpiry }),
    idempotency_conflict: async () => {
      const at = revokePath(await createShareId());
      return sendTwice((body, headers) => callAsPat("POST", at, { body, headers }), {}, { reason: "other" });
    },
  },
  acknowledgeShare: {
    200: async () =>
      call(
        buildCeasePath(await createRevokedShareId()),
        buildKeyedPost({ note: "Done", acknowledged_by: "Privacy team", actions: ["removed from the call list"] }),
      ),
    "200 a second time": async () => call(buildCeasePath(await createCeasedShareId()), buildKeyedPost({})),
    invalid_request: async () => call(buildCeasePath(missingShareId), buildKeyedPost({ actions: "removed" })),
    subscription_past_due: () => call(buildCeasePath(missingShareId), buildKeyedPost({}, examples.past_due.keys.live)),
    not_found: async () => call(buildCeasePath(await createRevokedShareId()), buildKeyedPost({}, world.other.keys.live)),
    cease_not_open: async () => call(buildCeasePath(await createShareId()), buildKeyedPost({})),
    idempotency_conflict: async () => {
      const at = buildCeasePath(await createRevokedShareId());
      return sendTwice((body, key) => call(at, withHeaders(buildKeyedPost(body), key)), {}, { note: "other" });
    },
    ...listBodyRefusals(() => buildCeasePath(missingShareId), buildBearerHeader(acme.keys.live)),
    ...listKeyRefusals(
      () => buildCeasePath(missingShareId),
      () => ({}),
    ),
  },
  listShares: {
    200: async () => {
      await Promise.all([createShareId(), createCeasedShareId(), createRenewal()]);
      return getWithKey("/v1/shares", acme.keys.live);
    },
    "200 one of many": async () => {
      const { id } = await createRenewal();
      return getWithKey(`/v1/shares?limit=1&starting_after=${id}&status=superseded`, acme.keys.live);
    },
    "200 none": () => getWithKey("/v1/shares", world.other.keys.live),
    "200 of the sandbox": async () => {
      await postSandboxDecision(buildSandboxDecision());
      return getWithKey("/v1/shares?status=active", acme.keys.sandbox);
    },
    invalid_request: () => getWithKey("/v1/shares?status=gone", acme.keys.live),
    ...listKeyRefusals(() => "/v1/shares"),
  },
  readShare: {
    200: async () => getWithKey(`/v1/shares/${await createShareId({ disclosure_text: "We call you once." })}`, acme.keys.live),
    "200 stopped and acknowledged": async () => getWithKey(`/v1/shares/${await createCeasedShareId()}`, acme.keys.live),
    "200 renewed": async () => getWithKey(`/v1/shares/${(await createRenewal()).id}`, acme.keys.live),
    "200 at its end": async () =>
      callWith(afterShareExpiry, `/v1/shares/${await createOneDayShareId()}`, { headers: buildBearerHeader(acme.keys.live) }),
    not_found: async () => getWithKey(`/v1/shares/${await createShareId()}`, world.other.keys.live),
    ...listKeyRefusals(() => `/v1/shares/${missingShareId}`),
  },
  readCurrentValues: {
    200: async () => getWithKey(`/v1/consumers/${await createShareId()}/current`, acme.keys.live),
    "200 with nothing in a field": async () =>
      getWithKey(`/v1/consumers/${await createShareId({ scope: ["address"], missing_ok: ["address"] })}/current`, acme.keys.live),
    not_found: async () => getWithKey(`/v1/consumers/${await createShareId()}/current`, world.other.keys.live),
    share_inactive: async () => getWithKey(`/v1/consumers/${await createRevokedShareId()}/current`, acme.keys.live),
    ...listKeyRefusals(() => `/v1/consumers/${missingShareId}/current`),
  },
  readProfile: {
    200: () => callAsPat("GET", "/v1/me"),
    "200 of somebody new": async () => (await signInPerson({})).get("/v1/me"),
    ...listPersonRefusals("GET", () => "/v1/me"),
  },
  readContactFields: {
    200: () => callAsPat("GET", "/v1/me/fields"),
    "200 without any": async () => (await signInPerson({})).get("/v1/me/fields"),
    ...listPersonRefusals("GET", () => "/v1/me/fields"),
  },
  changeContactFields: {
    200: async () => {
      const sam = await signInPerson({});
      await grantShare(sam, { scope: ["phone"], missing_ok: ["phone"] });
      return sam.put("/v1/me/fields", { ...contactValues, address_line2: null });
    },
    "200 of nothing new": () => callAsPat("PUT", "/v1/me/fields", { body: { email: contactValues.email } }),
    invalid_request: () => callAsPat("PUT", "/v1/me/fields", { body: { shoe_size: "42" } }),
    ...listUnsafeRefusals("PUT", () => "/v1/me/fields", { phone: contactValues.phone }),
  },
  listOwnShares: {
    200: async () => {
      await Promise.all([createShareId(), createRevokedShareId(), createRenewal()]);
      return callAsPat("GET", "/v1/me/shares");
    },
    "200 none": async () => (await signInPerson({})).get("/v1/me/shares"),
    ...listPersonRefusals("GET", () => "/v1/me/shares"),
  },
  severShare: {
    200: async () => callAsPat("POST", `/v1/me/sever/${await createShareId()}`, { body: { reason: "Found another provider" } }),
    "200 a second time": async () => callAsPat("POST", `/v1/me/sever/${await createRevokedShareId()}`),
    ...listUnsafeRefusals("POST", () => `/v1/me/sever/${missingShareId}`),
    invalid_request: () => callAsPat("POST", `/v1/me/sever/${missingShareId}`, { body: { reason: 1 } }),
    not_found: () => callAsPat("POST", `/v1/me/sever/${missingShareId}`),
    share_inactive: async () => callAsPat("POST", `/v1/me/sever/${(await createRenewal()).old}`),
    idempotency_conflict: async () => {
      const at = `/v1/me/sever/${await createShareId()}`;
      return sendTwice((body, headers) => callAsPat("POST", at, { body, headers }), {}, { reason: "other" });
    },
  },
  renewShare: {
    201: async () => renewShare(await createShareId(), { consent: true, duration_days: 30, scope: ["email", "name"] }),
    "201 as before": async () => renewShare(await createShareId()),
    ...listUnsafeRefusals("POST", () => renewPath(missingShareId), { consent: true }),
    invalid_request: () => renewShare(missingShareId, { consent: false }),
    not_found: () => renewShare(missingShareId),
    share_inactive: async () => renewShare(await createRevokedShareId()),
    business_suspended: async () => {
      const id = await createShareId();
      return withBusinessStatus("suspended", () => renewShare(id));
    },
    business_inactive: async () => {
      const id = await createShareId();
      return withBusinessStatus("closed", () => renewShare(id));
    },
    subscription_past_due: async () => {
      const id = await createShareId();
      return withBusinessStatus("past_due", () => renewShare(id));
    },
    idempotency_conflict: async () => {
      const at = renewPath(await createShareId());
      return sendTwice(
        (body, headers) => callAsPat("POST", at, { body, headers }),
        { consent: true },
        { consent: true, duration_days: 30 },
      );
    },
  },
};

// An answer of each success and each refusal of the routes of sharing and of a person's account, for the description of the API to be
// held against.
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import type { Platform } from "../../workers/services.ts";
import { mailsTo, signIn } from "./people.ts";
import {
  answerOf,
  bodyRefusals,
  bug,
  changed,
  crowded,
  keyed,
  bearerOf,
  keyRefusals,
  outage,
  outages,
  twice,
  type Scenarios,
} from "./scenarios.ts";
import { decision, freshVerifier, grant, person, redeem, values, type Grant, type SignedPerson } from "./sharing.ts";
import { jsonPost } from "./withdrawing.ts";
import { call, get, origin, world, type Answer } from "./world.ts";

const { acme, examples } = world;
const noShare = "shr_00000000000000000000000000";
const unknownClient = "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz";
const nobody = { cookie: `svc_session=ses_00${"A".repeat(43)}` };

let somebody: Promise<SignedPerson> | undefined;
/** One person for all of it; each grant of theirs is a share of its own. */
export const pat = (): Promise<SignedPerson> => {
  somebody ??= person();
  return somebody;
};
const granted = async (change: object = {}): Promise<Grant> => grant(await pat(), change);
const sharedId = async (change: object = {}): Promise<string> => (await granted(change)).share.id;
const stoppedId = async (): Promise<string> => {
  const id = await sharedId();
  await (await pat()).post(`/v1/shares/${id}/revoke`, { reason: "Found another provider" });
  return id;
};
const ceasedId = async (): Promise<string> => {
  const id = await stoppedId();
  await call(`/v1/shares/${id}/cease-ack`, keyed({ note: "Done", acknowledged_by: "Privacy team", actions: ["removed"] }));
  return id;
};
const renewal = async (): Promise<{ readonly old: string; readonly id: string }> => {
  const old = await sharedId({ disclosure_text: "We call you once." });
  const renewed = await (await pat()).post(`/v1/me/shares/${old}/renew`, { consent: true, duration_days: 30 });
  return { old, id: renewed.body.data.share.id };
};
/** When a share of one day has come to its end by itself. */
const dayAfter: Partial<Platform> = { clock: () => Date.now() + 2 * dayMs };
const dayShareId = (): Promise<string> => sharedId({ duration_days: 1 });

/** While acme's account is in another state. */
const inState = async (status: string, ask: () => Promise<Answer>): Promise<Answer> => {
  const become = (next: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(next, acme.id).run();
  await become(status);
  try {
    return await ask();
  } finally {
    await become("active");
  }
};

const asking = (change: Record<string, string> = {}): string => {
  const { client_id, purpose, code_challenge } = decision(freshVerifier());
  const query = { client_id, origin, purpose, code_challenge, code_challenge_method: "S256", scope: "email phone?", ...change };
  return `/v1/authorize?${new URLSearchParams(query)}`;
};
/** A request that was checked, as whoever decides sends it on. */
const checked = async (clientId: string) => {
  const verifier = freshVerifier();
  const asked = decision(verifier, { client_id: clientId });
  const answer = await get(asking({ client_id: clientId, code_challenge: asked.code_challenge }));
  return { verifier, asked: { ...asked, authorize_token: answer.body.data.authorize_token } };
};
const consentPath = "/v1/share/consent";
const sandboxPath = "/v1/share/sandbox-consent";
const decide = async (body: object): Promise<Answer> => (await pat()).post(consentPath, body);
const trial = (change: object = {}) => decision(freshVerifier(), { client_id: acme.clients.sandbox, ...change });
const tryOut = (body: object): Promise<Answer> => call(sandboxPath, jsonPost(body, { origin }));

const redemption = async (change: object = {}): Promise<RequestInit> => {
  const { code, verifier } = await granted();
  return jsonPost({ code, code_verifier: verifier, client_id: acme.clients.live, ...change }, { origin });
};

interface PersonCall {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}
export const asPat = async (method: string, at: string, { body, headers = {}, changed = {} }: PersonCall = {}): Promise<Answer> =>
  answerOf(changed, at, {
    method,
    headers: { ...(await pat()).headers, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

/** The refusals that all routes of a person share. */
export const personRefusals = (method: string, at: () => string, body?: unknown): Scenarios => {
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => asPat(method, at(), { ...sent, headers: nobody }),
    forbidden: async () => asPat(method, at(), { ...sent, headers: await signIn(world.memberEmail) }),
    rate_limited: () => asPat(method, at(), { ...sent, changed: crowded() }),
    storage_unavailable: () => asPat(method, at(), { ...sent, changed: outage() }),
    internal_error: () => asPat(method, at(), { ...sent, changed: bug() }),
  };
};
export const unsafeRefusals = (method: string, at: () => string, body: unknown = {}): Scenarios => ({
  ...personRefusals(method, at, body),
  csrf_failed: () => asPat(method, at(), { body, headers: { origin: "https://elsewhere.example" } }),
  payload_too_large: () => asPat(method, at(), { body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => asPat(method, at(), { body: "a=b", headers: { "content-type": "text/plain" } }),
});

const renewPath = (id: string): string => `/v1/me/shares/${id}/renew`;
const renew = async (id: string, body: object = { consent: true }): Promise<Answer> => asPat("POST", renewPath(id), { body });
const revokePath = (id: string): string => `/v1/shares/${id}/revoke`;
const ceasePath = (id: string): string => `/v1/shares/${id}/cease-ack`;

/** What a grant refuses, whoever decides. */
const grantRefusals = (send: (body: object) => Promise<Answer>, environment: "live" | "sandbox"): Scenarios => {
  const with_ = (change: object, business: DemoBusiness = acme) =>
    send(decision(freshVerifier(), { client_id: business.clients[environment], ...change }));
  return {
    invalid_request: () => with_({ consent: false }),
    client_not_found: () => with_({ client_id: unknownClient }),
    business_suspended: () => with_({}, examples.suspended),
    business_inactive: () => with_({}, examples.closed),
    subscription_past_due: () => with_({}, examples.past_due),
    origin_mismatch: () => with_({ origin: "https://elsewhere.example" }),
    code_used: async () => {
      const { verifier, asked } = await checked(acme.clients[environment]);
      const { code } = (await send(asked)).body.data;
      await redeem({ code, verifier }, { client_id: asked.client_id });
      return send(asked);
    },
  };
};

export const sharingScenarios: Readonly<Record<string, Scenarios>> = {
  authorizeShare: {
    200: () => get(asking()),
    "200 with everything": () =>
      get(asking({ scope: "address, name?", state: "xyz", duration_days: "30", disclosure_text: "We call you once.", locale: "es" })),
    "200 of a test client": () => get(asking({ client_id: acme.clients.sandbox })),
    303: () => call(asking(), { headers: { "sec-fetch-mode": "navigate" }, redirect: "manual" }),
    invalid_request: () => get(asking({ scope: "shoe_size" })),
    client_not_found: () => get(asking({ client_id: unknownClient })),
    business_suspended: () => get(asking({ client_id: examples.suspended.clients.live })),
    business_inactive: () => get(asking({ client_id: examples.closed.clients.live })),
    origin_mismatch: () => get(asking({ origin: "https://elsewhere.example" })),
    ...outages(asking, {}),
  },
  grantShare: {
    201: () => decide(decision(freshVerifier(), { state: "xyz", scope: ["address", "name"], missing_ok: ["address"], duration_days: 1 })),
    "201 of a request that was checked": async () => decide((await checked(acme.clients.live)).asked),
    ...unsafeRefusals("POST", () => consentPath, decision(freshVerifier())),
    ...grantRefusals(decide, "live"),
    share_inactive: async () => {
      const { asked } = await checked(acme.clients.live);
      const { share } = (await decide(asked)).body.data;
      await (await pat()).post(revokePath(share.id), {});
      return decide(asked);
    },
    idempotency_conflict: async () => {
      const { post } = await pat();
      return twice((body, key) => post(consentPath, body, key), decision(freshVerifier()), decision(freshVerifier()));
    },
  },
  grantSandboxShare: {
    201: () => tryOut(trial()),
    "201 of a person who lacks some": () => tryOut(trial({ persona: "minimal", missing_ok: ["phone"] })),
    ...bodyRefusals(() => sandboxPath),
    ...outages(() => sandboxPath, jsonPost(trial())),
    ...grantRefusals(tryOut, "sandbox"),
    sandbox_only: () => tryOut(decision(freshVerifier())),
    idempotency_conflict: () => twice((body, key) => call(sandboxPath, jsonPost(body, key)), trial(), trial()),
  },
  redeemShare: {
    200: async () => call("/v1/share/redeem", await redemption()),
    "200 with nothing in a field": async () => redeem(await granted({ scope: ["email", "address"], missing_ok: ["address"] })),
    "200 asked again": async () => {
      const lost = changed(await redemption(), { "idempotency-key": crypto.randomUUID() });
      await call("/v1/share/redeem", lost);
      return call("/v1/share/redeem", lost);
    },
    invalid_request: async () => call("/v1/share/redeem", await redemption({ code_verifier: "short" })),
    code_invalid: async () => call("/v1/share/redeem", await redemption({ client_id: world.other.clients.live })),
    pkce_mismatch: async () => call("/v1/share/redeem", await redemption({ code_verifier: freshVerifier() })),
    business_suspended: async () => {
      const asked = await redemption();
      return inState("suspended", () => call("/v1/share/redeem", asked));
    },
    business_inactive: async () => {
      const asked = await redemption();
      return inState("closed", () => call("/v1/share/redeem", asked));
    },
    origin_mismatch: async () => call("/v1/share/redeem", changed(await redemption(), { origin: "https://other.example" })),
    code_used: async () => {
      const made = await granted();
      await redeem(made);
      return redeem(made);
    },
    share_inactive: async () => {
      const made = await granted();
      await (await pat()).post(revokePath(made.share.id), {});
      return redeem(made);
    },
    code_expired: async () => {
      const made = await granted();
      vi.setSystemTime(Date.now() + minuteMs);
      return redeem(made);
    },
    ...bodyRefusals(() => "/v1/share/redeem"),
    ...outages(
      () => "/v1/share/redeem",
      jsonPost({ code: `ac_00${"A".repeat(43)}`, code_verifier: freshVerifier(), client_id: acme.clients.live }),
    ),
  },
  revokeShare: {
    200: async () => asPat("POST", revokePath(await sharedId()), { body: { reason: "Found another provider" } }),
    "200 without a body": async () => asPat("POST", revokePath(await sharedId())),
    "200 a second time": async () => asPat("POST", revokePath(await stoppedId()), { body: {} }),
    "200 of one that was acknowledged": async () => asPat("POST", revokePath(await ceasedId()), { body: {} }),
    "200 by the link": async () => {
      const id = await sharedId();
      const mails = await mailsTo((await pat()).email);
      const token = mails.map(({ text }) => new RegExp(`/stop/${id}#t=(\\S+)`).exec(text)?.[1]).find(Boolean);
      return call(revokePath(id), jsonPost({ revoke_token: token }));
    },
    ...unsafeRefusals("POST", () => revokePath(noShare)),
    invalid_request: () => asPat("POST", revokePath(noShare), { body: { reason: 1 } }),
    not_found: () => asPat("POST", revokePath(noShare), { body: {} }),
    share_inactive: async () => asPat("POST", revokePath(await dayShareId()), { body: {}, changed: dayAfter }),
    idempotency_conflict: async () => {
      const at = revokePath(await sharedId());
      return twice((body, headers) => asPat("POST", at, { body, headers }), {}, { reason: "other" });
    },
  },
  acknowledgeShare: {
    200: async () =>
      call(ceasePath(await stoppedId()), keyed({ note: "Done", acknowledged_by: "Privacy team", actions: ["removed from the call list"] })),
    "200 a second time": async () => call(ceasePath(await ceasedId()), keyed({})),
    invalid_request: async () => call(ceasePath(noShare), keyed({ actions: "removed" })),
    subscription_past_due: () => call(ceasePath(noShare), keyed({}, examples.past_due.keys.live)),
    not_found: async () => call(ceasePath(await stoppedId()), keyed({}, world.other.keys.live)),
    cease_not_open: async () => call(ceasePath(await sharedId()), keyed({})),
    idempotency_conflict: async () => {
      const at = ceasePath(await stoppedId());
      return twice((body, key) => call(at, changed(keyed(body), key)), {}, { note: "other" });
    },
    ...bodyRefusals(() => ceasePath(noShare), bearerOf(acme.keys.live)),
    ...keyRefusals(
      () => ceasePath(noShare),
      () => ({}),
    ),
  },
  listShares: {
    200: async () => {
      await Promise.all([sharedId(), ceasedId(), renewal()]);
      return get("/v1/shares", acme.keys.live);
    },
    "200 one of many": async () => {
      const { id } = await renewal();
      return get(`/v1/shares?limit=1&starting_after=${id}&status=superseded`, acme.keys.live);
    },
    "200 none": () => get("/v1/shares", world.other.keys.live),
    "200 of the sandbox": async () => {
      await tryOut(trial());
      return get("/v1/shares?status=active", acme.keys.sandbox);
    },
    invalid_request: () => get("/v1/shares?status=gone", acme.keys.live),
    ...keyRefusals(() => "/v1/shares"),
  },
  readShare: {
    200: async () => get(`/v1/shares/${await sharedId({ disclosure_text: "We call you once." })}`, acme.keys.live),
    "200 stopped and acknowledged": async () => get(`/v1/shares/${await ceasedId()}`, acme.keys.live),
    "200 renewed": async () => get(`/v1/shares/${(await renewal()).id}`, acme.keys.live),
    "200 at its end": async () => answerOf(dayAfter, `/v1/shares/${await dayShareId()}`, { headers: bearerOf(acme.keys.live) }),
    not_found: async () => get(`/v1/shares/${await sharedId()}`, world.other.keys.live),
    ...keyRefusals(() => `/v1/shares/${noShare}`),
  },
  readCurrentValues: {
    200: async () => get(`/v1/consumers/${await sharedId()}/current`, acme.keys.live),
    "200 with nothing in a field": async () =>
      get(`/v1/consumers/${await sharedId({ scope: ["address"], missing_ok: ["address"] })}/current`, acme.keys.live),
    not_found: async () => get(`/v1/consumers/${await sharedId()}/current`, world.other.keys.live),
    share_inactive: async () => get(`/v1/consumers/${await stoppedId()}/current`, acme.keys.live),
    ...keyRefusals(() => `/v1/consumers/${noShare}/current`),
  },
  readProfile: {
    200: () => asPat("GET", "/v1/me"),
    "200 of somebody new": async () => (await person({})).get("/v1/me"),
    ...personRefusals("GET", () => "/v1/me"),
  },
  readContactFields: {
    200: () => asPat("GET", "/v1/me/fields"),
    "200 without any": async () => (await person({})).get("/v1/me/fields"),
    ...personRefusals("GET", () => "/v1/me/fields"),
  },
  changeContactFields: {
    200: async () => {
      const sam = await person({});
      await grant(sam, { scope: ["phone"], missing_ok: ["phone"] });
      return sam.put("/v1/me/fields", { ...values, address_line2: null });
    },
    "200 of nothing new": () => asPat("PUT", "/v1/me/fields", { body: { email: values.email } }),
    invalid_request: () => asPat("PUT", "/v1/me/fields", { body: { shoe_size: "42" } }),
    ...unsafeRefusals("PUT", () => "/v1/me/fields", { phone: values.phone }),
  },
  listOwnShares: {
    200: async () => {
      await Promise.all([sharedId(), stoppedId(), renewal()]);
      return asPat("GET", "/v1/me/shares");
    },
    "200 none": async () => (await person({})).get("/v1/me/shares"),
    ...personRefusals("GET", () => "/v1/me/shares"),
  },
  severShare: {
    200: async () => asPat("POST", `/v1/me/sever/${await sharedId()}`, { body: { reason: "Found another provider" } }),
    "200 a second time": async () => asPat("POST", `/v1/me/sever/${await stoppedId()}`),
    ...unsafeRefusals("POST", () => `/v1/me/sever/${noShare}`),
    invalid_request: () => asPat("POST", `/v1/me/sever/${noShare}`, { body: { reason: 1 } }),
    not_found: () => asPat("POST", `/v1/me/sever/${noShare}`),
    share_inactive: async () => asPat("POST", `/v1/me/sever/${(await renewal()).old}`),
    idempotency_conflict: async () => {
      const at = `/v1/me/sever/${await sharedId()}`;
      return twice((body, headers) => asPat("POST", at, { body, headers }), {}, { reason: "other" });
    },
  },
  renewShare: {
    201: async () => renew(await sharedId(), { consent: true, duration_days: 30, scope: ["email", "name"] }),
    "201 as before": async () => renew(await sharedId()),
    ...unsafeRefusals("POST", () => renewPath(noShare), { consent: true }),
    invalid_request: () => renew(noShare, { consent: false }),
    not_found: () => renew(noShare),
    share_inactive: async () => renew(await stoppedId()),
    business_suspended: async () => {
      const id = await sharedId();
      return inState("suspended", () => renew(id));
    },
    business_inactive: async () => {
      const id = await sharedId();
      return inState("closed", () => renew(id));
    },
    subscription_past_due: async () => {
      const id = await sharedId();
      return inState("past_due", () => renew(id));
    },
    idempotency_conflict: async () => {
      const at = renewPath(await sharedId());
      return twice((body, headers) => asPat("POST", at, { body, headers }), { consent: true }, { consent: true, duration_days: 30 });
    },
  },
};

// Tests tokens and links that are derived from a key while the key is rotated. Four services share one database: one from before the
// rotation, and one for each of its steps.
import { beforeEach, describe, expect, test } from "vitest";
import { waitUntilSettled } from "../support/background-work.ts";
import { createBrowserSession, parseFormFields } from "../support/browser-session.ts";
import { createRandomKey } from "../support/note-keys.ts";
import { exchangeCode, loopback, postRegistration } from "../support/oauth-connection.ts";
import { clearCodes, listMailTo, signIn } from "../support/people.ts";
import { buildDecision, contactValues, createVerifier, describeOutcome, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { buildJsonPost, issueToNewPerson, listLinkTokens, requestWithdrawalCode } from "../support/withdrawal.ts";
import { buildConsentRequest, buildSubmission, createServiceCall, origin, world, type Call } from "../support/world.ts";

const key = createRandomKey(91);
const withoutSetting = createServiceCall();
const withNext = createServiceCall({ LINK_KEYS: `index,1:${key}@next` });
const withBoth = createServiceCall({ LINK_KEYS: `index,1:${key}` });
const withNewOnly = createServiceCall({ LINK_KEYS: `1:${key}` });

/** Sends the token to a service and returns the outcome. */
type Attempt = (service: Call) => Promise<string>;

interface TokenKind {
  readonly create: (service: Call) => Promise<Attempt>;
  readonly accepted: string;
  readonly refused: string;
}

/** Asks `service` to check a share request. Returns the request that sends the person's decision. */
const authorizeShare = async ({ headers }: SignedPerson, service: Call): Promise<RequestInit> => {
  const decision = buildDecision(createVerifier());
  const query = new URLSearchParams({
    client_id: decision.client_id,
    origin,
    scope: decision.scope.join(" "),
    purpose: decision.purpose,
    code_challenge: decision.code_challenge,
    code_challenge_method: "S256",
  });
  const { body } = await service(`/v1/authorize?${query}`, { headers: { origin } });
  return buildJsonPost({ ...decision, authorize_token: body.data.authorize_token }, headers);
};

const kinds: Readonly<Record<string, TokenKind>> = {
  "a link that ends a share": {
    create: async (service) => {
      const pat = await signInPerson(contactValues, service);
      const { body } = await pat.post("/v1/share/consent", buildDecision(createVerifier()));
      const { id } = body.data.share;
      await waitUntilSettled();
      const text = (await listMailTo(pat.email)).map((mail) => mail.text).join("\n");
      const token = new RegExp(`/stop/${id}#t=([\\w-]{43})`).exec(text)?.[1];
      return async (service) => describeOutcome(await service(`/v1/shares/${id}/revoke`, buildJsonPost({ revoke_token: token })));
    },
    accepted: "200 ok",
    refused: "401 unauthorized",
  },
  "a link in a withdrawal email": {
    create: async (service) => {
      const { certId, email } = await issueToNewPerson();
      await requestWithdrawalCode(certId, email, {}, service);
      const [token] = await listLinkTokens(email);
      return async (service) => describeOutcome(await service(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token })));
    },
    accepted: "200 ok",
    refused: "400 opt_out_failed",
  },
  "a link in a sign-in email": {
    create: async (service) => {
      await clearCodes();
      const browser = createBrowserSession("", service);
      await browser.post("/app/sign-in", { email: world.consumerEmail, next: "/app/details" });
      await waitUntilSettled();
      const [mail] = await listMailTo(world.consumerEmail);
      const token = /#s=([\w-]{43})$/m.exec(mail?.text ?? "")?.[1] ?? "";
      const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join("; ");
      return async (service) =>
        (await createBrowserSession(cookie, service).post("/app/sign-in/link", { token })).headers.get("location") ?? "no redirect";
    },
    accepted: "/app/details",
    refused: "/app/sign-in/link?outcome=failed",
  },
  "a form of the portal": {
    create: async (service) => {
      const { cookie } = await signIn(world.ownerEmail);
      const path = "/portal/settings/events";
      const fields = parseFormFields(await createBrowserSession(cookie, service).open("/portal/settings"), path);
      return async (service) => String((await createBrowserSession(cookie, service).post(path, fields)).status);
    },
    accepted: "303",
    refused: "403",
  },
  "the secret of an OAuth client": {
    create: async (service) => {
      const registration = { redirect_uris: [loopback], token_endpoint_auth_method: "client_secret_post" };
      const { client_id: id, client_secret: secret } = (await postRegistration(registration, service)).body;
      return async (service) => {
        const { status, body } = await exchangeCode("unknown", id, { client_secret: secret }, {}, service);
        return `${status} ${body.error}`;
      };
    },
    accepted: "400 invalid_grant",
    refused: "401 invalid_client",
  },
  "the token of a share request": {
    create: async (service) => {
      const request = await authorizeShare(await signInPerson(), service);
      return async (service) => describeOutcome(await service("/v1/share/consent", request));
    },
    accepted: "201 ok",
    refused: "400 invalid_request",
  },
};

beforeEach(clearCodes);

describe.each(Object.entries(kinds))("%s", (_, { create, accepted, refused }) => {
  test.each([
    [
      "before the rotation is accepted until the earlier key is removed",
      withoutSetting,
      [withoutSetting, withNext, withBoth],
      [withNewOnly],
    ],
    ["with the new key is accepted by every service that has this key", withBoth, [withNext, withBoth, withNewOnly], [withoutSetting]],
  ] as const)("that was created %s", async (__, creator, accepting, refusing) => {
    for (const service of refusing) expect(await (await create(creator))(service)).toBe(refused);
    for (const service of accepting) expect(await (await create(creator))(service)).toBe(accepted);
  });
});

describe("a rotation of the link key", () => {
  test("does not change the certificate and the withdrawal link of a submission that is repeated after it", async () => {
    const request = buildConsentRequest(buildSubmission(), { "idempotency-key": crypto.randomUUID() });
    const first = await withoutSetting("/v1/consent", request);
    expect((await withNewOnly("/v1/consent", request)).body.data).toEqual(first.body.data);
    const token = String(first.body.data.manage_url).split("#m=")[1];
    expect(describeOutcome(await withNewOnly(`/v1/certs/${first.body.data.cert_id}/opt-out/manage`, buildJsonPost({ token })))).toBe(
      "200 ok",
    );
  });

  test("does not change the code of a decision that is repeated after it", async () => {
    const request = await authorizeShare(await signInPerson(), withoutSetting);
    const first = await withoutSetting("/v1/share/consent", request);
    expect((await withBoth("/v1/share/consent", request)).body.data.code).toBe(first.body.data.code);
  });

  test("does not let a form that creates an agent token create a second one", async () => {
    const { cookie } = await signIn(world.consumerEmail, "consumer");
    const fields = parseFormFields(await createBrowserSession(cookie, withoutSetting).open("/app/agents"), "/app/agents");
    const send = (service: Call) => createBrowserSession(cookie, service).post("/app/agents", { ...fields, name: "Helper" });
    expect((await send(withoutSetting)).text).toContain("pat_00");
    const repeated = await send(withBoth);
    expect([repeated.status, repeated.text.includes("pat_00")]).toEqual([200, false]);
  });
});

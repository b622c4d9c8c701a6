// Tests a database that does not respond: the error that the caller gets, and what happens when the caller repeats the request.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { buildJsonRequest } from "../support/people.ts";
import { buildDecision, createVerifier, signInPerson } from "../support/sharing.ts";
import { buildConsentRequest, createServiceCall, buildSubmission, world } from "../support/world.ts";

/** A database that executes statements but never responds. */
const silent = {
  prepare: (text: string) => {
    const withoutResponse = (statement: D1PreparedStatement): object =>
      new Proxy(statement, {
        get: (target, name) => {
          if (name === "bind") return (...values: string[]) => withoutResponse(target.bind(...values));
          return ["first", "all", "run", "raw"].includes(String(name)) ? () => new Promise(() => {}) : Reflect.get(target, name);
        },
      });
    return withoutResponse(env.DB.prepare(text));
  },
  batch: async (statements: D1PreparedStatement[]) => {
    await env.DB.batch(statements);
    return new Promise<never>(() => {});
  },
};

test("B2: returns 503 with Retry-After when the database has not responded for two seconds, without claiming that nothing was written", async () => {
  const service = createServiceCall({ DB: silent });
  const started = Date.now();
  const response = await service("/v1/certs/cc_00000000000000000000000000/verify");
  expect([response.status, response.body.error.code, response.headers.get("retry-after")]).toEqual([503, "storage_unavailable", "1"]);
  expect(response.body.error.message).not.toMatch(/nothing/i);
  expect(Date.now() - started).toBeLessThan(10_000);
});

test("returns 503 when the rate limiter has not responded for two seconds", async () => {
  const limiter = { getByName: () => ({ take: () => new Promise(() => {}) }) };
  const response = await createServiceCall({ RATE_LIMITER: limiter })("/v1/certs", {
    headers: { authorization: `Bearer ${world.acme.keys.live}` },
  });
  expect([response.status, response.body.error.code]).toEqual([503, "storage_unavailable"]);
});

test("B2: a repeat with the same key returns the certificate that a database wrote without responding", async () => {
  let isAway = false;
  const sometimes = {
    prepare: (text: string) => env.DB.prepare(text),
    batch: (statements: D1PreparedStatement[]) => (isAway ? silent.batch(statements) : env.DB.batch(statements)),
  };
  const service = createServiceCall({ DB: sometimes });
  const headers = { "idempotency-key": "no-answer-1" };
  const purpose = "a purpose of this test alone";
  expect((await service("/v1/consent", buildConsentRequest(buildSubmission()))).status).toBe(201); // fills the account cache, so that the next submission needs a single batch
  isAway = true;
  const first = await service("/v1/consent", buildConsentRequest({ ...buildSubmission(), purpose }, headers));
  expect(first.status).toBe(201); // the batch gets no response, so the journal accepts the submission
  isAway = false;
  const repeated = await service("/v1/consent", buildConsentRequest({ ...buildSubmission(), purpose }, headers));
  expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  expect(repeated.body.data).toEqual(first.body.data);
  const { n } = (await env.DB.prepare(
    "SELECT count(*) AS n FROM certificates WHERE purpose_id IN (SELECT id FROM purposes WHERE purpose = ?)",
  )
    .bind(purpose)
    .first<{ n: number }>()) ?? { n: 0 };
  expect(n).toBe(1);
});

test("B2: a repeat with the same key returns the share that a database wrote without responding", async () => {
  const pat = await signInPerson();
  let isAway = false;
  const sometimes = {
    prepare: (text: string) => env.DB.prepare(text),
    withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
    // The batch that claims the key succeeds, but the longer batch that stores the grant gets no response.
    batch: (statements: D1PreparedStatement[]) => (isAway && statements.length > 5 ? silent.batch(statements) : env.DB.batch(statements)),
  };
  const service = createServiceCall({ DB: sometimes });
  const request = buildJsonRequest(buildDecision(createVerifier()), { ...pat.headers, "idempotency-key": "no-answer-2" });
  isAway = true;
  const first = await service("/v1/share/consent", request);
  expect([first.status, first.body.error.code]).toEqual([503, "storage_unavailable"]);
  isAway = false;
  const repeated = await service("/v1/share/consent", request);
  expect(repeated.status).toBe(201);
  const { shares } = (await pat.get("/v1/me/shares")).body.data;
  expect(shares.map(({ id }: { id: string }) => id)).toEqual([repeated.body.data.share.id]);
});

// Tests withdrawals by email code, by link, and as recorded by the business. withdrawal-abuse.test.ts covers attacks.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { isOverdue } from "../../core/withdrawals/cease-acknowledgment.ts";
import { call, submitConsent, issueCertificate, createServiceCall, buildSubmission, world, type TestResponse } from "../support/world.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
import { forgetOwnerNotices } from "../support/people.ts";
import {
  submitWithdrawalCode,
  createEmailAddress,
  issueToNewPerson,
  buildJsonPost,
  listMailTo,
  startWithdrawal,
  countTraces,
  withdrawCertificate,
  type IssuedCertificate,
} from "../support/withdrawal.ts";

const day = 86_400_000;
const key = world.acme.keys.live;
/** A service whose API key limit these tests do not reach. */
const unlimited = createServiceCall({ LIMIT_API_KEY: "100000/60" });
const get = (path: string, apiKey?: string): Promise<TestResponse> =>
  unlimited(path, apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } });
const verify = async (certId: string) => (await get(`/v1/certs/${certId}/verify`)).body.data;
const buildKeyedRequest = (body: unknown, apiKey = key): RequestInit => buildJsonPost(body, { authorization: `Bearer ${apiKey}` });
const manageConsent = (issued: IssuedCertificate, token = issued.manageToken): Promise<TestResponse> =>
  call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token }));
const recordWithdrawal = (certId: string, recording: object = {}, apiKey = key): Promise<TestResponse> =>
  unlimited(
    `/v1/certs/${certId}/withdrawals`,
    buildKeyedRequest({ method: "phone", received_at: new Date().toISOString(), ...recording }, apiKey),
  );
const acknowledge = (certId: string, body: object = {}, apiKey = key): Promise<TestResponse> =>
  unlimited(`/v1/certs/${certId}/cease-ack`, buildKeyedRequest(body, apiKey));
const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body.error?.code ?? "ok"}`;

describe("POST /v1/certs/{id}/opt-out/confirm", () => {
  test("takes effect immediately in every response, and deletes nothing", async () => {
    const issued = await issueToNewPerson();
    const before = await get(`/v1/certs/${issued.certId}/verify`);
    const response = await withdrawCertificate(issued);
    const { revoked, cease_by, withdrawn_at, receipt_url } = response.body.data;
    expect(revoked).toBe(true);
    expect(Object.keys(response.body.data).sort()).toEqual(["cease_by", "receipt_url", "revoked", "withdrawn_at"]);
    expect(Date.parse(cease_by)).toBe(getCeaseDeadline(Date.parse(withdrawn_at)));

    const after = await get(`/v1/certs/${issued.certId}/verify`);
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    const { withdrawal, ...rest } = after.body.data;
    expect(withdrawal).toMatchObject({ withdrawn_at, cease_by, method: "email_code", scope: "certificate", receipt_url });
    expect(withdrawal).toMatchObject({ cease_acknowledged_at: null, overdue: false, received_at: null });
    expect(withdrawal.anchor).toMatchObject({ event: "certificate.revoked" });
    expect(rest).toMatchObject({ status: "revoked", cease_by, fingerprint: issued.fingerprint });
    expect(rest.anchor.event).toBe("certificate.issued");

    const detail = (await get(`/v1/certs/${issued.certId}`, key)).body.data;
    expect(detail.subject.email).toBe(issued.email);
    expect(detail.withdrawal).toMatchObject({ withdrawn_at, recorded: null, acknowledgement: null });
    const listed = (await get(`/v1/certs?status=revoked&subject_email=${issued.email}`, key)).body.data;
    expect(listed.certs.map((row: { cert_id: string }) => row.cert_id)).toEqual([issued.certId]);
    expect(listed.certs[0].withdrawal).toMatchObject({ withdrawn_at, cease_by, method: "email_code" });
    const pack = (await get(`/v1/certs/${issued.certId}/evidence-pack`, key)).body.data;
    expect(pack.withdrawal).toMatchObject({ withdrawn_at, cease_by });
    const entry = pack.audit.entries.find(({ type }: { type: string }) => type === "certificate.revoked");
    expect(entry.payload).toMatchObject({ method: "email_code", cease_by });
    expect(pack.withdrawal_receipt.canonical).toContain(issued.certId);
  });

  test("leaves one withdrawal, one audit entry, one ledger statement and one event, all with the same time", async () => {
    const issued = await issueToNewPerson();
    const { withdrawn_at } = (await withdrawCertificate(issued)).body.data;
    expect(await countTraces(issued.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    const { withdrawal } = await verify(issued.certId);
    expect(JSON.parse(withdrawal.anchor.statement)).toEqual({
      entity_id: issued.certId,
      event: "certificate.revoked",
      fingerprint: issued.fingerprint,
      origin_domain: "www.example.com",
      schema: "svc-anchor-v1",
      timestamp: withdrawn_at,
    });
  });

  test("sends the business an event without personal data", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const listRevocationEvents = async () =>
      ((await get("/v1/events?limit=500&types=certificate.revoked", key)).body.data.events as { cert_id: string }[]).filter(
        ({ cert_id }) => cert_id === issued.certId,
      );
    await expect.poll(listRevocationEvents).toMatchObject([{ type: "certificate.revoked", share_id: null, data: null }]);
    await acknowledge(issued.certId);
    const listCeasedEvents = async () =>
      ((await get("/v1/events?limit=500&types=business.ceased", key)).body.data.events as { cert_id: string }[]).filter(
        ({ cert_id }) => cert_id === issued.certId,
      );
    await expect.poll(listCeasedEvents).toMatchObject([{ type: "business.ceased", share_id: null, data: null }]);
  });

  test("emails the owners of the business once, and no other member", async () => {
    const issued = await issueToNewPerson();
    await forgetOwnerNotices();
    await withdrawCertificate(issued);
    const listRelatedMail = async (address: string) => (await listMailTo(address)).filter(({ text }) => text.includes(issued.certId));
    expect(await listRelatedMail(world.ownerEmail)).toHaveLength(1);
    expect(await listRelatedMail(world.memberEmail)).toEqual([]);
  });

  test.each([
    ["spaces and a full stop", (digits: string) => ` ${digits.slice(0, 3)} ${digits.slice(3)}. `],
    ["full-width digits", (digits: string) => digits.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
    ["a dash and invisible marks", (digits: string) => `\u200e${digits.slice(0, 3)}–${digits.slice(3)}\u2060`],
  ])("accepts the code as pasted: with %s", async (_name, paste) => {
    const issued = await issueToNewPerson();
    const { code: digits, cookie } = await startWithdrawal(issued.certId, issued.email);
    expect((await submitWithdrawalCode(issued.certId, { email: issued.email, code: paste(digits) }, cookie)).status).toBe(200);
  });

  test("accepts the code from a browser other than the one that requested it", async () => {
    const issued = await issueToNewPerson();
    const { code: digits } = await startWithdrawal(issued.certId, issued.email);
    expect((await submitWithdrawalCode(issued.certId, { email: ` ${issued.email.toUpperCase()} `, code: digits })).status).toBe(200);
  });

  test("refuses unknown recipients without withdrawing anything or spending an attempt", async () => {
    const issued = await issueToNewPerson();
    const { code: right, cookie } = await startWithdrawal(issued.certId, issued.email);
    const confirmation = { email: issued.email, code: right };
    for (const entities of [["Nobody Ltd"], "Acme Solar LLC", [1], []])
      expect(describeOutcome(await submitWithdrawalCode(issued.certId, { ...confirmation, entities }, cookie))).toBe("400 invalid_request");
    const linked = await call(
      `/v1/certs/${issued.certId}/opt-out/manage`,
      buildJsonPost({ token: issued.manageToken, entities: ["Nobody Ltd"] }),
    );
    expect(describeOutcome(linked)).toBe("400 invalid_request");
    expect((await verify(issued.certId)).status).toBe("active");
    const spent = await env.DB.prepare(
      "SELECT SUM(same_context_attempts + other_context_attempts) AS n FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first("n");
    expect(spent).toBe(0);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { ...confirmation, entities: null }, cookie))).toBe("200 ok");
  });

  test("returns 409 already_revoked when a correct code is submitted again", async () => {
    const issued = await issueToNewPerson();
    const { code: digits, cookie } = await startWithdrawal(issued.certId, issued.email);
    await submitWithdrawalCode(issued.certId, { email: issued.email, code: digits }, cookie);
    expect(describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code: digits }, cookie))).toBe(
      "409 already_revoked",
    );
    const laterAttempt = await startWithdrawal(issued.certId, issued.email);
    expect(
      describeOutcome(await submitWithdrawalCode(issued.certId, { email: issued.email, code: laterAttempt.code }, laterAttempt.cookie)),
    ).toBe("409 already_revoked");
    expect(await countTraces(issued.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  });

  test("keeps a sandbox withdrawal out of the live events", async () => {
    const body = { ...buildSubmission(), client_id: world.acme.clients.sandbox, fields: { email: createEmailAddress() } };
    const { data } = (await submitConsent(body)).body;
    const countEvents = () =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM changes WHERE entity_id = ? AND sequence = ?").bind(data.cert_id, world.acme.id).first("n");
    expect((await recordWithdrawal(data.cert_id, {}, world.acme.keys.sandbox)).status).toBe(201);
    expect(await countEvents()).toBe(0);
    expect((await verify(data.cert_id)).status).toBe("revoked");
  });

  test("says in its emails that a test certificate was created with test data", async () => {
    const listMarkedMail = async (client_id: string) => {
      const email = createEmailAddress();
      const { data } = (await submitConsent({ ...buildSubmission(), client_id, fields: { email } })).body;
      const { code, cookie } = await startWithdrawal(data.cert_id, email);
      expect((await submitWithdrawalCode(data.cert_id, { email, code }, cookie)).status).toBe(200);
      await waitUntilSettled();
      return (await listMailTo(email)).map(({ text }) => text.includes("created with test data"));
    };
    expect(await listMarkedMail(world.acme.clients.sandbox)).toEqual([true, true]);
    expect(await listMarkedMail(world.acme.clients.live)).toEqual([false, false]);
  });

  test.each([
    ["no address", { email: "", code: "123456" }],
    ["two addresses", { email: "a@example.com,b@example.com", code: "123456" }],
    ["five digits", { email: "pat@example.com", code: "12345" }],
    ["letters", { email: "pat@example.com", code: "12345a" }],
    ["a number", { email: "pat@example.com", code: 123456 }],
    ["another scope", { email: "pat@example.com", code: "123456", scope: "everything" }],
    ["an empty body", {}],
  ])("returns 400 invalid_request for %s, and spends no attempt", async (_name, body) => {
    const issued = await issueToNewPerson();
    await startWithdrawal(issued.certId, issued.email);
    const response = await submitWithdrawalCode(issued.certId, body);
    expect(describeOutcome(response)).toBe("400 invalid_request");
    const attempts = await env.DB.prepare(
      "SELECT SUM(same_context_attempts + other_context_attempts) AS n FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first("n");
    expect(attempts).toBe(0);
  });
});

describe("POST /v1/certs/{id}/opt-out/manage", () => {
  test("withdraws with the link's token alone, as the code does", async () => {
    const issued = await issueToNewPerson();
    const response = await manageConsent(issued);
    expect(response.status).toBe(200);
    expect(Object.keys(response.body.data).sort()).toEqual(["cease_by", "receipt_url", "revoked", "withdrawn_at"]);
    expect((await verify(issued.certId)).withdrawal).toMatchObject({ method: "manage_link", scope: "certificate" });
    expect(describeOutcome(await manageConsent(issued))).toBe("409 already_revoked");
  });

  test("accepts the token for its own certificate only", async () => {
    const [issued, another] = [await issueToNewPerson(), await issueToNewPerson()];
    expect(describeOutcome(await manageConsent(issued, another.manageToken))).toBe("400 opt_out_failed");
    expect(describeOutcome(await manageConsent(issued, "A".repeat(43)))).toBe("400 opt_out_failed");
    expect((await verify(issued.certId)).status).toBe("active");
  });

  test("accepts the token for five years", async () => {
    const [issued, late] = [await issueToNewPerson(), await issueToNewPerson()];
    const formatYears = (count: number): string => String(count * 365.25 * day);
    const send = async (certificate: IssuedCertificate, offset: string) =>
      await createServiceCall({ DEV_CLOCK_OFFSET_MS: offset })(
        `/v1/certs/${certificate.certId}/opt-out/manage`,
        buildJsonPost({ token: certificate.manageToken }),
      );
    expect(describeOutcome(await send(late, formatYears(5.01)))).toBe("400 opt_out_failed");
    expect((await send(issued, formatYears(4.99))).status).toBe(200);
  });
});

describe("POST /v1/certs/{id}/opt-out/confirm with scope business", () => {
  test("withdraws every active certificate of the business with the address, and no others", async () => {
    const email = createEmailAddress();
    const same = [await issueToNewPerson({ fields: { email } }), await issueToNewPerson({ fields: { email: email.toUpperCase() } })];
    const another = await issueToNewPerson();
    const otherSubmissions = [
      await submitConsent(
        { ...buildSubmission(world.other), fields: { email }, page_url: "https://other.example/" },
        { origin: "https://other.example" },
      ),
      await submitConsent({ ...buildSubmission(), client_id: world.acme.clients.sandbox, fields: { email } }),
    ];
    expect(otherSubmissions.map(({ status }) => status)).toEqual([201, 201]);
    const first = same[0] as IssuedCertificate;
    const { withdrawn_at } = (await withdrawCertificate(first, "business")).body.data;
    for (const { certId } of same) {
      expect((await verify(certId)).withdrawal).toMatchObject({ withdrawn_at, scope: "business", method: "email_code" });
      expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    }
    expect((await verify(another.certId)).status).toBe("active");
    for (const { body } of otherSubmissions) expect((await verify(body.data.cert_id)).status).toBe("active");
  });

  test("continues from the outbox past one batch, and misses no certificate", async () => {
    const email = createEmailAddress();
    const many: IssuedCertificate[] = [];
    for (let count = 0; count < 45; count += 1) many.push(await issueToNewPerson({ fields: { email } }));
    const { withdrawn_at } = (await withdrawCertificate(many[7] as IssuedCertificate, "business")).body.data;
    const laterIssued = await issueToNewPerson({ fields: { email } }); // consent given after the withdrawal
    const countRemainingWork = async () => {
      await runOutboxRelay();
      return env.DB.prepare("SELECT COUNT(*) AS n FROM withdrawal_work").first<number>("n");
    };
    await waitUntilSettled();
    await expect.poll(countRemainingWork, { timeout: 60_000 }).toBe(0);
    const { results } = await env.DB.prepare(
      "SELECT DISTINCT w.withdrawn_at FROM withdrawals w JOIN certificates c ON c.id = w.cert_id WHERE c.status = 'revoked' AND c.id IN (SELECT value FROM json_each(?))",
    )
      .bind(JSON.stringify(many.map(({ certId }) => certId)))
      .all<{ withdrawn_at: number }>();
    expect(results).toEqual([{ withdrawn_at: Date.parse(withdrawn_at) }]);
    for (const { certId } of many) expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    expect((await verify(laterIssued.certId)).status).toBe("active");
  });
});

describe("the withdrawal receipt", () => {
  test("is signed by the issuer over its exact text", async () => {
    const issued = await issueToNewPerson();
    expect(describeOutcome(await get(`/v1/certs/${issued.certId}/receipt`))).toBe("404 not_found");
    const { receipt_url, cease_by, withdrawn_at } = (await withdrawCertificate(issued)).body.data;
    const response = await get(new URL(receipt_url).pathname);
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="withdrawal-${issued.certId}.json"`);
    const { receipt, canonical, signature } = response.body.data;
    expect(receipt).toEqual(JSON.parse(canonical));
    expect(receipt).toEqual({
      business: { id: world.acme.id, name: world.acme.name },
      cease_by,
      cert_id: issued.certId,
      fingerprint: issued.fingerprint,
      method: "email_code",
      origin_domain: "www.example.com",
      received_at: null,
      schema: "svc-withdrawal-receipt-v1",
      scope: "certificate",
      withdrawn_at,
    });
    const keys = (await get("/.well-known/jwks.json")).body.keys as { kid: string; x: string }[];
    const x = keys.find(({ kid }) => kid === signature.kid)?.x ?? "";
    const verifying = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x }, "Ed25519", false, ["verify"]);
    const bytes = Uint8Array.from(atob(signature.value), (char) => char.charCodeAt(0));
    expect(await crypto.subtle.verify("Ed25519", verifying, bytes, new TextEncoder().encode(canonical))).toBe(true);
  });

  test("contains no personal data", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const { text } = await get(`/v1/certs/${issued.certId}/receipt`);
    for (const personal of [issued.email, issued.email.split("@")[0] as string, "+1 202 555", "2025550123"])
      expect(text).not.toContain(personal);
  });
});

describe("POST /v1/certs/{id}/withdrawals", () => {
  test("revokes immediately, and counts the deadline from received_at", async () => {
    const { certId } = await issueToNewPerson();
    const received = Date.now() - 3 * day;
    const response = await recordWithdrawal(certId, {
      method: "sms_stop",
      received_at: new Date(received).toISOString(),
      note: "STOP to 12345",
    });
    expect(response.status).toBe(201);
    const { withdrawal, cease_by } = response.body.data;
    expect(Date.parse(cease_by)).toBe(getCeaseDeadline(received));
    expect(withdrawal).toMatchObject({ method: "business_recorded", scope: "business", cease_by, cease_acknowledged_at: null });
    expect(Date.parse(withdrawal.received_at)).toBe(received);
    expect(Date.now() - Date.parse(withdrawal.withdrawn_at)).toBeLessThan(60_000);
    expect((await verify(certId)).status).toBe("revoked");
    expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    const detail = (await get(`/v1/certs/${certId}`, key)).body.data;
    expect(detail.withdrawal.recorded).toEqual({ method: "sms_stop", note: "STOP to 12345" });
    expect((await get(`/v1/certs/${certId}/verify`)).text).not.toContain("STOP to");
    expect(describeOutcome(await recordWithdrawal(certId))).toBe("409 already_revoked");
  });

  test("records once per idempotency key, and returns the same response again", async () => {
    const { certId } = await issueToNewPerson();
    const recording = { method: "mail", received_at: new Date().toISOString() };
    const withKey = (body: object): RequestInit => buildJsonPost(body, { authorization: `Bearer ${key}`, "idempotency-key": "letter-17" });
    const send = (body: object): Promise<TestResponse> => unlimited(`/v1/certs/${certId}/withdrawals`, withKey(body));
    const [first, second] = [await send(recording), await send(recording)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.data).toEqual(first.body.data);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(describeOutcome(await send({ ...recording, note: "other" }))).toBe("409 idempotency_conflict");
    expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  });

  test("returns the first response to a repeat, even after the deadline and the acknowledgment", async () => {
    const { certId } = await issueToNewPerson();
    const received = Date.now();
    const createCallAt = (moment: number) =>
      createServiceCall({ LIMIT_API_KEY: "100000/60", DEV_CLOCK_OFFSET_MS: String(moment - received) });
    const [inTime, late] = [createCallAt(getCeaseDeadline(received) - 3_600_000), createCallAt(getCeaseDeadline(received) + 3_600_000)];
    const body = { method: "mail", received_at: new Date(received).toISOString() };
    const recording = buildJsonPost(body, { authorization: `Bearer ${key}`, "idempotency-key": "letter-18" });
    const first = await inTime(`/v1/certs/${certId}/withdrawals`, recording);
    expect(first.body.data.withdrawal).toMatchObject({ overdue: false, cease_acknowledged_at: null });
    const repeatWithdrawal = async () => (await late(`/v1/certs/${certId}/withdrawals`, recording)).body.data;
    expect(await repeatWithdrawal()).toEqual(first.body.data);
    expect((await late(`/v1/certs/${certId}/cease-ack`, buildKeyedRequest({}))).body.data.on_time).toBe(false);
    expect(await repeatWithdrawal()).toEqual(first.body.data);
  });

  test("refuses a time in the future and an unknown method", async () => {
    const { certId } = await issueToNewPerson();
    expect(describeOutcome(await recordWithdrawal(certId, { received_at: new Date(Date.now() + day).toISOString() }))).toBe(
      "400 invalid_request",
    );
    expect(describeOutcome(await recordWithdrawal(certId, { received_at: "yesterday" }))).toBe("400 invalid_request");
    expect(describeOutcome(await recordWithdrawal(certId, { method: "telepathy" }))).toBe("400 invalid_request");
    expect((await verify(certId)).status).toBe("active");
  });

  test("accepts the business's own certificates only", async () => {
    const { certId } = await issueToNewPerson();
    expect(describeOutcome(await recordWithdrawal(certId, {}, world.other.keys.live))).toBe("404 cert_not_found");
    expect(describeOutcome(await recordWithdrawal(certId, {}, world.acme.keys.sandbox))).toBe("404 cert_not_found");
  });
});

describe("POST /v1/certs/{id}/cease-ack", () => {
  test("stores the acknowledgment once, and returns the first one to a repeat", async () => {
    const issued = await issueToNewPerson();
    expect(describeOutcome(await acknowledge(issued.certId))).toBe("409 cease_not_open");
    const { cease_by } = (await withdrawCertificate(issued)).body.data;
    const first = await acknowledge(issued.certId, { note: "done", acknowledged_by: "Kimberley Oxenford", actions: ["removed"] });
    expect(first.body.data).toMatchObject({ cert_id: issued.certId, status: "revoked", cease_by, on_time: true });
    expect(first.body.data).not.toHaveProperty("already_acknowledged");
    const second = await acknowledge(issued.certId, { note: "again" });
    expect(second.body.data).toMatchObject({ already_acknowledged: true, acknowledged_at: first.body.data.acknowledged_at });
    const { status, withdrawal } = await verify(issued.certId);
    expect(status).toBe("revoked");
    expect(withdrawal).toMatchObject({ cease_acknowledged_at: first.body.data.acknowledged_at, overdue: false });
    const detail = (await get(`/v1/certs/${issued.certId}`, key)).body.data;
    expect(detail.withdrawal.acknowledgement).toEqual({ note: "done", acknowledged_by: "Kimberley Oxenford", actions: ["removed"] });
    expect((await get(`/v1/certs/${issued.certId}/verify`)).text).not.toContain("Kimberley");
    const anchored = await env.DB.prepare("SELECT COUNT(*) AS n FROM anchors WHERE entity_id = ? AND event = 'business.ceased'")
      .bind(issued.certId)
      .first("n");
    expect(anchored).toBe(1);
  });

  test("accepts a request without a body", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const response = await unlimited(`/v1/certs/${issued.certId}/cease-ack`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
    });
    expect([response.status, response.body.data?.on_time]).toEqual([200, true]);
  });

  test("stores one acknowledgment for fifty concurrent requests", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const responses = await Promise.all(Array.from({ length: 50 }, () => acknowledge(issued.certId)));
    expect(responses.filter(({ body }) => body.data !== undefined && body.data.already_acknowledged === undefined)).toHaveLength(1);
    expect(new Set(responses.map(({ body }) => body.data.acknowledged_at)).size).toBe(1);
  });

  test("is overdue after the deadline, and is marked late if it arrives after the deadline", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(20 * day), LIMIT_API_KEY: "100000/60" });
    const readWithdrawal = async () => (await callLater(`/v1/certs/${issued.certId}/verify`)).body.data.withdrawal;
    const until = getCeaseDeadline(Date.now());
    expect([isOverdue(until, null, until), isOverdue(until, null, until + 1), isOverdue(until, until, until + 1)]).toEqual([
      false,
      true,
      false,
    ]);
    expect((await readWithdrawal()).overdue).toBe(true);
    const row = (await callLater(`/v1/certs?subject_email=${issued.email}`, { headers: { authorization: `Bearer ${key}` } })).body.data
      .certs[0];
    expect(row.withdrawal.overdue).toBe(true);
    const late = await callLater(`/v1/certs/${issued.certId}/cease-ack`, buildKeyedRequest({}));
    expect(late.body.data.on_time).toBe(false);
    expect((await readWithdrawal()).overdue).toBe(false);
  });

  test("requires write access, which recording a withdrawal does not", async () => {
    const { cert_id } = await issueCertificate();
    await env.DB.prepare("UPDATE businesses SET status = 'past_due' WHERE id = ?").bind(world.acme.id).run();
    try {
      expect((await recordWithdrawal(cert_id)).status).toBe(201);
      expect(describeOutcome(await acknowledge(cert_id))).toBe("402 subscription_past_due");
    } finally {
      await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    }
  });
});

describe("a withdrawal in the database", () => {
  test("cannot be changed or deleted, and its certificate cannot become active again", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const run = (sql: string) => env.DB.prepare(sql).bind(issued.certId).run();
    await expect(run("UPDATE withdrawals SET cease_by = cease_by + 1 WHERE cert_id = ?")).rejects.toThrow("immutable");
    await expect(run("DELETE FROM withdrawals WHERE cert_id = ?")).rejects.toThrow("never deleted");
    await expect(run("UPDATE certificates SET status = 'active' WHERE id = ?")).rejects.toThrow("revoked only once");
    const other = await issueToNewPerson();
    await expect(env.DB.prepare("UPDATE certificates SET status = 'revoked' WHERE id = ?").bind(other.certId).run()).rejects.toThrow(
      "revoked only once",
    );
  });
});

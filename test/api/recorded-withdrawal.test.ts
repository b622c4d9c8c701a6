// Tests withdrawals that a business records and acknowledges for all of a person's certificates or for single recipients, and the
// email that confirms a withdrawal to the person.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { formatDate } from "../../core/mail/formatting.ts";
import { call, submitConsent, createServiceCall, buildSubmission, world, type TestResponse } from "../support/world.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
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
const unlimited = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_OPT_OUT_CONFIRM_PER_IP: "100000/60" });
const get = (path: string, apiKey = key): Promise<TestResponse> => unlimited(path, { headers: { authorization: `Bearer ${apiKey}` } });
const verify = async (certId: string) => (await get(`/v1/certs/${certId}/verify`)).body.data;
const readStatuses = (all: readonly IssuedCertificate[]) => Promise.all(all.map(async ({ certId }) => (await verify(certId)).status));
const buildKeyedRequest = (body: unknown, apiKey = key, headers: Readonly<Record<string, string>> = {}): RequestInit =>
  buildJsonPost(body, { authorization: `Bearer ${apiKey}`, ...headers });
const record = (
  certId: string,
  recording: object = {},
  apiKey = key,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  unlimited(
    `/v1/certs/${certId}/withdrawals`,
    buildKeyedRequest({ method: "phone", received_at: new Date().toISOString(), ...recording }, apiKey, headers),
  );
const acknowledge = (certId: string, body: object, apiKey = key): Promise<TestResponse> =>
  unlimited(`/v1/certs/${certId}/cease-ack`, buildKeyedRequest(body, apiKey));
const manageConsent = (
  issued: IssuedCertificate,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  unlimited(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken, ...body }, headers));
const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body.error?.code ?? "ok"}`;
const threeRecipients = ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"];
const buildPhone = (count: number) => `+1 202 555 ${String(1_000 + count)}`;
let numbers = 0;
const createPhone = (): string => {
  numbers += 1;
  return buildPhone(numbers);
};
const updateBusiness = (set: string) => env.DB.prepare(`UPDATE businesses SET ${set} WHERE id = ?`).bind(world.acme.id).run();

describe("POST /v1/certs/{id}/withdrawals with scope business", () => {
  afterEach(() => updateBusiness("revocation_scope_default = 'business'"));

  test("is the default, and withdraws every active certificate of the business with the same email address", async () => {
    const email = createEmailAddress();
    const same = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email: email.toUpperCase() } }),
    ] as const;
    const another = await issueToNewPerson();
    const otherResponses = [
      await submitConsent(
        { ...buildSubmission(world.other), fields: { email }, page_url: "https://other.example/" },
        { origin: "https://other.example" },
      ),
      await submitConsent({ ...buildSubmission(), client_id: world.acme.clients.sandbox, fields: { email } }),
    ];
    const received = Date.now() - 3 * day;
    const recording = { method: "sms_stop", received_at: new Date(received).toISOString(), note: "STOP to 12345" };
    const { withdrawal, cease_by } = (await record(same[0].certId, recording)).body.data;
    expect(Date.parse(cease_by)).toBe(getCeaseDeadline(received));
    for (const { certId } of same) {
      const { status, withdrawal: each } = await verify(certId);
      expect([status, each.withdrawn_at, each.cease_by]).toEqual(["revoked", withdrawal.withdrawn_at, cease_by]);
      expect(each).toMatchObject({ method: "business_recorded", scope: "business", received_at: recording.received_at });
      expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
      expect((await get(`/v1/certs/${certId}`)).body.data.withdrawal.recorded).toEqual({ method: "sms_stop", note: "STOP to 12345" });
    }
    expect((await verify(another.certId)).status).toBe("active");
    for (const { body } of otherResponses) expect((await verify(body.data.cert_id)).status).toBe("active");
  });

  test.each([
    ["sent with the request", { scope: "certificate" }, "business"],
    ["the default of the business", {}, "certificate"],
  ])("is not used if scope certificate is %s", async (_name, recording, set) => {
    await updateBusiness(`revocation_scope_default = '${set}'`);
    const email = createEmailAddress();
    const same = [await issueToNewPerson({ fields: { email } }), await issueToNewPerson({ fields: { email } })] as const;
    expect((await record(same[0].certId, recording)).body.data.withdrawal.scope).toBe("certificate");
    expect(await readStatuses(same)).toEqual(["revoked", "active"]);
    expect((await record(same[1].certId, { scope: "business" })).body.data.withdrawal.scope).toBe("business");
  });

  test("covers every certificate that shares an email address or phone number with this one", async () => {
    const [first, second, mobile, landline] = [createEmailAddress(), createEmailAddress(), createPhone(), createPhone()];
    const stopped = await issueToNewPerson({ fields: { phone: landline, mobile, email: first, work_email: second } });
    const sharing = [
      await issueToNewPerson({ fields: { phone: mobile } }),
      await issueToNewPerson({ fields: { phone: landline } }),
      await issueToNewPerson({ fields: { email: second } }),
      await issueToNewPerson({ fields: { email: createEmailAddress(), work_email: first } }),
      await issueToNewPerson({ fields: { email: createEmailAddress(), phone: createPhone(), mobile: landline } }),
    ];
    const stranger = await issueToNewPerson({ fields: { email: createEmailAddress(), phone: createPhone() } });
    await record(stopped.certId);
    expect(await readStatuses([stopped, ...sharing, stranger])).toEqual([...sharing.map(() => "revoked"), "revoked", "active"]);
    expect(await countTraces(stopped.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    const check = async (subject: object): Promise<string> =>
      (await call("/v1/contact-check", buildJsonPost({ subjects: [subject] }, { authorization: `Bearer ${key}` }))).body.data.results[0]
        .reason;
    for (const subject of [{ email: first }, { email: second }, { phone: mobile }, { phone: landline }])
      expect(await check(subject)).toBe("revoked");
  });

  test("matches by phone number, and withdraws only this certificate if it has neither an email address nor a phone number", async () => {
    const phone = createPhone();
    const email = createEmailAddress();
    const called = await issueToNewPerson({ fields: { phone } });
    const both = await issueToNewPerson({ fields: { phone, email } });
    const other = await issueToNewPerson({ fields: { email, phone: createPhone() } });
    expect((await record(called.certId)).body.data.withdrawal.scope).toBe("business");
    expect(await readStatuses([called, both, other])).toEqual(["revoked", "revoked", "active"]);

    const mailed = await issueToNewPerson({ fields: { email, phone } });
    const onlyCalled = await issueToNewPerson({ fields: { phone } });
    await record(mailed.certId);
    expect(await readStatuses([mailed, other, onlyCalled])).toEqual(["revoked", "revoked", "revoked"]);

    const nameless = [
      await issueToNewPerson({ fields: { first_name: "Pat" } }),
      await issueToNewPerson({ fields: { first_name: "Pat" } }),
    ] as const;
    expect((await record(nameless[0].certId)).body.data.withdrawal.scope).toBe("certificate");
    expect(await readStatuses(nameless)).toEqual(["revoked", "active"]);
  });

  test("continues from the outbox past one batch, once per idempotency key, and misses no certificate", async () => {
    const phone = createPhone();
    const many: IssuedCertificate[] = [];
    for (let count = 0; count < 45; count += 1) many.push(await issueToNewPerson({ fields: { phone } }));
    const first = many[7] as IssuedCertificate;
    const recording = { received_at: new Date(Date.now() - day).toISOString(), note: "on the phone" };
    const send = () => record(first.certId, recording, key, { "idempotency-key": "everything-1" });
    const responses = await Promise.all([send(), send(), send()]);
    expect(responses.map(describeOutcome)).toEqual(["201 ok", "201 ok", "201 ok"]);
    expect(new Set(responses.map(({ text }) => JSON.stringify(JSON.parse(text).data))).size).toBe(1);
    const laterIssued = await issueToNewPerson({ fields: { phone } }); // consent given after the withdrawal
    await waitUntilSettled();
    const countRemainingWork = async () => {
      await runOutboxRelay();
      return env.DB.prepare("SELECT COUNT(*) AS n FROM withdrawal_work").first<number>("n");
    };
    await expect.poll(countRemainingWork, { timeout: 60_000 }).toBe(0);
    const { results } = await env.DB.prepare(
      "SELECT DISTINCT withdrawn_at, cease_by, method, scope, channel, received_at, note_sealed IS NULL AS quiet FROM withdrawals WHERE cert_id IN (SELECT value FROM json_each(?))",
    )
      .bind(JSON.stringify(many.map(({ certId }) => certId)))
      .all();
    const { withdrawal } = responses[0]?.body.data ?? {};
    expect(results).toEqual([
      {
        withdrawn_at: Date.parse(withdrawal.withdrawn_at),
        cease_by: Date.parse(withdrawal.cease_by),
        method: "business_recorded",
        scope: "business",
        channel: "phone",
        received_at: Date.parse(recording.received_at),
        quiet: 0,
      },
    ]);
    for (const { certId } of many) expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
    expect((await verify(laterIssued.certId)).status).toBe("active");
    const entry = (await get(`/v1/certs/${(many[44] as IssuedCertificate).certId}/evidence-pack`)).body.data.audit.entries.find(
      ({ type }: { type: string }) => type === "certificate.revoked",
    );
    expect(entry.payload).toMatchObject({ method: "business_recorded", scope: "business", actor: expect.stringMatching(/^api_key:key_/) });
  });

  test("withdraws each certificate once when the person withdraws at the same time", async () => {
    const email = createEmailAddress();
    const same = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
    ] as const;
    const responses = await Promise.all([record(same[0].certId), manageConsent(same[1]), record(same[2].certId), manageConsent(same[0])]);
    for (const response of responses) expect([200, 201, 409]).toContain(response.status);
    expect(await readStatuses(same)).toEqual(["revoked", "revoked", "revoked"]);
    for (const { certId } of same) expect(await countTraces(certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  });
});

describe("POST /v1/certs/{id}/withdrawals with entities", () => {
  test("keeps the certificate active for the other recipients, and counts the deadline from received_at", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    const received = Date.now() - 2 * day;
    const recording = { method: "mail", received_at: new Date(received).toISOString(), note: "letter 7", entities: [" Bright Homes Inc "] };
    const response = await record(issued.certId, recording);
    expect(describeOutcome(response)).toBe("201 ok");
    const { withdrawal, cease_by, entities_withdrawn } = response.body.data;
    expect([withdrawal, Date.parse(cease_by)]).toEqual([null, getCeaseDeadline(received)]);
    expect(entities_withdrawn).toMatchObject([
      {
        entity: "Bright Homes Inc",
        cease_by,
        method: "business_recorded",
        received_at: recording.received_at,
        cease_acknowledged_at: null,
      },
    ]);
    expect(await verify(issued.certId)).toMatchObject({ status: "active", withdrawal: null, entities_withdrawn });
    const detail = (await get(`/v1/certs/${issued.certId}`)).body.data;
    expect(detail.entities_withdrawn[0]).toMatchObject({ recorded: { method: "mail", note: "letter 7" }, acknowledgement: null });
    expect((await get(`/v1/certs/${issued.certId}/verify`)).text).not.toContain("letter 7");
    const { pathname, search } = new URL(entities_withdrawn[0].receipt_url);
    expect((await unlimited(pathname + search)).body.data.receipt).toMatchObject({
      method: "business_recorded",
      received_at: recording.received_at,
      scope: "recipient",
    });
  });

  test("returns the first response to a repeat, even after the acknowledgment, and 409 idempotency_conflict for other entities", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    const recording = { received_at: new Date().toISOString(), entities: ["Zenith Roofing", "Acme Solar LLC"] };
    const send = (body: object) => record(issued.certId, body, key, { "idempotency-key": "single-1" });
    const first = await send(recording);
    expect(first.status).toBe(201);
    await acknowledge(issued.certId, { entities: ["Zenith Roofing"] });
    const repeated = await send({ ...recording, entities: recording.entities.toReversed() });
    expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    expect(repeated.body.data).toEqual(first.body.data);
    expect(describeOutcome(await send({ ...recording, entities: ["Bright Homes Inc"] }))).toBe("409 idempotency_conflict");
  });

  test("accepts only recipients that the person consented to, on the business's own certificates, and not together with scope business", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    const recording = { entities: ["Zenith Roofing"] };
    expect(describeOutcome(await record(issued.certId, { entities: ["Nobody Ltd"] }))).toBe("400 invalid_request");
    expect(describeOutcome(await record(issued.certId, { entities: [] }))).toBe("400 invalid_request");
    const both = await record(issued.certId, { ...recording, scope: "business" });
    expect([describeOutcome(both), both.body.error.message]).toEqual([
      "400 invalid_request",
      "entities: must not be sent together with scope business.",
    ]);
    expect(describeOutcome(await record(issued.certId, recording, world.other.keys.live))).toBe("404 cert_not_found");
    expect((await verify(issued.certId)).entities_withdrawn).toBeUndefined();
    expect(describeOutcome(await record(issued.certId, recording))).toBe("201 ok");
    expect(describeOutcome(await record(issued.certId, recording))).toBe("409 already_revoked");
  });

  test("withdraws the certificate with the last recipient, and no other certificate of the person", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    const second = await issueToNewPerson({ fields: { email: issued.email } });
    await record(issued.certId, { entities: threeRecipients.slice(0, 2) });
    const last = (await record(issued.certId, { entities: threeRecipients })).body.data;
    expect(last.withdrawal).toMatchObject({ method: "business_recorded", scope: "certificate" });
    expect(last.entities_withdrawn).toBeUndefined();
    expect(await readStatuses([issued, second])).toEqual(["revoked", "active"]);
  });
});

describe("POST /v1/certs/{id}/cease-ack with entities", () => {
  const countEntries = (certId: string) =>
    env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'business.entities_ceased'")
      .bind(certId)
      .first<number>("n");

  test("ends the overdue state in verify, detail, list and on the page", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    await manageConsent(issued, { entities: threeRecipients.slice(0, 2) });
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(20 * day), LIMIT_API_KEY: "100000/60" });
    const authorized = { headers: { authorization: `Bearer ${key}` } };
    const readStates = async () => {
      const [verified, detail, listed] = await Promise.all([
        callLater(`/v1/certs/${issued.certId}/verify`),
        callLater(`/v1/certs/${issued.certId}`, authorized),
        callLater(`/v1/certs?subject_email=${issued.email}`, authorized),
      ]);
      return [verified.body.data, detail.body.data, listed.body.data.certs[0]].map(({ entities_withdrawn }) =>
        entities_withdrawn.map((item: { overdue: boolean; cease_acknowledged_at: string | null }) => [
          item.overdue,
          item.cease_acknowledged_at !== null,
        ]),
      );
    };
    const page = async () => (await callLater(`/c/${issued.certId}`)).text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    const open = [true, false];
    expect(await readStates()).toEqual(Array(3).fill([open, open]));
    expect(await page()).toMatch(/hasn’t confirmed that contact has ended for these recipients Acme Solar LLC , Bright Homes Inc/);
    const first = await callLater(
      `/v1/certs/${issued.certId}/cease-ack`,
      buildKeyedRequest({ entities: ["Bright Homes Inc"], note: "done" }),
    );
    expect(first.body.data).toMatchObject({ cert_id: issued.certId, status: "active", on_time: false, withdrawal: null });
    expect(first.body.data.entities_withdrawn).toMatchObject([{ entity: "Bright Homes Inc", overdue: false }]);
    const closed = [false, true];
    expect(await readStates()).toEqual(Array(3).fill([open, closed]));
    expect(await page()).toMatch(
      /confirmed that contact has ended for these recipients .* Bright Homes Inc.* hasn’t confirmed .* Acme Solar LLC/,
    );
    const repeated = await callLater(`/v1/certs/${issued.certId}/cease-ack`, buildKeyedRequest({ entities: ["Bright Homes Inc"] }));
    expect(repeated.body.data).toMatchObject({ already_acknowledged: true, acknowledged_at: first.body.data.acknowledged_at });
    const detail = (await callLater(`/v1/certs/${issued.certId}`, authorized)).body.data.entities_withdrawn;
    expect(detail[1].acknowledgement).toEqual({ note: "done", acknowledged_by: null, actions: [] });
    expect((await callLater(`/v1/certs/${issued.certId}/verify`)).text).not.toContain('"done"');
  });

  test("is covered by the acknowledgment of the whole certificate", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    await manageConsent(issued, { entities: ["Zenith Roofing"] });
    await manageConsent(issued);
    await acknowledge(issued.certId, {});
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(20 * day) });
    const { entities_withdrawn } = (await callLater(`/v1/certs/${issued.certId}/verify`)).body.data;
    expect(entities_withdrawn).toMatchObject([{ overdue: false, cease_acknowledged_at: null }]);
  });

  test("accepts only withdrawn recipients of the business's own certificates, and requires write access", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    const body = { entities: ["Zenith Roofing"] };
    expect(describeOutcome(await acknowledge(issued.certId, body))).toBe("409 cease_not_open");
    await manageConsent(issued, body);
    expect(describeOutcome(await acknowledge(issued.certId, { entities: ["Zenith Roofing", "Acme Solar LLC"] }))).toBe(
      "409 cease_not_open",
    );
    expect(describeOutcome(await acknowledge(issued.certId, { entities: ["Nobody Ltd"] }))).toBe("400 invalid_request");
    expect(describeOutcome(await acknowledge(issued.certId, { entities: [] }))).toBe("400 invalid_request");
    expect(describeOutcome(await acknowledge(issued.certId, body, world.other.keys.live))).toBe("404 cert_not_found");
    // Only the recipients' consent is withdrawn; the certificate itself is still active.
    expect(describeOutcome(await acknowledge(issued.certId, {}))).toBe("409 cease_not_open");
    await updateBusiness("status = 'past_due'");
    try {
      expect(describeOutcome(await acknowledge(issued.certId, body))).toBe("402 subscription_past_due");
    } finally {
      await updateBusiness("status = 'active'");
    }
    expect(await countEntries(issued.certId)).toBe(0);
  });

  test("records one acknowledgment per recipient for concurrent requests, which cannot be changed or deleted", async () => {
    const issued = await issueToNewPerson({ entities: [...threeRecipients, "Fourth Ltd"] });
    await manageConsent(issued, { entities: threeRecipients });
    const responses = await Promise.all([
      ...threeRecipients.map((name) => acknowledge(issued.certId, { entities: [name] })),
      ...Array.from({ length: 5 }, () => acknowledge(issued.certId, { entities: threeRecipients.slice(0, 1) })),
    ]);
    expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["200 ok"]));
    expect(responses.filter(({ body }) => body.data.already_acknowledged === undefined)).toHaveLength(3);
    expect(await countEntries(issued.certId)).toBe(3);
    for (const change of [
      "UPDATE entity_acknowledgements SET acknowledged_at = 0 WHERE cert_id = ?",
      "DELETE FROM entity_acknowledgements WHERE cert_id = ?",
      "UPDATE acknowledged_entities SET number = 9 WHERE cert_id = ?",
      "DELETE FROM acknowledged_entities WHERE cert_id = ?",
    ]) {
      await expect(env.DB.prepare(change).bind(issued.certId).run(), change).rejects.toThrow(/(?:an|a live) acknowledgment is/);
    }
  });

  test("is erased with the person: notes and details are deleted, times stay", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    await record(issued.certId, { entities: ["Zenith Roofing"], note: "Pat rang" });
    await acknowledge(issued.certId, { entities: ["Zenith Roofing"], note: "Pat is off the list" });
    const readSealedValues = () =>
      env.DB.prepare(
        "SELECT (SELECT note_sealed FROM entity_withdrawals WHERE cert_id = ?1) AS note, (SELECT details_sealed FROM entity_acknowledgements WHERE cert_id = ?1) AS details",
      )
        .bind(issued.certId)
        .first<{ note: string | null; details: string }>();
    await expect(
      env.DB.prepare("UPDATE entity_withdrawals SET note_sealed = NULL WHERE cert_id = ?").bind(issued.certId).run(),
    ).rejects.toThrow("immutable");
    expect((await readSealedValues())?.note).not.toBeNull();
    await eraseCertificate(issued.certId);
    expect(await readSealedValues()).toEqual({ note: null, details: "" });
    const [item] = (await get(`/v1/certs/${issued.certId}`)).body.data.entities_withdrawn;
    expect(item).toMatchObject({ recorded: { method: "phone", note: null }, acknowledgement: null });
    expect(item.cease_acknowledged_at).not.toBeNull();
  });
});

describe("the personal data of a certificate that was erased before its withdrawal", () => {
  test("does not come back with the note of the withdrawal and the details of the acknowledgment", async () => {
    const issued = await issueToNewPerson();
    await eraseCertificate(issued.certId);
    expect(describeOutcome(await record(issued.certId, { note: "Pat rang" }))).toBe("201 ok");
    expect(
      describeOutcome(await acknowledge(issued.certId, { note: "Pat is off the list", acknowledged_by: "Kim", actions: ["removed"] })),
    ).toBe("200 ok");
    const kept = await env.DB.prepare(
      "SELECT note_sealed AS note, details_sealed AS details FROM withdrawals w JOIN cease_acknowledgements a USING (cert_id) WHERE cert_id = ?",
    )
      .bind(issued.certId)
      .first();
    expect(kept).toEqual({ note: null, details: "" });
    const { withdrawal, status } = (await get(`/v1/certs/${issued.certId}`)).body.data;
    expect(status).toBe("revoked");
    expect(withdrawal).toMatchObject({ recorded: { method: "phone", note: null }, acknowledgement: null });
  });

  test("does not come back with those for individual recipients", async () => {
    const issued = await issueToNewPerson({ entities: threeRecipients });
    await eraseCertificate(issued.certId);
    expect(describeOutcome(await record(issued.certId, { entities: ["Zenith Roofing"], note: "Pat rang" }))).toBe("201 ok");
    expect(describeOutcome(await acknowledge(issued.certId, { entities: ["Zenith Roofing"], note: "Pat is off the list" }))).toBe("200 ok");
    const [item] = (await get(`/v1/certs/${issued.certId}`)).body.data.entities_withdrawn;
    expect(item).toMatchObject({ recorded: { method: "phone", note: null }, acknowledgement: null });
    expect(item.cease_acknowledged_at).not.toBeNull();
  });
});

describe("the email that confirms a withdrawal", () => {
  const listConfirmations = async (email: string) =>
    (await listMailTo(email)).filter(({ subject }) => /withdrawn|Se retiró|retiré/.test(subject));
  const contactDetails = ["privacy@acme-solar.example", "1 Sun Street, Testville, CA 94000"] as const;
  const withContactDetails = async (work: () => Promise<unknown>): Promise<void> => {
    const before = await env.DB.prepare("SELECT contact_email, mailing_address FROM businesses WHERE id = ?")
      .bind(world.acme.id)
      .first<{ contact_email: string | null; mailing_address: string | null }>();
    const set = (contact: string | null, address: string | null) =>
      env.DB.prepare("UPDATE businesses SET contact_email = ?, mailing_address = ? WHERE id = ?")
        .bind(contact, address, world.acme.id)
        .run();
    await set(...contactDetails);
    try {
      await work();
    } finally {
      await set(before?.contact_email ?? null, before?.mailing_address ?? null);
    }
  };

  test.each([
    ["en", "withdrawn", "By the end of"],
    ["es", "Se retiró su consentimiento", "A más tardar el"],
    ["fr-CA", "retiré", "Au plus tard le"],
  ] as const)("contains the receipt link, the deadline and the business's contact details (%s)", async (language, subject, deadline) => {
    const issued = await issueToNewPerson();
    const { code: digits } = await startWithdrawal(issued.certId, issued.email);
    await withContactDetails(async () => {
      const headers = { "accept-language": language };
      const { cease_by, receipt_url } = (await submitWithdrawalCode(issued.certId, { email: issued.email, code: digits }, headers)).body
        .data;
      const mails = await listConfirmations(issued.email);
      expect(mails).toHaveLength(1);
      const [mail] = mails;
      expect(mail?.subject).toContain(subject);
      for (const part of [
        receipt_url,
        `${deadline} ${formatDate(language, Date.parse(cease_by))} (UTC)`,
        issued.certId,
        world.acme.name,
        "privacy@acme-solar.example",
        "1 Sun Street, Testville",
      ])
        expect(mail?.text, part).toContain(part);
      expect(mail?.html).toContain(`<a href="${receipt_url}"`);
    });
  });

  test("says who withdrew, from what, and from which recipients", async () => {
    const email = createEmailAddress();
    const [linked, recorded, single] = [
      await issueToNewPerson(),
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ entities: threeRecipients }),
    ];
    const { receipt_url } = (await manageConsent(linked)).body.data;
    expect((await listConfirmations(linked.email))[0]?.text).toMatch(/You withdrew .*Covers: Only the consent on this certificate$/ms);
    expect((await listConfirmations(linked.email))[0]?.text).toContain(receipt_url);
    await record(recorded.certId);
    expect((await listConfirmations(email))[0]?.text).toMatch(/recorded that you withdrew .*Covers: Every consent you gave this business/s);
    const partial = (await manageConsent(single, { entities: ["Zenith Roofing"] })).body.data;
    const [mail] = await listConfirmations(single.email);
    expect(mail?.text).toContain("Zenith Roofing");
    expect(mail?.text).not.toContain("Bright Homes Inc");
    expect(mail?.text).toContain(partial.receipt_url);
  });

  test("is sent once per withdrawal whatever it covers, and not if the certificate has no email address", async () => {
    const email = createEmailAddress();
    const same = [
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
      await issueToNewPerson({ fields: { email } }),
    ];
    await withdrawCertificate(same[0] as IssuedCertificate, "business");
    expect(await readStatuses(same)).toEqual(["revoked", "revoked", "revoked"]);
    expect(await listConfirmations(email)).toHaveLength(1);
    const countWaitingMail = () =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM mail_outbox WHERE template = 'withdrawal_confirmation'").first("n");
    const nameless = await issueToNewPerson({ fields: { phone: createPhone() } });
    await waitUntilSettled();
    const before = await countWaitingMail();
    await record(nameless.certId);
    expect(await countWaitingMail()).toBe(before);
  });

  test("O20: is sent at most three times a day for a business and address if the withdrawal proves nothing about the address", async () => {
    const email = createEmailAddress();
    const forged: IssuedCertificate[] = [];
    for (let count = 0; count < 6; count += 1) forged.push(await issueToNewPerson({ fields: { email }, entities: threeRecipients }));
    for (const item of forged.slice(0, 2)) await manageConsent(item);
    const last = forged[2] as IssuedCertificate;
    for (const name of threeRecipients) await manageConsent(last, { entities: [name] });
    for (const item of forged.slice(3, 5)) await record(item.certId, { scope: "certificate" });
    expect(await listConfirmations(email)).toHaveLength(3);
    // A withdrawal by email code is confirmed by email even when the limit is exceeded.
    await withdrawCertificate(forged[5] as IssuedCertificate);
    expect(await listConfirmations(email)).toHaveLength(4);
    const other = await issueToNewPerson();
    await manageConsent(other);
    expect(await listConfirmations(other.email)).toHaveLength(1);
  });

  test("O6: contains the business's text as plain text, and its contact only if it is an email address", async () => {
    const issued = await issueToNewPerson();
    await env.DB.prepare("UPDATE businesses SET contact_email = 'https://evil.example/pay' WHERE id = ?").bind(world.acme.id).run();
    try {
      await manageConsent(issued);
    } finally {
      await env.DB.prepare("UPDATE businesses SET contact_email = NULL WHERE id = ?").bind(world.acme.id).run();
    }
    const [mail] = await listConfirmations(issued.email);
    expect(mail?.text).not.toContain("https://evil.example");
    expect(new Set(mail?.html.match(/href="[^"]*"/g)).size).toBe(1);
  });
});

test("POST /v1/certs/{id}/withdrawals returns 401 unauthorized for an unknown key and records nothing", async () => {
  const issued = await issueToNewPerson();
  expect(describeOutcome(await record(issued.certId, { entities: ["Acme Solar LLC"] }, "sk_live_00nobody"))).toBe("401 unauthorized");
  expect((await call(`/v1/certs/${issued.certId}/verify`)).body.data.status).toBe("active");
});

// Tests POST /v1/certs/{id}/erase-subject: the person's personal data is erased from every store, and the proof of the consent remains.
import { firstShard } from "../../core/ids.ts";
import { auditEntriesSql } from "../support/statements-sql.ts";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { minuteMs } from "../../core/time.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { checkpointAuditLogs } from "../../workers/background/audit-checkpoints.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { requestErasure, eraseCertificate } from "../support/erasure.ts";
import { signIn, buildJsonRequest } from "../support/people.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  listCodes,
  getCookies,
  createEmailAddress,
  issueToNewPerson,
  buildJsonPost,
  listLinkTokens,
  withdrawCertificate,
} from "../support/withdrawal.ts";
import {
  call,
  createServiceCall,
  submitConsent,
  getWithKey,
  issueCertificate,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";

const platform = await getPlatform(env);
const key = world.acme.keys.live;
const withKey = { authorization: `Bearer ${key}` };

const readVerification = async (certId: string) => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data;
const listEntryTypes = async (certId: string): Promise<string[]> =>
  (
    await env.DB.prepare(`SELECT type FROM ${auditEntriesSql} WHERE entity_id = ? ORDER BY ord`).bind(certId).all<{ type: string }>()
  ).results.map(({ type }) => type);

/** Returns all database rows and all KV values as one string. Excludes the emails captured in development. */
const readAllStored = async (): Promise<string> => {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite_%' AND name <> 'captured_mail'",
  ).all<{ name: string }>();
  const tables = await env.DB.batch(results.map(({ name }) => env.DB.prepare(`SELECT * FROM ${name}`)));
  const { keys } = await env.KV.list();
  const values = await Promise.all(keys.map(({ name }) => env.KV.get(name)));
  return JSON.stringify([tables.map((table) => table.results), keys, values]);
};

const traceTables = [
  ["certificates", "id", ["person_sealed", "email_indexes", "phone_indexes"]],
  ["certificate_views", "cert_id", ["viewer_sealed"]],
  ["email_codes", "cert_id", ["code_hash", "address_index", "context_hash"]],
  ["email_code_failures", "cert_id", ["address_index"]],
  ["withdrawals", "cert_id", ["note_sealed"]],
  ["cease_acknowledgements", "cert_id", ["details_sealed"]],
  ["idempotent_responses", "cert_id", ["response_sealed", "body_hash", "key_hash"]],
  ["mail_outbox", "cert_id", ["message_sealed"]],
  ["failed_mail", "cert_id", ["message_sealed"]],
] as const;
const traceColumns = traceTables.flatMap(([table, key, names]) => names.map((name) => ({ table, key, name })));

/** Lists the encrypted values, indexes and hashes that are derived from this certificate's personal data, each with its column. */
const findTraces = async (certId: string): Promise<{ readonly column: string; readonly value: string }[]> => {
  const found = await env.DB.batch<{ value: string | number[] | null }>(
    traceColumns.map(({ table, key: keyColumn, name }) =>
      env.DB.prepare(`SELECT ${name} AS value FROM ${table} WHERE ${keyColumn} = ?`).bind(certId),
    ),
  );
  return found.flatMap(({ results }, at) =>
    results.flatMap(({ value }) => {
      // D1 returns bytes as a list of numbers, so `readAllStored` contains them in this form.
      const text = Array.isArray(value) ? value.join(",") : value;
      return text ? [{ column: `${traceColumns[at]?.table}.${traceColumns[at]?.name}`, value: text }] : [];
    }),
  );
};

let phones = 2_000;

/** Issues a certificate, withdraws it and adds the business's notes, so that every column in `traceColumns` has a value. */
const issueWithAllTraces = async (): Promise<{ readonly certId: string; readonly email: string; readonly token: string }> => {
  const email = createEmailAddress();
  phones += 1;
  const fields = { email, first_name: "Zebulon", phone: `+1 202 555 ${phones}` };
  const receipt = (await submitConsent({ ...buildSubmission(), fields }, { "idempotency-key": crypto.randomUUID() })).body.data;
  const certId = receipt.cert_id as string;
  await getWithKey(`/c/${certId}`);
  await submitWithdrawalCode(certId, { email, code: "000000" }, getCookies(await requestWithdrawalCode(certId, email)));
  const recorded = { method: "phone", received_at: new Date().toISOString(), note: "Zebulon called from his car" };
  await call(`/v1/certs/${certId}/withdrawals`, buildJsonPost(recorded, { ...withKey, "idempotency-key": crypto.randomUUID() }));
  await call(`/v1/certs/${certId}/cease-ack`, buildJsonPost({ note: "told Zebulon" }, withKey));
  await env.DB.prepare(
    "INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at, cert_id) VALUES (?1, 'withdrawal_code', ?1, 9e15, 9e15, 0, ?2)",
  )
    .bind(`sealed mail of ${certId}`, certId)
    .run();
  await env.DB.prepare(
    "INSERT INTO failed_mail (id, template, message_sealed, reason, failed_at, expires_at, created_at, cert_id) VALUES (?1, 'withdrawal_code', ?1, 'refused', 0, 9e15, 0, ?2)",
  )
    .bind(`failed mail of ${certId}`, certId)
    .run();
  return { certId, email, token: String(receipt.manage_url).split("#m=")[1] as string };
};

describe("a person who is erased", () => {
  test("R1: leaves no data in any store, including the business's own notes about them", async () => {
    const { certId } = await issueWithAllTraces();
    const traces = await findTraces(certId);
    expect([...new Set(traces.map(({ column }) => column))]).toEqual(traceColumns.map(({ table, name }) => `${table}.${name}`));
    await eraseCertificate(certId);
    expect(await findTraces(certId)).toEqual([]);
    const stored = await readAllStored();
    expect(traces.filter(({ value }) => stored.includes(value))).toEqual([]);
    const row = await env.DB.prepare("SELECT subject_masked FROM certificates WHERE id = ?").bind(certId).first();
    expect(row).toEqual({ subject_masked: "{}" });
  });

  test("keeps hashes, times, status and proofs, so that everything still verifies", async () => {
    const { certId } = await issueWithAllTraces();
    const before = await readVerification(certId);
    await requestErasure(certId);
    const after = await readVerification(certId);
    const { subject, subject_erased_at: at, anchor: _, withdrawal: __, ...rest } = after;
    const { subject: ___, subject_erased_at: earlier, anchor: ____, withdrawal: _____, ...was } = before;
    expect([earlier, subject]).toEqual([null, {}]);
    expect(rest).toEqual(was);
    expect(after.withdrawal).toMatchObject({ withdrawn_at: before.withdrawal.withdrawn_at, cease_by: before.cease_by });
    expect(Date.parse(at)).toBeGreaterThan(0);
    expect(sha256Hex(after.canonical)).toBe(after.fingerprint);
  });

  test("is shown as erased in detail, list, receipts, match and contact-check", async () => {
    const { certId, email } = await issueWithAllTraces();
    const at = await eraseCertificate(certId);
    const detail = (await getWithKey(`/v1/certs/${certId}`, key)).body.data;
    expect(detail).toMatchObject({ subject: {}, subject_salts: {}, subject_erased_at: at, evidence: null, view_trail: [], view_count: 1 });
    expect(detail.withdrawal.recorded).toEqual({ method: "phone", note: null });
    expect(detail.withdrawal.acknowledgement).toBeNull();
    const listed = (await getWithKey("/v1/certs?per_page=100", key)).body.data.certs.find(
      ({ cert_id }: { cert_id: string }) => cert_id === certId,
    );
    expect(listed).toMatchObject({ subject: {}, subject_erased_at: at });
    for (const format of ["iso27560", "kantara"])
      expect((await getWithKey(`/v1/certs/${certId}/receipt?format=${format}`)).body.data.certificate.subject_erased_at).toBe(at);
    const matched = await call(`/v1/certs/${certId}/match`, buildJsonPost({ email }, withKey));
    expect(matched.body.data).toMatchObject({ status: "revoked", email: null, phone: null });
    const checked = await call("/v1/contact-check", buildJsonPost({ subjects: [{ email }] }, withKey));
    expect(checked.body.data.results[0]).toMatchObject({ contactable: false, reason: "none", basis: [] });
  });

  test("R2: leaves an audit entry about the erasure in the evidence, without personal data, and the pack is valid", async () => {
    const { certId } = await issueWithAllTraces();
    await platform.auditLogStub(firstShard).drainNow();
    await submitAnchors(platform);
    await eraseCertificate(certId);
    await platform.auditLogStub(firstShard).drainNow();
    await checkpointAuditLogs(platform, Math.floor(Date.now() / (15 * minuteMs) + 1) * 15 * minuteMs);
    const bundle = (await getWithKey(`/v1/certs/${certId}/evidence-pack`, key)).body.data;
    const entry = bundle.audit.entries.find(({ type }: { type: string }) => type === "certificate.subject_erased");
    expect(entry.payload).toMatchObject({ fingerprint: bundle.fingerprint, reason: "person_asked" });
    expect(Object.keys(entry.payload).sort()).toEqual(["by", "fingerprint", "reason"]);
    expect(bundle).toMatchObject({ evidence: null, subject_disclosures: [], commitments: {}, views: [] });
    const trust = trustOf((await getWithKey("/.well-known/svc-trust.json")).body);
    for (const query of ["", "&redact=subject"]) {
      const response = await getWithKey(`/v1/certs/${certId}/evidence-pack?format=html${query}`, key);
      expect(response.text.includes("The person's details were erased.")).toBe(true);
      const zip = Uint8Array.from(atob(/id="pack">([^<]+)</.exec(response.text)?.[1] ?? ""), (char) => char.charCodeAt(0));
      const report = await verifyPack(zip, { ...defaultVerificationOptions, trust });
      expect(report.checks.filter(({ outcome }) => outcome === "fail" || outcome === "incomplete")).toEqual([]);
      expect(report.verdict).toBe("valid");
    }
  });

  test("R3: cannot withdraw with a code or link, whether it was sent before or requested afterward", async () => {
    const issued = await issueToNewPerson();
    const cookie = getCookies(await requestWithdrawalCode(issued.certId, issued.email));
    const [[code], [link]] = [await listCodes(issued.email), await listLinkTokens(issued.email)];
    await eraseCertificate(issued.certId);
    const attempts = [
      await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie),
      await call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken })),
      await call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: link })),
    ];
    expect(attempts.map(({ body }) => body.error.code)).toEqual(["opt_out_failed", "opt_out_failed", "opt_out_failed"]);
    const mails = (await listCodes(issued.email)).length;
    expect((await requestWithdrawalCode(issued.certId, issued.email)).body.data).toEqual({ accepted: true });
    expect((await listCodes(issued.email)).length).toBe(mails);
    expect((await readVerification(issued.certId)).status).toBe("active");
    const recorded = { method: "mail", received_at: new Date().toISOString() };
    expect((await call(`/v1/certs/${issued.certId}/withdrawals`, buildJsonPost(recorded, withKey))).status).toBe(201);
  });

  test("gets no email with a code that was requested just before the erasure", async () => {
    const { certId, email } = await issueToNewPerson();
    let erasure: Promise<unknown> | null = null;
    const runBatch = async (statements: D1PreparedStatement[]) => {
      erasure ??= eraseCertificate(certId);
      await erasure;
      return env.DB.batch(statements);
    };
    const prepare = env.DB.prepare.bind(env.DB);
    const isolate = createServiceCall({ DB: { prepare, batch: runBatch, withSession: () => ({ prepare, batch: runBatch }) } });
    expect((await requestWithdrawalCode(certId, email, {}, isolate)).status).toBe(200);
    expect(erasure).not.toBeNull();
    expect(await listCodes(email)).toEqual([]);
    expect(await findTraces(certId)).toEqual([]);
  });

  test("gets a certificate page with the business's contact instead of forms that cannot work", async () => {
    for (const [language, words] of [
      ["en", "To withdraw, contact"],
      ["es", "Para retirar el consentimiento, comuníquese con"],
      ["fr-CA", "Pour retirer votre consentement, communiquez avec"],
    ]) {
      const issued = await issueToNewPerson();
      await eraseCertificate(issued.certId);
      const page = await getWithKey(`/c/${issued.certId}?lang=${language}`);
      expect(page.text).toContain(words);
      expect(page.text).not.toContain("<form");
      expect(page.text).not.toContain("***");
      const form = await call(`/c/${issued.certId}/withdraw?lang=${language}`, { redirect: "manual" });
      expect([form.status, form.headers.get("location")]).toEqual([303, `/c/${issued.certId}?lang=${language}`]);
    }
  });

  test("R4: has new views of the page counted but not stored", async () => {
    const { cert_id: certId } = await issueCertificate();
    await eraseCertificate(certId);
    await getWithKey(`/c/${certId}`);
    await call(`/v1/certs/${certId}/match`, buildJsonPost({ email: "pat@example.com" }, withKey));
    expect((await getWithKey(`/v1/certs/${certId}`, key)).body.data).toMatchObject({ view_count: 1, view_trail: [] });
  });
});

describe("POST /v1/certs/{id}/erase-subject", () => {
  test("returns the first result when repeated, even fifty times at the same time", async () => {
    const { cert_id: certId } = await issueCertificate();
    const cookie = await signIn(world.ownerEmail);
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => call(`/v1/certs/${certId}/erase-subject`, buildJsonRequest({ confirm: "ERASE" }, cookie))),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body }) => body.data.subject_erased_at)).size).toBe(1);
    expect((await listEntryTypes(certId)).filter((type) => type === "certificate.subject_erased")).toHaveLength(1);
    const [first] = responses;
    expect((await requestErasure(certId)).body.data).toEqual(first?.body.data);
  });

  test("R5: requires a signed-in owner of the business who confirms with ERASE", async () => {
    const { cert_id: certId } = await issueCertificate();
    const collectOutcomes = async (...responses: Promise<TestResponse>[]) =>
      (await Promise.all(responses)).map(({ status, body }) => `${status} ${body.error?.code ?? "ok"}`);
    expect(await collectOutcomes(requestErasure(certId, undefined, { as: world.memberEmail }))).toEqual(["403 owner_required"]);
    expect(await collectOutcomes(requestErasure(certId, { confirm: "erase" }))).toEqual(["400 invalid_request"]);
    expect(await collectOutcomes(requestErasure(certId, { confirm: "ERASE", reason: "because of Pat" }))).toEqual(["400 invalid_request"]);
    expect(await collectOutcomes(requestErasure(certId, undefined, { headers: { origin: "https://elsewhere.example" } }))).toEqual([
      "403 csrf_failed",
    ]);
    expect(await collectOutcomes(call(`/v1/certs/${certId}/erase-subject`, buildJsonPost({ confirm: "ERASE" }, withKey)))).toEqual([
      "401 unauthorized",
    ]);
    expect(await collectOutcomes(requestErasure(certId, undefined, { as: world.otherOwnerEmail }))).toEqual(["404 cert_not_found"]);
    expect(await collectOutcomes(requestErasure("cc_00000000000000000000000000"))).toEqual(["404 cert_not_found"]);
    expect((await readVerification(certId)).subject_erased_at).toBeNull();
  });

  test.each([
    ["the business", world.acme.id],
    ["every business", ""],
  ])("waits while a withdrawal from %s is applied to the person's active certificates", async (_, businessId) => {
    const [active, revoked] = [await issueToNewPerson(), await issueToNewPerson()];
    await withdrawCertificate(revoked);
    for (const { certId } of [active, revoked])
      await env.DB.prepare(
        `INSERT INTO account_withdrawals (address_index, business_id, withdrawn_at, next_at)
         SELECT email_indexes ->> 0, ?, 1, 9e15 FROM certificates WHERE id = ?`,
      )
        .bind(businessId, certId)
        .run();
    const refused = await requestErasure(active.certId);
    expect([refused.status, refused.body.error]).toEqual([
      503,
      {
        code: "storage_unavailable",
        message: "A withdrawal of this person's consent is being processed. Try again in a minute.",
      },
    ]);
    expect((await readVerification(active.certId)).subject_erased_at).toBeNull();
    expect((await requestErasure(revoked.certId)).status).toBe(200);
    await env.DB.exec("DELETE FROM account_withdrawals");
    expect((await requestErasure(active.certId)).status).toBe(200);
  });

  test("R6: cannot be undone, done in part or done twice by any statement", async () => {
    const { certId } = await issueWithAllTraces();
    const run = (sql: string) => env.DB.prepare(sql).bind(certId).run();
    const inPart = [
      "UPDATE certificates SET person_sealed = x'78' WHERE id = ?",
      "UPDATE certificates SET subject_masked = '{}' WHERE id = ?",
      "UPDATE certificates SET email_indexes = NULL WHERE id = ?",
      "UPDATE certificates SET person_sealed = NULL, subject_erased_at = 1 WHERE id = ?",
    ];
    for (const sql of inPart) await expect(run(sql), sql).rejects.toThrow("erased only once and only completely");
    for (const sql of [
      "UPDATE withdrawals SET note_sealed = NULL WHERE cert_id = ?",
      "UPDATE cease_acknowledgements SET details_sealed = '' WHERE cert_id = ?",
    ])
      await expect(run(sql), sql).rejects.toThrow("is immutable");
    await eraseCertificate(certId);
    for (const sql of [
      ...inPart,
      "UPDATE certificates SET subject_erased_at = NULL, person_sealed = x'78' WHERE id = ?",
      "UPDATE certificates SET subject_erased_at = 1 WHERE id = ?",
    ])
      await expect(run(sql), sql).rejects.toThrow("erased only once and only completely");
    await expect(run("UPDATE withdrawals SET note_sealed = 'x' WHERE cert_id = ?")).rejects.toThrow("is immutable");
  });

  test("erases nothing when the database fails", async () => {
    const { cert_id: certId } = await issueCertificate();
    await env.DB.exec("CREATE TRIGGER broken BEFORE DELETE ON certificate_views BEGIN SELECT RAISE(ABORT, 'broken'); END");
    await getWithKey(`/c/${certId}`);
    expect((await requestErasure(certId)).status).toBe(503);
    await env.DB.exec("DROP TRIGGER broken");
    expect((await readVerification(certId)).subject_erased_at).toBeNull();
    await eraseCertificate(certId);
  });
});

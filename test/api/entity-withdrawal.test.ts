// Tests withdrawing consent for individual recipients. The certificate stays active for the others, and every response shows the
// withdrawal. Each withdrawal gets the same proofs as the withdrawal of a whole certificate. Withdrawing consent for the last recipient
// revokes the certificate.
import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { formatDate } from "../../core/mail/formatting.ts";
import { sha256Hex } from "../../core/hash.ts";
import { parseZip } from "../../core/certificates/evidence-zip.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { verifyPublic } from "../../verifier/verify-public.ts";
import { verifyWithdrawal } from "../../verifier/verify-withdrawal.ts";
import { trustOf } from "../../verifier/trust.ts";
import { runOutboxRelay } from "../support/background-work.ts";
import { forgetOwnerNotices } from "../support/people.ts";
import { callWith, platform } from "../support/scenarios.ts";
import { stopClock } from "../support/stopped-clock.ts";
import { call, createServiceCall, world, type TestResponse } from "../support/world.ts";
import {
  submitWithdrawalCode,
  issueToNewPerson,
  buildJsonPost,
  listMailTo,
  startWithdrawal,
  countTraces,
  createEmailAddress,
  withdrawCertificate,
  type IssuedCertificate,
} from "../support/withdrawal.ts";

const key = world.acme.keys.live;
const unlimited = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_OPT_OUT_CONFIRM_PER_IP: "100000/60" });
const get = (path: string): Promise<TestResponse> => unlimited(path, { headers: { authorization: `Bearer ${key}` } });
const manageConsent = (issued: IssuedCertificate, body: object): Promise<TestResponse> =>
  unlimited(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken, ...body }));
const verify = async (certId: string) => (await get(`/v1/certs/${certId}/verify`)).body.data;
/** Runs the checks that need only the public response. */
const verifyShown = async (certId: string) => {
  const trust = trustOf((await get("/.well-known/svc-trust.json")).body);
  return verifyPublic(await verify(certId), { ...defaultVerificationOptions, trust });
};
const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body.error?.code ?? "ok"}`;
const three = ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"];
const issueWithThreeEntities = () => issueToNewPerson({ entities: three });
const listEventTypes = async (certId: string): Promise<string[]> =>
  (
    await env.DB.prepare("SELECT type FROM changes WHERE entity_id = ?1 AND sequence IS NOT NULL ORDER BY ord")
      .bind(certId)
      .all<{ type: string }>()
  ).results.map(({ type }) => type);
const countWithdrawals = async (certId: string): Promise<number[]> => {
  const row = await env.DB.prepare(
    `SELECT (SELECT COUNT(*) FROM entity_withdrawals WHERE cert_id = ?1) AS acts,
      (SELECT COUNT(*) FROM audit_entries WHERE entity_id = ?1 AND type = 'certificate.entities_withdrawn') AS entries,
      (SELECT COUNT(*) FROM anchors WHERE entity_id = ?1 AND event = 'certificate.entities_withdrawn') AS statements`,
  )
    .bind(certId)
    .first<{ acts: number; entries: number; statements: number }>();
  return row === null ? [] : [row.acts, row.entries, row.statements];
};

test("withdrawing consent for one recipient keeps the certificate active for the others, and every response shows it", async () => {
  const issued = await issueWithThreeEntities();
  const { code: digits, cookie } = await startWithdrawal(issued.certId, issued.email);
  const response = await submitWithdrawalCode(issued.certId, { email: issued.email, code: digits, entities: ["Bright Homes Inc"] }, cookie);
  expect(describeOutcome(response)).toBe("200 ok");
  const { revoked, withdrawn_at, cease_by, receipt_url, entities_withdrawn } = response.body.data;
  expect(revoked).toBe(false);
  expect(Date.parse(cease_by)).toBe(getCeaseDeadline(Date.parse(withdrawn_at)));
  const unacknowledged = { method: "email_code", received_at: null, cease_acknowledged_at: null, overdue: false };
  expect(entities_withdrawn).toEqual([{ entity: "Bright Homes Inc", withdrawn_at, cease_by, receipt_url, ...unacknowledged }]);

  expect(await verify(issued.certId)).toMatchObject({
    status: "active",
    withdrawal: null,
    cease_by: null,
    entities: three,
    entities_withdrawn,
  });
  expect((await get(`/v1/certs/${issued.certId}`)).body.data).toMatchObject({
    status: "active",
    entities_withdrawn: [{ ...entities_withdrawn[0], recorded: null, acknowledgement: null }],
  });
  const listed = (await get(`/v1/certs?subject_email=${issued.email}`)).body.data.certs[0];
  expect(listed).toMatchObject({ status: "active", entities_withdrawn });
  expect((await get(`/v1/certs/${issued.certId}/evidence-pack`)).body.data.certificate).toMatchObject({ entities_withdrawn });
  for (const format of ["iso27560", "kantara"]) {
    const receipt = (await get(`/v1/certs/${issued.certId}/receipt?format=${format}`)).body.data;
    const { certificate, ...rest } = receipt;
    expect(certificate.entities_withdrawn).toEqual(entities_withdrawn);
    expect(JSON.stringify(rest)).toContain("Zenith Roofing");
    expect(JSON.stringify(rest)).not.toContain("Bright Homes Inc");
  }
  expect(await countWithdrawals(issued.certId)).toEqual([1, 1, 1]);
  expect(await countTraces(issued.certId)).toMatchObject({ withdrawals: 0, audit: 0, anchors: 0 });
});

test("the receipt of a withdrawal for recipients names them, and the ledger's statement contains its hash", async () => {
  const issued = await issueWithThreeEntities();
  const response = await manageConsent(issued, { entities: ["Zenith Roofing", "Acme Solar LLC"] });
  const receipt = (await unlimited(new URL(response.body.data.receipt_url).pathname + new URL(response.body.data.receipt_url).search)).body
    .data;
  expect(receipt.receipt).toMatchObject({
    schema: "svc-withdrawal-receipt-v2",
    scope: "recipient",
    method: "manage_link",
    entities: ["Acme Solar LLC", "Zenith Roofing"],
    fingerprint: issued.fingerprint,
  });
  const statement = JSON.parse(receipt.anchor.statement);
  expect(statement).toMatchObject({
    event: "certificate.entities_withdrawn",
    schema: "svc-anchor-v2",
    receipt_hash: sha256Hex(receipt.canonical),
  });
  expect(receipt.anchor.statement).not.toContain("Zenith");
  const trust = trustOf((await call("/.well-known/svc-trust.json")).body);
  const report = await verifyWithdrawal(receipt, { ...defaultVerificationOptions, trust });
  expect(report.failed).toBeNull();
  const forged = { ...receipt, canonical: receipt.canonical.replace("Zenith Roofing", "Zenith Woofing") };
  expect(
    (await verifyWithdrawal({ ...forged, receipt: JSON.parse(forged.canonical) }, { ...defaultVerificationOptions, trust })).failed,
  ).toBe("receipt.signature");
  expect(describeOutcome(await unlimited(`/v1/certs/${issued.certId}/receipt?withdrawal=2`))).toBe("404 not_found");
  expect(describeOutcome(await unlimited(`/v1/certs/cc_00${"0".repeat(24)}/receipt?withdrawal=1`))).toBe("404 cert_not_found");
});

test("withdrawing consent for the last recipient revokes the certificate and sends certificate.revoked", async () => {
  const issued = await issueWithThreeEntities();
  expect((await manageConsent(issued, { entities: ["Acme Solar LLC"] })).body.data.revoked).toBe(false);
  expect((await manageConsent(issued, { entities: ["Zenith Roofing"] })).body.data.revoked).toBe(false);
  expect(await listEventTypes(issued.certId)).toEqual([]); // the business has not enabled certificate.issued, so no event is sent
  const last = await manageConsent(issued, { entities: ["Bright Homes Inc", "Acme Solar LLC"] });
  expect(last.body.data).toMatchObject({ revoked: true });
  expect(last.body.data.entities_withdrawn).toBeUndefined();
  expect(await listEventTypes(issued.certId)).toEqual(["certificate.revoked"]);
  const verified = await verify(issued.certId);
  expect(verified).toMatchObject({ status: "revoked", withdrawal: { scope: "certificate", method: "manage_link" } });
  expect(verified.entities_withdrawn.map(({ entity }: { entity: string }) => entity)).toEqual(["Acme Solar LLC", "Zenith Roofing"]);
  expect(await countTraces(issued.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  expect(describeOutcome(await manageConsent(issued, { entities: ["Acme Solar LLC"] }))).toBe("409 already_revoked");
});

test("a business with certificate.issued enabled gets an event for each withdrawal for recipients, which contains only the certificate's ID", async () => {
  const issued = await issueWithThreeEntities();
  await env.DB.prepare("UPDATE businesses SET emit_certificate_issued = 1 WHERE id = ?1").bind(world.acme.id).run();
  try {
    await manageConsent(issued, { entities: ["Acme Solar LLC"] });
  } finally {
    await env.DB.prepare("UPDATE businesses SET emit_certificate_issued = 0 WHERE id = ?1").bind(world.acme.id).run();
  }
  expect(await listEventTypes(issued.certId)).toEqual(["certificate.entities_withdrawn"]);
});

test("owners get an email with the withdrawn recipients and the deadline", async () => {
  const issued = await issueWithThreeEntities();
  await forgetOwnerNotices();
  await manageConsent(issued, { entities: ["Zenith Roofing"] });
  const mail = (await listMailTo(world.ownerEmail)).find(({ text }) => text.includes(issued.certId));
  expect(mail?.text).toContain("Zenith Roofing");
  expect(mail?.text).not.toContain("Bright Homes Inc");
});

test("only recipients with consent are accepted, and an invalid name uses no attempt and changes nothing", async () => {
  const issued = await issueToNewPerson({
    entities: three,
    entities_accepted: ["Acme Solar LLC", "Zenith Roofing"],
    entities_rejected: ["Bright Homes Inc"],
  });
  for (const [body, rule] of [
    [{ entities: ["Nobody Ltd"] }, "entities: must contain only recipients for whom the person gave consent on this certificate."],
    [{ entities: ["Bright Homes Inc"] }, "entities: must contain only recipients for whom the person gave consent on this certificate."],
    [{ entities: [] }, "entities: must contain at least one recipient."],
    [{ entities: ["Acme Solar LLC"], scope: "business" }, "entities: must not be sent together with scope business."],
  ] as const) {
    const response = await manageConsent(issued, body);
    expect([describeOutcome(response), response.body.error.message]).toEqual(["400 invalid_request", rule]);
  }
  const { code: digits, cookie } = await startWithdrawal(issued.certId, issued.email);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const wrong = await submitWithdrawalCode(
      issued.certId,
      { email: issued.email, code: digits, entities: ["Nobody Ltd"] },
      cookie,
      unlimited,
    );
    expect(describeOutcome(wrong)).toBe("400 invalid_request");
  }
  const right = await submitWithdrawalCode(
    issued.certId,
    { email: issued.email, code: digits, entities: [" Zenith Roofing "] },
    cookie,
    unlimited,
  );
  expect(describeOutcome(right)).toBe("200 ok");
  // The person declined the other recipient, so this withdrawal is for the last recipient with consent.
  expect((await manageConsent(issued, { entities: ["Acme Solar LLC"] })).body.data.revoked).toBe(true);
});

test("an invalid token gets the same refusal with and without a recipient's name", async () => {
  const issued = await issueWithThreeEntities();
  const stranger = "A".repeat(43);
  expect(describeOutcome(await manageConsent(issued, { token: stranger, entities: ["Acme Solar LLC"] }))).toBe("400 opt_out_failed");
  expect((await verify(issued.certId)).entities_withdrawn).toBeUndefined();
});

test("concurrent withdrawals record each recipient once, and the last recipient revokes the certificate", async () => {
  const same = await issueWithThreeEntities();
  const responses = await Promise.all(Array.from({ length: 6 }, () => manageConsent(same, { entities: ["Acme Solar LLC"] })));
  expect(responses.map(describeOutcome).sort()).toEqual(["200 ok", ...Array.from({ length: 5 }, () => "409 already_revoked")]);
  expect(await countWithdrawals(same.certId)).toEqual([1, 1, 1]);

  const all = await issueWithThreeEntities();
  const each = await Promise.all(three.map((name) => manageConsent(all, { entities: [name] })));
  expect(each.map(describeOutcome)).toEqual(["200 ok", "200 ok", "200 ok"]);
  expect(each.filter(({ body }) => body.data.revoked)).toHaveLength(1);
  expect(await countWithdrawals(all.certId)).toEqual([2, 2, 2]);
  expect(await countTraces(all.certId)).toEqual({ withdrawals: 1, audit: 1, anchors: 1 });
  expect((await verify(all.certId)).status).toBe("revoked");
});

test("concurrent withdrawals of a recipient and of the certificate leave one revocation and nothing after it", async () => {
  const issued = await issueWithThreeEntities();
  const [one, fullResponse] = await Promise.all([manageConsent(issued, { entities: ["Acme Solar LLC"] }), manageConsent(issued, {})]);
  expect(describeOutcome(fullResponse)).toBe("200 ok");
  expect(["200 ok", "409 already_revoked"]).toContain(describeOutcome(one));
  expect((await verify(issued.certId)).status).toBe("revoked");
  await expect(
    env.DB.prepare(
      "INSERT INTO entity_withdrawals (cert_id, number, withdrawn_at, cease_by, method, receipt, signature, signature_kid) VALUES (?1, 9, 1, 1, 'manage_link', '{}', 'x', 'x')",
    )
      .bind(issued.certId)
      .run(),
  ).rejects.toThrow("a certificate can be revoked only once");
});

test("a withdrawal is never earlier than the issuance or an earlier withdrawal, whatever the clock shows", async () => {
  const issued = await issueWithThreeEntities();
  const issuedAt = Date.parse((await verify(issued.certId)).issued_at);
  stopClock(issuedAt - minuteMs); // another isolate, whose clock is behind
  expect((await manageConsent(issued, { entities: ["Bright Homes Inc"] })).status).toBe(200);
  expect((await manageConsent(issued, { entities: ["Zenith Roofing"] })).status).toBe(200);
  expect((await manageConsent(issued, {})).body.data).toMatchObject({ revoked: true });
  expect(await verifyShown(issued.certId)).toMatchObject({ failed: null });
});

test("the email about a withdrawal names the deadline in the receipt if the clock is behind", async () => {
  const issued = await issueWithThreeEntities();
  const issuedAt = Date.parse((await verify(issued.certId)).issued_at);
  stopClock(issuedAt - 7 * dayMs);
  for (const change of [{ entities: ["Bright Homes Inc"] }, {}]) {
    const { cease_by } = (await manageConsent(issued, change)).body.data;
    expect(Date.parse(cease_by)).toBe(getCeaseDeadline(issuedAt));
    expect((await listMailTo(issued.email)).at(-1)?.text).toContain(formatDate("en", Date.parse(cease_by)));
  }
});

test("a withdrawal of all consent includes a certificate that was issued after the time on a clock that is behind", async () => {
  const email = createEmailAddress();
  const other = await issueToNewPerson({ fields: { email } });
  const issued = await issueToNewPerson({ fields: { email } });
  stopClock(Date.parse((await verify(other.certId)).issued_at) - minuteMs);
  await withdrawCertificate(issued, "business");
  expect((await verify(other.certId)).status).toBe("revoked");
});

test("a withdrawal is not earlier than a withdrawal for recipients that was committed while it was being prepared", async () => {
  const issued = await issueWithThreeEntities();
  const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
  const withdrawFromOne = async () => {
    await scheduler.wait(5); // so that the other withdrawal is later
    return manageConsent(issued, { entities: ["Bright Homes Inc"] });
  };
  let other: Promise<TestResponse> | null = null;
  // Runs the second withdrawal between the first one's reads and writes: a withdrawal signs its receipt after it has read the certificate.
  const sign = async (text: string) => {
    other ??= withdrawFromOne();
    expect((await other).status).toBe(200);
    return platform.signer.sign(text);
  };
  const request = buildJsonPost({ email: issued.email, code, scope: "business" }, cookie);
  const path = `/v1/certs/${issued.certId}/opt-out/confirm`;
  expect((await callWith({ signer: { ...platform.signer, sign } }, path, request)).status).toBe(200);
  expect(other).not.toBeNull();
  const shown = await verify(issued.certId);
  expect(shown.withdrawal.withdrawn_at >= shown.entities_withdrawn[0].withdrawn_at).toBe(true);
  expect(await verifyShown(issued.certId)).toMatchObject({ failed: null });
});

test("the rest of a withdrawal is not earlier than a withdrawal for recipients that was made while it was waiting", async () => {
  const issued = await issueWithThreeEntities();
  const requestedAt = Date.now();
  await scheduler.wait(5); // so that the next withdrawal is later
  expect((await manageConsent(issued, { entities: ["Bright Homes Inc"] })).status).toBe(200);
  await env.DB.prepare(
    `INSERT INTO withdrawal_work (cert_id, business_id, environment, address_indexes, withdrawn_at, method, next_at)
     SELECT id, business_id, environment, email_indexes, ?, 'email_code', 1 FROM certificates WHERE id = ?`,
  )
    .bind(requestedAt, issued.certId)
    .run();
  await runOutboxRelay();
  const shown = await verify(issued.certId);
  expect(shown.withdrawal.withdrawn_at).toBe(shown.entities_withdrawn[0].withdrawn_at);
  expect(await verifyShown(issued.certId)).toMatchObject({ failed: null });
});

test("withdrawals and their recipients can be neither changed nor deleted", async () => {
  const issued = await issueWithThreeEntities();
  await manageConsent(issued, { entities: ["Acme Solar LLC"] });
  for (const change of [
    "UPDATE entity_withdrawals SET cease_by = 0 WHERE cert_id = ?1",
    "DELETE FROM entity_withdrawals WHERE cert_id = ?1",
    "UPDATE withdrawn_entities SET entity = 'Zenith Roofing' WHERE cert_id = ?1",
    "DELETE FROM withdrawn_entities WHERE cert_id = ?1",
  ]) {
    await expect(env.DB.prepare(change).bind(issued.certId).run(), change).rejects.toThrow(/a (?:live )?withdrawal is/);
  }
});

test("contact-check answers for each recipient", async () => {
  const issued = await issueWithThreeEntities();
  const { cease_by } = (await manageConsent(issued, { entities: ["Acme Solar LLC"] })).body.data;
  const checkRecipient = async (entity?: string) =>
    (
      await unlimited(
        "/v1/contact-check",
        buildJsonPost({ subjects: [{ email: issued.email }], ...(entity && { entity }) }, { authorization: `Bearer ${key}` }),
      )
    ).body.data.results[0];
  expect(await checkRecipient("Acme Solar LLC")).toMatchObject({
    contactable: false,
    reason: "revoked",
    basis: [{ id: issued.certId, status: "revoked", cease_by }],
  });
  expect(await checkRecipient("Zenith Roofing")).toMatchObject({ contactable: true, basis: [{ status: "active", cease_by: null }] });
  expect(await checkRecipient()).toMatchObject({ contactable: true, reason: "active_consent" });
});

test("match returns revoked to the withdrawn recipient, and active to the others", async () => {
  const name = (await env.DB.prepare("SELECT name FROM businesses WHERE id = ?1").bind(world.acme.id).first<{ name: string }>())
    ?.name as string;
  const issued = await issueToNewPerson({ entities: [name, "Zenith Roofing"] });
  const checkRecipient = async () =>
    (await unlimited(`/v1/certs/${issued.certId}/match`, buildJsonPost({ email: issued.email }, { authorization: `Bearer ${key}` }))).body
      .data;
  await manageConsent(issued, { entities: [name] });
  expect(await checkRecipient()).toMatchObject({ status: "revoked", email: true, entity_named: false });
  const other = await issueToNewPerson({ entities: [name, "Zenith Roofing"] });
  await manageConsent(other, { entities: ["Zenith Roofing"] });
  expect(
    (await unlimited(`/v1/certs/${other.certId}/match`, buildJsonPost({ email: other.email }, { authorization: `Bearer ${key}` }))).body
      .data,
  ).toMatchObject({ status: "active", entity_named: true });
});

test("the evidence pack proves each withdrawal for recipients by its receipt, its statement and its audit entry", async () => {
  const issued = await issueWithThreeEntities();
  await manageConsent(issued, { entities: ["Zenith Roofing", "Acme Solar LLC"] });
  const pack = async (): Promise<Uint8Array> => {
    const path = `/v1/certs/${issued.certId}/evidence-pack?format=zip`;
    const response = await exports.default.fetch(new Request(`http://svc.test${path}`, { headers: { authorization: `Bearer ${key}` } }));
    return new Uint8Array(await response.arrayBuffer());
  };
  const trust = trustOf((await call("/.well-known/svc-trust.json")).body);
  const listFailedChecks = async () => {
    const { failed, checks } = await verifyPack(await pack(), { ...defaultVerificationOptions, trust });
    const checkIds = ["entities.receipt", "audit.status", "cert.consistency"];
    return [failed, ...checkIds.map((wanted) => checks.find(({ id }) => id === wanted)?.outcome)];
  };
  expect(await listFailedChecks()).toEqual([null, "pass", "pass", "pass"]);
  const files = parseZip(await pack(), 20_000_000);
  const page = files.ok ? new TextDecoder().decode(files.files.get("certificate.html")) : "";
  expect(page.replaceAll(/<[^>]*>/g, " ")).toMatch(
    /Who may contact the person.*Bright Homes Inc.*individual recipients.*Acme Solar LLC.*Zenith Roofing/s,
  );
  const receipt = (await get(`/v1/certs/${issued.certId}/receipt?withdrawal=1`)).body.data;
  const readFileText = (name: string) => (files.ok ? new TextDecoder().decode(files.files.get(name)) : "");
  expect(readFileText("withdrawals/1/receipt.json")).toBe(receipt.canonical);
  expect(JSON.parse(readFileText("withdrawals/1/signature.json"))).toEqual(receipt.signature);
  expect(readFileText("anchors/withdrawn-1/statement.json")).toBe(receipt.anchor.statement);
  const bundle = (await get(`/v1/certs/${issued.certId}/evidence-pack`)).body.data;
  expect(bundle.entity_withdrawal_receipts).toMatchObject([
    { number: 1, canonical: receipt.canonical, ledger: { entry: receipt.anchor.statement } },
  ]);
  const acknowledged = { entities: ["Zenith Roofing"], note: "off the list" };
  await unlimited(`/v1/certs/${issued.certId}/cease-ack`, buildJsonPost(acknowledged, { authorization: `Bearer ${key}` }));
  expect(await listFailedChecks()).toEqual([null, "pass", "pass", "pass"]);
  await manageConsent(issued, { entities: ["Bright Homes Inc"] });
  expect(await listFailedChecks()).toEqual([null, "pass", "pass", "pass"]);
});

// Tests form submissions with odd values. The content of a field never causes a refusal. An unusable value is kept as typed, is listed on
// the certificate, and never matches a search.
import { firstShard } from "../../core/ids.ts";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { parseZip } from "../../core/certificates/evidence-zip.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { getPageText, parsePage } from "../support/browser-session.ts";
import { findStorageFaults } from "../support/stored-submissions.ts";
import { buildSubmissionWith } from "../support/submissions.ts";
import { oddFieldSubmissions } from "../support/unusual-submissions.ts";
import { buildJsonPost, createEmailAddress, listMailTo, requestWithdrawalCode } from "../support/withdrawal.ts";
import { call, createServiceCall, world, type TestResponse } from "../support/world.ts";

const unlimited = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_CONSENT_PER_IP: "100000/60", LIMIT_MATCH_PER_KEY: "100000/60" });
const authorization = `Bearer ${world.acme.keys.live}`;
const get = async (path: string): Promise<TestResponse["body"]> => (await unlimited(path, { headers: { authorization } })).body.data;
const post = async (path: string, body: unknown): Promise<TestResponse["body"]> =>
  (await unlimited(path, buildJsonPost(body, { authorization }))).body.data;

const submit = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  unlimited("/v1/consent", buildJsonPost(buildSubmissionWith({ fields, ...more }), { origin: "https://www.example.com" }));
const issue = async (fields: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<TestResponse["body"]> => {
  const response = await submit(fields, more);
  expect(response.status, response.text).toBe(201);
  return response.body.data;
};
const readReason = async (subject: object): Promise<string> => (await post("/v1/contact-check", { subjects: [subject] })).results[0].reason;
const listBy = async (filter: string): Promise<string[]> =>
  (await get(`/v1/certs?${filter}`)).certs.map(({ cert_id }: { cert_id: string }) => cert_id);

describe("a submission with odd field values", () => {
  test(`is certified and kept as typed: ${oddFieldSubmissions.length} kinds`, { timeout: 60_000 }, async () => {
    expect(oddFieldSubmissions.length).toBeGreaterThan(60);
    expect(await findStorageFaults(oddFieldSubmissions)).toEqual([]);
  });

  test("lists the fields that do not match their kind in the receipt, even in a repeated one, and omits the key otherwise", async () => {
    const odd = { country: "UK", email: "pat@gmailcom", date_of_birth: "1980/01/31", phone: "+1 202 555 0123" };
    const submission_id = crypto.randomUUID();
    const first = await issue(odd, { submission_id });
    expect(first.fields_unrecognized).toEqual(["country", "date_of_birth", "email"]);
    expect(await issue(odd, { submission_id })).toEqual(first);
    expect(await issue({ email: "pat@example.com" })).not.toHaveProperty("fields_unrecognized");
    const detail = await get(`/v1/certs/${(await issue({ email: "pat@example.com" })).cert_id}`);
    for (const key of ["fields_unrecognized", "fields_truncated", "text_replaced"]) {
      expect(detail).not.toHaveProperty(key);
      expect(detail.evidence).not.toHaveProperty(key);
    }
  });

  test("masks a value that does not match its kind like other text", async () => {
    const { cert_id } = await issue({ email: "pat@gmailcom", phone: "call my mother 12345", mobile: "+1 202 555 0123" });
    expect((await get(`/v1/certs/${cert_id}/verify`)).subject).toEqual({ email: "***", phone: "***", mobile: "***-***-**23" });
  });

  test("is refused only if something is missing, too long, or under an invalid key", async () => {
    for (const fields of [{}, { email: " " }, { email: null }, { message: "x".repeat(501) }, { "e-mail": "pat@example.com" }])
      expect((await submit(fields)).status).toBe(400);
  });

  test("stores a disclosure of 200,000 characters once", async () => {
    const disclosure_text = "Each of our partners may call you. ".repeat(6_000).slice(0, 200_000);
    const [{ disclosure_hash }] = await Promise.all(
      [1, 2].map(async () => get(`/v1/certs/${(await issue({ email: "pat@example.com" }, { disclosure_text })).cert_id}/verify`)),
    );
    const { results } = await env.DB.prepare("SELECT hash FROM disclosures WHERE length(text) = 200000").all();
    expect(results).toEqual([{ hash: disclosure_hash }]);
  });
});

describe("each email address and phone number of a certificate", () => {
  const fields = {
    email: "first@example.com",
    work_email: "second@example.com",
    email_2: "third@example.com",
    phone: "+1 202 555 2001",
    mobile: "(202) 555-2002",
    home_phone: "+41 79 123 45 67",
  };
  const addresses = [
    ...["first@example.com", "SECOND@example.com", "third@example.com"].map((email) => ({ email })),
    ...["+12025552001", "202-555-2002", "+41791234567"].map((phone) => ({ phone })),
  ];
  let certId = "";
  beforeAll(async () => {
    ({ cert_id: certId } = await issue(fields));
  });

  test.each(addresses)("finds the certificate in the list, in contact-check and in match: %j", async (subject) => {
    const [[kind, value]] = Object.entries(subject) as [[string, string]];
    expect(await listBy(`subject_${kind}=${encodeURIComponent(value)}`)).toEqual([certId]);
    expect(await readReason(subject)).toBe("active_consent");
    expect((await post(`/v1/certs/${certId}/match`, subject))[kind]).toBe(true);
  });

  test("is not found if the number was typed in another country's national format", async () => {
    await issue({ phone: "079 765 43 21" });
    expect(await listBy("subject_phone=079%20765%2043%2021")).toEqual([]);
    expect(await readReason({ phone: "079 765 43 21" })).toBe("none");
    expect(await readReason({ phone: "+41797654321" })).toBe("none");
  });

  test("is no longer found once the person is erased", async () => {
    const erased = await issue({ email: "gone@example.com", work_email: "gone2@example.com", mobile: "+1 202 555 2009" });
    await eraseCertificate(erased.cert_id);
    for (const subject of [{ email: "gone@example.com" }, { email: "gone2@example.com" }, { phone: "+12025552009" }])
      expect(await readReason(subject)).toBe("none");
    const { results } = await env.DB.prepare(
      "SELECT * FROM certificate_addresses WHERE cert_ord = (SELECT ord FROM certificates WHERE id = ?)",
    )
      .bind(erased.cert_id)
      .all();
    expect(results).toEqual([]);
  });
});

describe("an email address with an invisible character at its end", () => {
  test("gets the withdrawal code and the confirmation", async () => {
    const email = createEmailAddress();
    const { cert_id, manage_url } = await issue({ email: `${email}\u0600` });
    expect((await requestWithdrawalCode(cert_id, email)).status).toBe(200);
    const token = String(manage_url).split("#m=")[1];
    expect((await unlimited(`/v1/certs/${cert_id}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
    expect(await listMailTo(email)).toHaveLength(2);
  });
});

describe("the proofs of a certificate with odd field values", () => {
  test("verify, say what happened to the values, and stay valid after the person is erased", { timeout: 60_000 }, async () => {
    const platform = await getPlatform(env);
    const { cert_id } = await issue({ email: "pat@gmailcom", first_name: "Pat\u000bLee" }, { fields_truncated: true });
    await waitUntilSettled();
    await platform.auditLogStub(firstShard).drainNow();
    await submitAnchors(platform);
    await waitUntilSettled();
    const trust = trustOf((await call("/.well-known/svc-trust.json")).body);
    const markers = { fields_unrecognized: ["email"], fields_truncated: true, text_replaced: true };
    for (const state of ["as issued", "erased"]) {
      const request = new Request(`http://svc.test/v1/certs/${cert_id}/evidence-pack?format=zip`, { headers: { authorization } });
      const zip = new Uint8Array(await (await exports.default.fetch(request)).arrayBuffer());
      const report = await verifyPack(zip, { ...defaultVerificationOptions, trust });
      expect([state, report.failed]).toEqual([state, null]);
      const files = parseZip(zip, 20_000_000);
      const readFileText = (path: string) => (files.ok ? new TextDecoder().decode(files.files.get(path)) : "");
      expect(JSON.parse(readFileText("certificate.json"))).toMatchObject(markers);
      const page = readFileText("certificate.html");
      if (state === "as issued") {
        expect(page).toContain("Not of the kind that the field asks for: email.");
        expect(page).toContain("The form had more fields.");
        expect(page).toContain("were replaced by \ufffd");
        const shown = getPageText(parsePage(await call(`/c/${cert_id}`)));
        expect(shown).toContain("These fields aren’t in the expected format and were saved as entered: Email.");
        expect(shown).toContain("Only some of the form’s fields were saved.");
        await eraseCertificate(cert_id);
        await platform.auditLogStub(firstShard).drainNow();
      }
    }
  });
});

// Tests submissions that decline every recipient. Nothing that is derived from these certificates may say that the person agreed. Also
// tests that a certificate reports the domain as verified only if the service verified it.
import { beforeAll, describe, expect, test } from "vitest";
import { call, submitConsent, getWithKey, issueCertificate, buildSubmission, world } from "../support/world.ts";
import { createEmailAddress, buildJsonPost } from "../support/withdrawal.ts";

const email = createEmailAddress();
let certId = "";

beforeAll(async () => {
  const entities = ["Acme Solar LLC", "Bright Homes Inc", "Not Asked Ltd"];
  const choices = { entities_accepted: [], entities_rejected: ["Acme Solar LLC", "Bright Homes Inc"] };
  certId = (await issueCertificate({ fields: { email }, entities, ...choices })).cert_id;
});

describe("a certificate that records a refusal", () => {
  test.each([
    ["en", "Certificate of refusal", "This person declined every recipient", "Who may contact"],
    ["es", "Certificado de rechazo", "Esta persona rechazó a todos los destinatarios", "Quién puede contactar"],
    ["fr-CA", "Certificat de refus", "Cette personne a refusé tous les destinataires", "Qui peut communiquer"],
  ])("says so on its page (%s)", async (language, kind, words, other) => {
    const { text } = await call(`/c/${certId}?lang=${language}`, { headers: { accept: "text/html" } });
    expect(text).toContain(kind);
    expect(text).toContain(words);
    expect(text).not.toContain(other);
    expect(text).not.toContain('class="pill good"');
  });

  test("says so in its evidence pack", async () => {
    const { text } = await getWithKey(`/v1/certs/${certId}/evidence-pack?format=html`, world.acme.keys.live);
    const page = text.replace(/<script[\s\S]*?<\/script>/g, ""); // the embedded verifier contains the texts of every kind of page
    expect(page).toContain("<strong>No recipient was accepted.</strong>");
    expect(page).toContain("Consent refused to");
    expect(page).not.toContain("Who may contact the person");
    expect(page).not.toContain("Consent given to");
  });

  test("has no withdrawal page", async () => {
    const form = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams({ email }) };
    for (const request of [{ headers: { accept: "text/html" } }, form]) {
      const response = await call(`/c/${certId}/withdraw`, { ...request, redirect: "manual" });
      expect([response.status, response.headers.get("location")]).toEqual([303, `/c/${certId}`]);
    }
  });

  test.each(["iso27560", "kantara"])("has no consent receipt (%s)", async (format) => {
    const response = await getWithKey(`/v1/certs/${certId}/receipt?format=${format}`);
    expect([response.status, response.body.error.code]).toEqual([409, "not_a_consent"]);
    expect(response.headers.get("content-disposition")).toBeNull();
  });

  test.each([undefined, "Acme Solar LLC", "Not Asked Ltd"])("allows no contact (%s)", async (entity) => {
    const headers = { authorization: `Bearer ${world.acme.keys.live}` };
    const { body } = await call("/v1/contact-check", buildJsonPost({ subjects: [{ email }], ...(entity && { entity }) }, headers));
    expect(body.data.results[0]).toMatchObject({ contactable: false, reason: "rejected_recipient" });
  });
});

describe("the checks of a certificate", () => {
  const readCheckResults = async (id: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await getWithKey(`/v1/certs/${id}/verify`)).body.data.checks.map((check: { id: string; result: string }) => [
        check.id,
        check.result,
      ]),
    );

  test("report the domain as verified if it was", async () => {
    expect(await readCheckResults(certId)).toEqual({ origin: "reported", domain: "verified", subject: "as_submitted" });
  });

  test("report the domain as not verified for a sandbox certificate from localhost", async () => {
    const sandbox = { ...buildSubmission(), client_id: world.acme.clients.sandbox, page_url: "http://localhost:3000/form" };
    const issued = await submitConsent(sandbox, { origin: "http://localhost:3000" });
    expect(issued.status).toBe(201);
    const id = issued.body.data.cert_id;
    expect(await readCheckResults(id)).toEqual({ origin: "reported", domain: "not_verified", subject: "as_submitted" });
    const { text } = await call(`/c/${id}`, { headers: { accept: "text/html" } });
    expect(text).not.toContain("had proved control");
    expect(text).toContain("Control of this domain was not verified");
  });
});

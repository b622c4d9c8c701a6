// Tests certificates as consent receipts, with the field names of ISO/IEC TS 27560:2023 and the Kantara Consent Receipt 1.1.0.
import { describe, expect, test } from "vitest";
import { eraseCertificate } from "../support/erasure.ts";
import { getWithKey, issueCertificate, world, type TestResponse } from "../support/world.ts";
import { issueToNewPerson, withdrawCertificate } from "../support/withdrawal.ts";

const requestReceipt = (certId: string, format: string): Promise<TestResponse> =>
  getWithKey(`/v1/certs/${certId}/receipt?format=${format}`);
const listFields = (value: object): string[] => Object.keys(value);
const formats = ["iso27560", "kantara"] as const;

// The mandatory fields of each standard, under their names in the standard.
const mandatory = {
  receipt: ["schema_version", "receipt_id", "pii_principal_id"],
  record: ["schema_version", "record_id", "pii_principal_id"],
  processing: ["privacy_notice", "language", "purposes"],
  purpose: [
    ...["purpose", "pii_information", "pii_controllers", "storage_locations", "retention_period", "jurisdiction"],
    ...["recipient_third_parties", "withdrawal_method"],
  ],
  pii: ["pii_type"],
  party: ["party_id", "party_name", "party_address", "party_contact", "party_type"],
  event: ["event_time", "validity_duration", "entity_id", "event_type", "event_state"],
};
const kantara = {
  receipt: [
    ...["version", "jurisdiction", "consentTimestamp", "collectionMethod", "consentReceiptID", "language", "piiPrincipalId"],
    ...["piiControllers", "policyUrl", "services", "sensitive", "spiCat"],
  ],
  controller: ["piiController", "contact", "address", "email", "phone"],
  purpose: ["purpose", "purposeCategory", "consentType", "piiCategory", "primaryPurpose", "termination", "thirdPartyDisclosure"],
};

describe("GET /v1/certs/{id}/receipt", () => {
  test("returns every mandatory field of ISO/IEC TS 27560, and refers only to parties it lists", async () => {
    const cert = await issueCertificate({ entities: ["Acme Solar LLC", "Bright Homes Inc"] });
    const response = await requestReceipt(cert.cert_id, "iso27560");
    expect(response.status).toBe(200);
    const { data } = response.body;
    const { consent_record: record } = data;
    const { pii_processing: processing, party_identification: parties, events } = record;
    const [purpose] = processing.purposes;
    expect(listFields(data)).toEqual(expect.arrayContaining(mandatory.receipt));
    expect(listFields(record)).toEqual(expect.arrayContaining(mandatory.record));
    expect(listFields(processing)).toEqual(expect.arrayContaining(mandatory.processing));
    expect(listFields(purpose)).toEqual(expect.arrayContaining(mandatory.purpose));
    for (const pii of purpose.pii_information) expect(listFields(pii)).toEqual(expect.arrayContaining(mandatory.pii));
    for (const party of parties) expect(listFields(party)).toEqual(expect.arrayContaining(mandatory.party));
    for (const event of events) expect(listFields(event)).toEqual(expect.arrayContaining(mandatory.event));
    expect(data).toMatchObject({ schema_version: "ISO/IEC TS 27560:2023", receipt_id: cert.cert_id });
    const named = parties.map(({ party_id, party_name }: { party_id: string; party_name: string }) => [party_id, party_name]);
    expect(named).toEqual([
      [world.acme.id, world.acme.name],
      ["recipient_1", "Bright Homes Inc"],
    ]);
    expect([purpose.pii_controllers, purpose.recipient_third_parties]).toEqual([[world.acme.id], ["recipient_1"]]);
    expect(purpose.withdrawal_method).toBe(cert.verify_url);
    const verify = (await getWithKey(`/v1/certs/${cert.cert_id}/verify`)).body.data;
    expect(data.pii_principal_id).toBe(verify.subject_hash);
    expect(data.certificate).toEqual({
      cert_id: cert.cert_id,
      fingerprint: cert.fingerprint,
      status: "active",
      environment: "live",
      verify_url: cert.verify_url,
    });
  });

  test("returns JSON-LD whose terms all belong to the vocabularies of its context", async () => {
    const { "@context": context } = (await requestReceipt((await issueCertificate()).cert_id, "iso27560")).body.data;
    for (const [name, term] of Object.entries<string | { "@id": string }>(context)) {
      const id = typeof term === "string" ? term : term["@id"];
      expect(id, name).toMatch(name === "dpv" || name === "dct" ? /^https?:\/\// : /^(?:dpv|dct):[A-Za-z]+$/);
    }
  });

  test("returns every required field of Kantara's receipt, with its type", async () => {
    const cert = await issueCertificate({ entities: ["Acme Solar LLC", "Bright Homes Inc"], presentation: { opt_in_type: "manual" } });
    const { data } = (await requestReceipt(cert.cert_id, "kantara")).body;
    expect(listFields(data)).toEqual(expect.arrayContaining(kantara.receipt));
    expect(listFields(data.piiControllers[0])).toEqual(expect.arrayContaining(kantara.controller));
    const [purpose] = data.services[0].purposes;
    expect(listFields(purpose)).toEqual(expect.arrayContaining(kantara.purpose));
    expect(data).toMatchObject({ version: "KI-CR-v1.1.0", consentReceiptID: cert.cert_id, jurisdiction: "US" });
    expect(data.consentTimestamp).toBe(Math.floor(Date.parse(String(cert.issued_at)) / 1_000));
    expect(purpose).toMatchObject({ thirdPartyDisclosure: true, thirdPartyName: "Bright Homes Inc", termination: "until withdrawn" });
  });

  test.each([
    ["manual", ["EXPLICIT", "dpv:ExplicitlyExpressedConsent"]],
    ["pre_selected", [undefined, "dpv:Consent"]],
    ["non_interactive", [undefined, "dpv:Consent"]],
    [undefined, [undefined, "dpv:Consent"]],
  ])("calls the consent explicit only if the evidence does (%s)", async (type, wanted) => {
    const { cert_id } = await issueCertificate({ presentation: type === undefined ? null : { opt_in_type: type } });
    const [purpose] = (await requestReceipt(cert_id, "kantara")).body.data.services[0].purposes;
    const [recordedEvent] = (await requestReceipt(cert_id, "iso27560")).body.data.consent_record.events;
    expect([purpose.consentType, recordedEvent.event_type]).toEqual(wanted);
  });

  test("names only accepted recipients", async () => {
    const choices = { entities_accepted: ["Acme Solar LLC"], entities_rejected: ["Bright Homes Inc"] };
    const { cert_id } = await issueCertificate({ entities: ["Acme Solar LLC", "Bright Homes Inc"], ...choices });
    for (const format of formats) expect((await requestReceipt(cert_id, format)).text).not.toContain("Bright Homes");
    const [purpose] = (await requestReceipt(cert_id, "kantara")).body.data.services[0].purposes;
    expect([purpose.thirdPartyDisclosure, purpose.thirdPartyName]).toEqual([false, undefined]);
  });

  test("contains a withdrawal, with the party who acted", async () => {
    const issued = await issueToNewPerson();
    const { withdrawn_at } = (await withdrawCertificate(issued)).body.data;
    const { data } = (await requestReceipt(issued.certId, "iso27560")).body;
    expect(data.consent_record.events.map(({ event_state }: { event_state: string }) => event_state)).toEqual([
      "dpv:ConsentGiven",
      "dpv:ConsentWithdrawn",
    ]);
    expect(data.consent_record.events[1]).toMatchObject({ event_time: withdrawn_at, entity_id: data.pii_principal_id });
    expect(data.certificate.status).toBe("revoked");
    const [purpose] = (await requestReceipt(issued.certId, "kantara")).body.data.services[0].purposes;
    expect(purpose.termination).toBe(`withdrawn ${withdrawn_at}`);
  });

  test.each(formats)("contains no personal data, only the names of the fields given (%s)", async (format) => {
    const fields = {
      email: "zebulon@quickwater.example",
      full_name: "Zebulon Quickwater",
      phone: "+1 202 555 0177",
      message: "call after nightfall",
    };
    const { cert_id } = await issueCertificate({ fields });
    const response = await requestReceipt(cert_id, format);
    const fullResponse = `${response.text}${JSON.stringify([...response.headers])}`.toLowerCase();
    for (const personal of ["zebulon", "quickwater", "2025550177", "555 0177", "*0177", "nightfall", "z***"])
      expect(fullResponse).not.toContain(personal);
    for (const key of Object.keys(fields)) expect(fullResponse).toContain(`"${key}"`);
    await eraseCertificate(cert_id);
    expect((await requestReceipt(cert_id, format)).text).not.toContain('"full_name"');
  });

  test("returns a file readable from any page, which names the environment of a test certificate", async () => {
    const { cert_id } = await issueCertificate({ client_id: world.acme.clients.sandbox });
    for (const format of formats) {
      const response = await requestReceipt(cert_id, format);
      expect(response.body.data.certificate.environment).toBe("sandbox");
      expect(response.headers.get("content-disposition")).toBe(`attachment; filename="receipt-${format}-${cert_id}.json"`);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("refuses unknown and repeated formats, and an unknown certificate", async () => {
    const { cert_id } = await issueCertificate();
    const refused = await Promise.all([
      requestReceipt(cert_id, "pdf"),
      requestReceipt(cert_id, ""),
      requestReceipt(cert_id, "iso27560&format=kantara"),
      requestReceipt("cc_00zzzzzzzzzzzzzzzzzzzzzzzz", "kantara"),
    ]);
    expect(refused.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual([
      "400 invalid_request",
      "400 invalid_request",
      "400 invalid_request",
      "404 cert_not_found",
    ]);
  });
});

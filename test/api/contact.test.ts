// Tests the checks that businesses make before they contact a person: POST /v1/contact-check and POST /v1/certs/{id}/match.
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { signIn } from "../support/people.ts";
import { grantShare, signInPerson } from "../support/sharing.ts";
import { stopClock } from "../support/stopped-clock.ts";
import { createServiceCall, world, type TestResponse } from "../support/world.ts";
import { createEmailAddress, issueToNewPerson, buildJsonPost, listMailTo, withdrawCertificate } from "../support/withdrawal.ts";

// These tests send more requests than the API key's limits allow, so the limits are raised.
const call = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_MATCH_PER_KEY: "100000/60" });
const buildKeyedRequest = (body: unknown, apiKey = world.acme.keys.live): RequestInit =>
  buildJsonPost(body, { authorization: `Bearer ${apiKey}` });
const check = async (subjects: readonly object[], more: object = {}, apiKey = world.acme.keys.live) =>
  (await call("/v1/contact-check", buildKeyedRequest({ subjects, ...more }, apiKey))).body.data.results;
const match = (certId: string, body: object, apiKey = world.acme.keys.live): Promise<TestResponse> =>
  call(`/v1/certs/${certId}/match`, buildKeyedRequest(body, apiKey));
const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body.error?.code ?? "ok"}`;
let phonesUsed = 1_000;
const createPhone = (): string => {
  phonesUsed += 1;
  return `+1 202 555 ${phonesUsed}`;
};

const callRecipients = (method: string, body: object, cookie: string): Promise<TestResponse> =>
  call("/v1/business/portal/recipients", { method, headers: { "content-type": "application/json", cookie }, body: JSON.stringify(body) });
/** Links the name Bright Homes Inc on acme's certificates to the account of the second demo business. */
const linkOther = async (): Promise<void> => {
  const { cookie } = await signIn(world.ownerEmail);
  await callRecipients("POST", { entity: "Bright Homes Inc", business_id: world.other.id }, cookie);
};

describe("POST /v1/contact-check for certificates", () => {
  test("returns contactable while a consent is active, and revoked with the deadline as soon as it is withdrawn", async () => {
    const issued = await issueToNewPerson();
    const [before] = await check([{ email: issued.email }]);
    expect(before).toMatchObject({ contactable: true, reason: "active_consent" });
    expect(before.basis).toEqual([{ type: "cert", id: issued.certId, status: "active", cease_by: null }]);
    const { cease_by } = (await withdrawCertificate(issued)).body.data;
    const [after] = await check([{ email: issued.email }]);
    expect(after).toMatchObject({ contactable: false, reason: "revoked" });
    expect(after.basis).toEqual([{ type: "cert", id: issued.certId, status: "revoked", cease_by }]);
    expect(Math.abs(Date.parse(after.checked_at) - Date.now())).toBeLessThan(10_000);
  });

  test("answers each subject in order, by address, number or the hash of either, in any spelling", async () => {
    const [email, phone] = [createEmailAddress(), createPhone()];
    await issueToNewPerson({ fields: { email, phone } });
    const digits = phone.replaceAll(/[^+\d]/g, "");
    const results = await check([
      { email: createEmailAddress() },
      { email: ` ${email.toUpperCase()} ` },
      { email_sha256: sha256Hex(email).toUpperCase() },
      { phone: digits.replace("+1", "") },
      { phone_sha256: sha256Hex(digits) },
      { email: createEmailAddress(), phone },
      { email: "no address" },
    ]);
    expect(results.map(({ reason }: { reason: string }) => reason)).toEqual([
      "none",
      "active_consent",
      "active_consent",
      "active_consent",
      "active_consent",
      "active_consent",
      "none",
    ]);
  });

  test("finds a withdrawn person by an address and a number with invisible characters and digits of another script", async () => {
    const [email, phone] = [createEmailAddress(), createPhone()];
    const issued = await issueToNewPerson({ fields: { email, phone } });
    await withdrawCertificate({ ...issued, email });
    const devanagari = phone.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x966 + Number(digit)));
    const results = await check([{ email: `\ufeff${email}\u200b` }, { phone: `\u202a${phone}\u202c` }, { phone: devanagari }]);
    expect(results.map(({ reason }: { reason: string }) => reason)).toEqual(["revoked", "revoked", "revoked"]);
  });

  test("returns rejected_recipient when the person declined every recipient, for any entity", async () => {
    const email = createEmailAddress();
    const choice = { fields: { email }, entities: ["Acme Solar LLC", "Bright Homes Inc"] };
    await issueToNewPerson({ ...choice, entities_accepted: [], entities_rejected: ["Acme Solar LLC", "Bright Homes Inc"] });
    expect((await check([{ email }]))[0]).toMatchObject({ contactable: false, reason: "rejected_recipient" });
    expect((await check([{ email }], { entity: "Acme Solar LLC" }))[0].reason).toBe("rejected_recipient");
    const granted = await issueToNewPerson({ ...choice, entities_accepted: ["Bright Homes Inc"], entities_rejected: ["Acme Solar LLC"] });
    const [result] = await check([{ email }]);
    expect(result).toMatchObject({ contactable: true, reason: "active_consent" });
    expect(result.basis[0].id).toBe(granted.certId);
  });

  test("distinguishes recipients and purposes", async () => {
    const email = createEmailAddress();
    await issueToNewPerson({
      fields: { email },
      entities: ["Acme Solar LLC", "Bright Homes Inc"],
      entities_accepted: ["Acme Solar LLC"],
      entities_rejected: ["Bright Homes Inc"],
      purpose: "roof survey",
    });
    const readReason = async (more: object) => (await check([{ email }], more))[0].reason;
    expect(await readReason({})).toBe("active_consent");
    expect(await readReason({ entity: "Acme Solar LLC" })).toBe("active_consent");
    expect(await readReason({ entity: "Bright Homes Inc" })).toBe("rejected_recipient");
    expect(await readReason({ entity: "Nobody Ltd" })).toBe("none");
    expect(await readReason({ entity: " Bright Homes Inc\n" })).toBe("rejected_recipient");
    expect(await readReason({ purpose: "roof survey" })).toBe("active_consent");
    expect(await readReason({ purpose: " roof survey " })).toBe("active_consent");
    expect(await readReason({ purpose: "another purpose" })).toBe("none");
  });

  test("returns none for a recipient that the person was not asked about", async () => {
    const email = createEmailAddress();
    await issueToNewPerson({
      fields: { email },
      entities: ["Acme Solar LLC", "Bright Homes Inc"],
      entities_accepted: ["Acme Solar LLC"],
      entities_rejected: [],
    });
    expect((await check([{ email }], { entity: "Acme Solar LLC" }))[0].reason).toBe("active_consent");
    expect((await check([{ email }], { entity: "Bright Homes Inc" }))[0]).toMatchObject({ contactable: false, reason: "none", basis: [] });
  });

  test("returns active_consent if one consent is active and another withdrawn, and lists both", async () => {
    const email = createEmailAddress();
    const [first, second] = [await issueToNewPerson({ fields: { email } }), await issueToNewPerson({ fields: { email } })];
    await withdrawCertificate(first);
    const [result] = await check([{ email }]);
    expect(result).toMatchObject({ contactable: true, reason: "active_consent" });
    expect(result.basis.map(({ id }: { id: string }) => id)).toEqual([second.certId, first.certId]);
  });

  test("uses only the records of the business and of the key's environment", async () => {
    const issued = await issueToNewPerson();
    expect((await check([{ email: issued.email }], {}, world.other.keys.live))[0].reason).toBe("none");
    expect((await check([{ email: issued.email }], {}, world.acme.keys.sandbox))[0].reason).toBe("none");
  });

  test("finds no record for an invalid address or number, even if a certificate contains the same text", async () => {
    await issueToNewPerson({ fields: { email: "not an address", phone: "12" } });
    const results = await check([{ email: "not an address" }, { phone: "12" }]);
    expect(results).toMatchObject([
      { contactable: false, reason: "none", basis: [] },
      { contactable: false, reason: "none", basis: [] },
    ]);
  });

  test.each([
    ["an empty list of subjects", { subjects: [] }],
    ["more than a hundred subjects", { subjects: Array.from({ length: 101 }, () => ({ email: "a@example.com" })) }],
    ["a subject without address or number", { subjects: [{}] }],
    ["an invalid hash", { subjects: [{ email_sha256: "ABC" }] }],
    ["subjects that are not a list", { subjects: "all" }],
  ])("refuses %s", async (_name, body) => {
    expect(describeOutcome(await call("/v1/contact-check", buildKeyedRequest(body)))).toBe("400 invalid_request");
  });

  test("finds the consent that allows contact, however many other records do not", async () => {
    const email = createEmailAddress();
    const granted = await issueToNewPerson({ fields: { email } });
    for (let count = 0; count < 25; count += 1)
      await issueToNewPerson({ fields: { email }, purpose: "x", entities_accepted: [], entities_rejected: ["Acme Solar LLC"] });
    const [result] = await check([{ email }], { entity: "Acme Solar LLC" });
    expect(result.reason).toBe("active_consent");
    expect(result.basis[0].id).toBe(granted.certId);
    expect(result.basis).toHaveLength(20);
  });
});

describe("POST /v1/contact-check for shares", () => {
  const startSharing = async (change: object = {}) => {
    const [email, phone] = [createEmailAddress(), createPhone()];
    const person = await signInPerson({ email, phone, first_name: "Pat" }, call, email);
    return { by: person, email, phone, id: (await grantShare(person, change)).share.id as string };
  };
  const createServiceAt = (ms: number) => createServiceCall({ LIMIT_API_KEY: "100000/60", DEV_CLOCK_OFFSET_MS: String(ms) });

  test("returns contactable while a share with that field is active, and revoked with the deadline as soon as it ends", async () => {
    const { by: person, email, phone, id } = await startSharing({ scope: ["email"] });
    const [yes, unshared] = await check([{ email }, { phone }]);
    expect(yes).toMatchObject({
      contactable: true,
      reason: "active_consent",
      basis: [{ type: "share", id, status: "active", cease_by: null }],
    });
    expect(unshared).toMatchObject({ contactable: false, reason: "none", basis: [] });
    const { cease_by } = (await person.post(`/v1/me/sever/${id}`, {})).body.data;
    const stopped = { contactable: false, reason: "revoked" };
    expect((await check([{ email }]))[0]).toMatchObject({ ...stopped, basis: [{ type: "share", id, status: "revoked", cease_by }] });
    await call(`/v1/shares/${id}/cease-ack`, buildKeyedRequest({}));
    expect((await check([{ email }]))[0]).toMatchObject({ ...stopped, basis: [{ type: "share", id, status: "ceased", cease_by }] });
  });

  test("reads a shared phone number without a country code in the person's country, even if the country is not shared", async () => {
    const person = await signInPerson({ phone: "030 901820", country: "DE" }, call);
    const { id } = (await grantShare(person, { scope: ["phone"] })).share;
    const renewed = (await person.post(`/v1/me/shares/${id}/renew`, { consent: true })).body.data.share.id;
    await person.post(`/v1/me/sever/${renewed}`, {});
    const stopped = (await grantShare(person, { scope: ["phone"] })).share.id;
    await person.post(`/v1/me/sever/${stopped}`, {});
    const [result] = await check([{ phone: "+49 30 901820" }]);
    expect(result.reason).toBe("revoked");
    expect(result.basis.map((basis: { id: string }) => basis.id).sort()).toEqual([renewed, stopped].sort());
  });

  test("treats a share past its end date as expired before a sweep runs", async () => {
    const { email, id } = await startSharing({ duration_days: 1 });
    const response = await createServiceAt(25 * 3_600_000)("/v1/contact-check", buildKeyedRequest({ subjects: [{ email }] }));
    expect(response.body.data.results[0]).toMatchObject({ contactable: false, reason: "expired", basis: [{ id, status: "expired" }] });
  });

  test("finds a person by the address they sign in with, while it is among the shared values, and a renewed share by its successor", async () => {
    const { by: person, email, id } = await startSharing({ scope: ["email"] });
    const next = createEmailAddress();
    const listReasons = async () => (await check([{ email }, { email: next }])).map(({ reason }: { reason: string }) => reason);
    await person.put("/v1/me/fields", { email: next });
    expect(await listReasons()).toEqual(["none", "none"]);
    await person.put("/v1/me/fields", { email });
    expect(await listReasons()).toEqual(["active_consent", "none"]);
    const renewed = await person.post(`/v1/me/shares/${id}/renew`, { consent: true });
    const [result] = await check([{ email }]);
    expect(result.reason).toBe("active_consent");
    expect(result.basis[0]).toMatchObject({ id: renewed.body.data.share.id, status: "active" });
    expect(result.basis[1]).toMatchObject({ id, status: "superseded" });
  });

  test("returns expired for an address that the renewed share no longer includes", async () => {
    const { by: person, email, id } = await startSharing({ scope: ["email", "phone"] });
    await person.post(`/v1/me/shares/${id}/renew`, { consent: true, scope: ["phone"] });
    expect((await check([{ email }]))[0]).toMatchObject({ contactable: false, reason: "expired" });
  });

  test("applies to the business alone, not to another recipient, another business or the sandbox", async () => {
    const { email } = await startSharing({ purpose: "Send you a solar estimate" });
    const readReason = async (more: object, key?: string) => (await check([{ email }], more, key))[0].reason;
    expect(await readReason({ entity: world.acme.name })).toBe("active_consent");
    expect(await readReason({ entity: "Bright Homes Inc" })).toBe("none");
    expect(await readReason({ purpose: "Send you a solar estimate" })).toBe("active_consent");
    expect(await readReason({ purpose: "something else" })).toBe("none");
    expect(await readReason({}, world.other.keys.live)).toBe("none");
    expect(await readReason({}, world.acme.keys.sandbox)).toBe("none");
  });

  test("returns active_consent if either a share or a certificate grants contact", async () => {
    const { by: person, email, id } = await startSharing({ scope: ["email"] });
    const issued = await issueToNewPerson({ fields: { email } });
    await person.post(`/v1/me/sever/${id}`, {});
    const [result] = await check([{ email }]);
    expect(result.reason).toBe("active_consent");
    expect(result.basis.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`)).toEqual([
      "cert active",
      "share revoked",
    ]);
    await withdrawCertificate(issued);
    expect((await check([{ email }]))[0].reason).toBe("revoked");
  });
});

describe("POST /v1/certs/{id}/match", () => {
  test("returns true or false for each value sent, and null for the others", async () => {
    const issued = await issueToNewPerson();
    expect((await match(issued.certId, { email: issued.email })).body.data).toEqual({
      status: "active",
      email: true,
      phone: null,
      entity_named: true,
      one_to_one: false,
    });
    expect((await match(issued.certId, { email_sha256: sha256Hex(issued.email), phone: "+1 202 555 9999" })).body.data).toMatchObject({
      email: true,
      phone: false,
    });
  });

  test("returns 404 cert_not_found unless the caller is the issuer or a recipient that the issuer has linked", async () => {
    const issued = await issueToNewPerson();
    const alone = await issueToNewPerson({ entities: ["Acme Solar LLC"] });
    const matchAsOther = async ({ certId, email }: typeof issued) => describeOutcome(await match(certId, { email }, world.other.keys.live));
    expect(await matchAsOther(issued)).toBe("404 cert_not_found");
    const { cookie } = await signIn(world.ownerEmail);
    const link = { entity: " Bright Homes Inc ", business_id: world.other.id };
    expect(await callRecipients("POST", link, cookie)).toMatchObject({
      status: 201,
      body: { data: { entity: "Bright Homes Inc", business_id: world.other.id } },
    });
    expect([await matchAsOther(issued), await matchAsOther(alone)]).toEqual(["200 ok", "404 cert_not_found"]);
    expect(describeOutcome(await match(issued.certId, { email: issued.email }, world.examples.free.keys.live))).toBe("404 cert_not_found");
    expect((await callRecipients("DELETE", link, cookie)).status).toBe(200);
    expect(await matchAsOther(issued)).toBe("404 cert_not_found");
  });

  test("returns 404 to a business that takes the name of a recipient on another business's certificate", async () => {
    const issued = await issueToNewPerson();
    const { cookie } = await signIn(world.otherOwnerEmail);
    const rename = (name: string) =>
      call("/v1/business/portal", {
        method: "PATCH",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify({ legal_name: name }),
      });
    expect((await rename("Acme Solar LLC")).status).toBe(200);
    try {
      expect(describeOutcome(await match(issued.certId, { email: issued.email }, world.other.keys.live))).toBe("404 cert_not_found");
    } finally {
      await rename("Bright Homes Inc");
    }
  });

  test("tells a declined recipient that the consent does not include them", async () => {
    await linkOther();
    const issued = await issueToNewPerson({ entities_accepted: ["Acme Solar LLC"], entities_rejected: ["Bright Homes Inc"] });
    expect((await match(issued.certId, { email: issued.email }, world.other.keys.live)).body.data).toMatchObject({
      entity_named: false,
      one_to_one: true,
    });
  });

  test("adds an entry to the view trail without counting as a view", async () => {
    await linkOther();
    const issued = await issueToNewPerson();
    await match(issued.certId, { email: issued.email }, world.other.keys.live);
    const { view_trail, view_count } = (
      await call(`/v1/certs/${issued.certId}`, { headers: { authorization: `Bearer ${world.acme.keys.live}` } })
    ).body.data;
    expect(view_trail).toMatchObject([{ user_agent: `svc-match/1 (${world.other.id})`, bot: true }]);
    expect(view_count).toBe(0);
  });

  test("returns 429 after twenty misses a day for any number of concurrent guesses; matches are not counted", async () => {
    stopClock();
    const issued = await issueToNewPerson();
    for (let count = 0; count < 25; count += 1) expect((await match(issued.certId, { email: issued.email })).status).toBe(200);
    const guesses = await Promise.all(Array.from({ length: 60 }, () => match(issued.certId, { email: createEmailAddress() })));
    expect(guesses.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = guesses.find(({ status }) => status === 429) as TestResponse;
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await match(issued.certId, { email: issued.email })).status).toBe(429);
    const tomorrow = createServiceCall({ DEV_CLOCK_OFFSET_MS: "86400000", LIMIT_API_KEY: "100000/60", LIMIT_MATCH_PER_KEY: "100000/60" });
    expect((await tomorrow(`/v1/certs/${issued.certId}/match`, buildKeyedRequest({ email: issued.email }))).status).toBe(200);
  });

  test("counts misses per caller, so that one caller cannot use up another's limit", async () => {
    stopClock();
    await linkOther();
    const issued = await issueToNewPerson();
    for (let count = 0; count < 20; count += 1) await match(issued.certId, { email: createEmailAddress() }, world.other.keys.live);
    expect(describeOutcome(await match(issued.certId, { email: issued.email }, world.other.keys.live))).toBe("429 rate_limited");
    expect(describeOutcome(await match(issued.certId, { email: issued.email }))).toBe("200 ok");
  });

  test("returns 429 after sixty requests per minute per key", async () => {
    stopClock();
    const issued = await issueToNewPerson();
    const strict = createServiceCall({ LIMIT_API_KEY: "100000/60", LIMIT_MATCH_PER_KEY: "60/60" });
    const responses = await Promise.all(
      Array.from({ length: 70 }, () =>
        strict(`/v1/certs/${issued.certId}/match`, buildKeyedRequest({ email: issued.email }, world.examples.past_due.keys.live)),
      ),
    );
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(10);
  });
});

describe("a share that someone else made with a person's address", () => {
  /** Signs in a person, saves contact details that belong to someone else, and shares them. */
  const shareWith = async (fields: { readonly email: string; readonly phone?: string }) => {
    const person = await signInPerson({ first_name: "Mallory", ...fields }, call);
    return { by: person, id: (await grantShare(person, { scope: Object.keys(fields) })).share.id as string };
  };

  test("does not make the person contactable by the address or the number", async () => {
    const [email, phone] = [createEmailAddress(), createPhone()];
    const { by: person } = await shareWith({ email, phone });
    expect(person.email).not.toBe(email);
    const reasons = (await check([{ email }, { phone }, { email, phone }])).map(({ reason }: { reason: string }) => reason);
    expect(reasons).toEqual(["none", "none", "none"]);
  });

  test("is listed for the holder of the address and ends when the holder withdraws from the business", async () => {
    const email = createEmailAddress();
    const { by: person, id } = await shareWith({ email });
    const holder = await signInPerson({}, call, email);
    expect((await holder.get("/v1/me/certificates")).body.data.businesses).toMatchObject([
      { business_id: world.acme.id, certificates: 0, others_shares: 1, active_others_shares: 1 },
    ]);
    const withdrawn = await holder.post("/v1/me/certificates/withdraw", { scope: "business", business_id: world.acme.id });
    expect(withdrawn.body.data).toMatchObject({ withdrawn: 0, shares_ended: 1, pending: false });
    expect((await check([{ email }]))[0]).toMatchObject({ contactable: false, reason: "revoked", basis: [{ id, status: "revoked" }] });
    const [mail] = await listMailTo(person.email);
    expect(mail?.subject).toBe("Sharing with a business was stopped");
    expect(mail?.text).toContain("The owner of the email address in this share withdrew consent");
  });

  test("ends when the holder withdraws from everything, as do the holder's own shares", async () => {
    const email = createEmailAddress();
    const { id: others } = await shareWith({ email });
    const holder = await signInPerson({ email, phone: createPhone() }, call, email);
    const ownShareId = (await grantShare(holder, { scope: ["phone"] })).share.id as string;
    expect((await holder.post("/v1/me/certificates/withdraw", { scope: "everything" })).body.data).toMatchObject({ shares_ended: 2 });
    for (const id of [others, ownShareId])
      expect((await call(`/v1/shares/${id}`, { headers: { authorization: `Bearer ${world.acme.keys.live}` } })).body.data.status).toBe(
        "revoked",
      );
  });

  test("ends when the holder withdraws from the business with an email code", async () => {
    const email = createEmailAddress();
    const issued = await issueToNewPerson({ fields: { email } });
    const { by: person, id } = await shareWith({ email });
    expect((await withdrawCertificate(issued, "business")).status).toBe(200);
    expect((await call(`/v1/shares/${id}`, { headers: { authorization: `Bearer ${world.acme.keys.live}` } })).body.data.status).toBe(
      "revoked",
    );
    expect((await check([{ email }]))[0].reason).toBe("revoked");
    const { entries } = (await person.get("/v1/me/audit")).body.data;
    expect(entries[0]).toMatchObject({ type: "share.revoked", entity_id: id, payload: { actor: "subject:email_code" } });
  });

  test("is not confused with the person's own share, which also ends with the email code", async () => {
    const issued = await issueToNewPerson();
    const person = await signInPerson({ email: issued.email }, call, issued.email);
    await grantShare(person, { scope: ["email"] });
    await withdrawCertificate(issued, "business");
    const subjects = (await listMailTo(issued.email)).map(({ subject }) => subject);
    expect(subjects).toContain("You stopped sharing");
    expect(subjects).not.toContain("Sharing with a business was stopped");
  });

  test("does not end when one certificate is withdrawn", async () => {
    const email = createEmailAddress();
    const issued = await issueToNewPerson({ fields: { email } });
    const { id } = await shareWith({ email });
    await withdrawCertificate(issued);
    expect((await call(`/v1/shares/${id}`, { headers: { authorization: `Bearer ${world.acme.keys.live}` } })).body.data.status).toBe(
      "active",
    );
  });
});

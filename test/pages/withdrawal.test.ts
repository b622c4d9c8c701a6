// Tests the withdrawal forms against an attacker's program: the limits, and the cookie that stores the address.
// test/browser/withdrawal.test.ts tests how people use the forms.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import {
  call,
  getWithKey,
  issueCertificate,
  productionSettings,
  createServiceCall,
  world,
  type TestResponse,
  type Call,
  type ConsentBody,
} from "../support/world.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  listCodes,
  createEmailAddress,
  issueToNewPerson,
  listLinkTokens,
  createDifferentCode,
  type IssuedCertificate,
} from "../support/withdrawal.ts";

type Form = Readonly<Record<string, string>>;
const post = (path: string, form: Form, headers: Form = {}, send: Call = call): Promise<TestResponse> =>
  send(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(form).toString(),
    redirect: "manual",
  });
const requestWithdrawal = (issued: IssuedCertificate, headers: Form = {}, send: Call = call): Promise<TestResponse> =>
  post(`/c/${issued.certId}/withdraw`, { email: issued.email }, headers, send);
const confirmWithdrawal = (certId: string, code: string, cookie: string, more: Form = {}, send: Call = call): Promise<TestResponse> =>
  post(`/c/${certId}/withdraw/confirm`, { code }, { cookie, ...more }, send);
/** Returns all cookies from a response, as a browser sends them back. */
const readCookies = ({ headers }: TestResponse): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
const describeRedirect = ({ status, headers }: TestResponse): string => `${status} ${headers.get("location") ?? ""}`.trim();
const getStatus = async (certId: string): Promise<string> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status;

const issueWithFields = async (fields: ConsentBody["fields"]): Promise<string> => (await issueCertificate({ fields })).cert_id;
const codeForm = 'name="email"';

describe("the withdrawal forms", () => {
  test("send a code to an address under any recognized key", async () => {
    const email = createEmailAddress();
    const certId = await issueWithFields({ first_name: "Pat", work_email: email });
    expect((await call(`/c/${certId}`)).text).toContain(codeForm);
    const cookie = readCookies(await post(`/c/${certId}/withdraw`, { email }));
    await waitUntilSettled();
    const [code = ""] = await listCodes(email);
    expect(describeRedirect(await confirmWithdrawal(certId, code, cookie))).toBe(`303 /c/${certId}/withdrawn`);
  });

  test.each(["", "pat at example"])("show no hint if `email` is %j and the address is under another key", async (typed) => {
    const certId = await issueWithFields({ email: typed, work_email: createEmailAddress() });
    const { text } = await call(`/c/${certId}`);
    expect(text).toContain(codeForm);
    expect(text).not.toContain("The address you used on the form");
  });

  test.each([
    ["has no email address", { first_name: "Pat" }],
    ["has only an invalid email address", { first_name: "Pat", email: "pat at example" }],
  ])("offer no code if the certificate %s, and say how to contact the business", async (_name, fields) => {
    const certId = await issueWithFields(fields);
    const pages = await Promise.all(
      [`/c/${certId}`, `/c/${certId}/withdraw`, `/c/${certId}/withdraw?outcome=link`].map((path) => call(path)),
    );
    for (const { status, text } of pages) {
      expect(status).toBe(200);
      expect(text).not.toContain(codeForm);
      expect(text).toContain("This certificate has no email address");
      expect(text).toContain("1 Demo Street, Testville, CA 94000, US");
    }
    expect(pages[2]?.text).toContain("This link is for another certificate, or it has expired.");
  });

  test("share the limits of the API: ten requests and thirty codes entered per hour per network", async () => {
    const strict = createServiceCall({ DEV_RATE_SCALE: "1" });
    const issued = await issueToNewPerson();
    const from = { "cf-connecting-ip": "203.0.113.31" };
    for (let count = 0; count < 5; count += 1) await requestWithdrawalCode(issued.certId, createEmailAddress(), from, strict);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await requestWithdrawal({ ...issued, email: createEmailAddress() }, from, strict)).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
    const cookie = readCookies(await requestWithdrawal(issued));
    for (let count = 0; count < 15; count += 1)
      await submitWithdrawalCode(issued.certId, { email: issued.email, code: "000000" }, from, strict);
    const answered: number[] = [];
    for (let count = 0; count < 15; count += 1)
      answered.push((await confirmWithdrawal(issued.certId, "000000", cookie, from, strict)).status);
    expect(new Set(answered)).toEqual(new Set([303]));
    const refused = [
      await confirmWithdrawal(issued.certId, "000000", cookie, from, strict),
      await post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken }, from, strict),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await getStatus(issued.certId)).toBe("active");
  });

  test("use the language selected earlier, on pages and in emails, regardless of the browser's language", async () => {
    const issued = await issueToNewPerson();
    const chosen = { cookie: "svc_lang=es", "accept-language": "fr" };
    expect(describeRedirect(await requestWithdrawal(issued, chosen))).toBe(`303 /c/${issued.certId}/withdraw`);
    expect((await call(`/c/${issued.certId}/withdraw`, { headers: chosen })).text).toContain('lang="es"');
    await waitUntilSettled();
    const [mail] = (await call(`/dev/mail?to=${encodeURIComponent(issued.email)}`)).body.messages;
    expect(mail.text).toContain("código");
  });

  test("keep the address in an encrypted cookie, for this certificate and ten minutes", async () => {
    const email = createEmailAddress();
    const [issued, second] = [await issueToNewPerson({ fields: { email } }), await issueToNewPerson({ fields: { email } })];
    const response = await requestWithdrawal(issued);
    expect(describeRedirect(response)).toBe(`303 /c/${issued.certId}/withdraw`);
    const cookieHeader = response.headers.getSetCookie().find((cookie) => cookie.startsWith("svc_asked=")) ?? "";
    expect(cookieHeader).toMatch(/^svc_asked=\d+\.[A-Za-z0-9_-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(JSON.stringify([...response.headers]))).not.toContain(email.split("@")[0]);
    const cookie = readCookies(response);
    const openForm = (certId: string, send: Call = call): Promise<TestResponse> => send(`/c/${certId}/withdraw`, { headers: { cookie } });
    expect((await openForm(issued.certId)).text).toContain(email);
    expect((await openForm(second.certId)).text).not.toContain(email);
    const callLater = createServiceCall({ DEV_CLOCK_OFFSET_MS: "600001" });
    expect((await openForm(issued.certId, callLater)).text).not.toContain(email);
    const [code] = await listCodes(email);
    expect(describeRedirect(await confirmWithdrawal(second.certId, code as string, cookie))).toBe(
      `303 /c/${second.certId}/withdraw?outcome=failed`,
    );
    expect(describeRedirect(await confirmWithdrawal(issued.certId, code as string, cookie))).toBe(`303 /c/${issued.certId}/withdraw`); // the next page asks about the other certificate
  });

  test("set cookies in production that no sibling host can set and no script can read", async () => {
    const live = createServiceCall(productionSettings, productionSettings.VERIFY_URL);
    const response = await requestWithdrawal(await issueToNewPerson(), { origin: productionSettings.VERIFY_URL }, live);
    await waitUntilSettled(); // waits, because this service's relay would otherwise send the next test's emails
    expect(
      response.headers
        .getSetCookie()
        .map((cookie) => cookie.replace(/=[^;]+/, ""))
        .sort(),
    ).toEqual([
      "__Host-svc_asked; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax",
      "__Host-svc_withdrawal; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Lax",
    ]);
  });

  test("do not reveal whether an address is on the certificate", async () => {
    const issued = await issueToNewPerson();
    const right = await requestWithdrawal(issued);
    const wrong = await requestWithdrawal({ ...issued, email: createEmailAddress() });
    const toComparable = ({ status, text, headers }: TestResponse) => [
      status,
      text,
      [...headers].filter(([name]) => !["x-request-id", "set-cookie", "ratelimit-remaining", "ratelimit-reset"].includes(name)),
    ];
    expect(toComparable(wrong)).toEqual(toComparable(right));
    const refused = [
      await confirmWithdrawal(issued.certId, "000000", readCookies(right)),
      await confirmWithdrawal(issued.certId, "000000", readCookies(wrong)),
    ];
    expect(refused.map(describeRedirect)).toEqual(Array(2).fill(`303 /c/${issued.certId}/withdraw?outcome=failed`));
  });

  test.each([
    ["from another site", { "sec-fetch-site": "cross-site" }],
    ["from a sibling host", { "sec-fetch-site": "same-site" }],
    ["of another origin, from a browser without Sec-Fetch-Site", { origin: "https://evil.example" }],
  ])("refuse one %s without spending an attempt", async (_name, headers) => {
    const issued = await issueToNewPerson();
    const response = await requestWithdrawal(issued);
    const [code] = await listCodes(issued.email);
    const refused = [
      await requestWithdrawal(issued, headers),
      await confirmWithdrawal(issued.certId, code as string, readCookies(response), headers),
      await post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken }, headers),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    const spent = await env.DB.prepare(
      "SELECT COUNT(*) AS codes, SUM(same_context_attempts + other_context_attempts) AS tries FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(issued.certId)
      .first();
    expect([spent, await getStatus(issued.certId)]).toEqual([{ codes: 1, tries: 0 }, "active"]);
  });

  test.each([
    ["en", "All consent you gave to", "One other active certificate"],
    ["es", "Todos los consentimientos que dio a", "Otro certificado activo"],
    ["fr-CA", "Tous les consentements que vous avez donnés à", "Un autre certificat actif"],
  ])(
    "show what else names the address after the email link, and withdraw everything by default (%s)",
    async (language, everything, other) => {
      const issued = await issueToNewPerson();
      const second = await issueToNewPerson({ fields: { email: issued.email } });
      expect(describeRedirect(await requestWithdrawal(issued))).toBe(`303 /c/${issued.certId}/withdraw`);
      const [token] = await listLinkTokens(issued.email);
      const link = `/c/${issued.certId}/withdraw/link?lang=${language}`;
      const shown = await post(link, { token: token as string });
      expect([shown.status, await getStatus(issued.certId)]).toEqual([200, "active"]);
      expect(shown.text).toContain(other);
      expect(shown.text).toContain(everything);
      expect(shown.text).toMatch(/value="business"[^>]*checked/);
      await post(link, { token: token as string, scope: "business" });
      expect([await getStatus(issued.certId), await getStatus(second.certId)]).toEqual(["revoked", "revoked"]);
    },
  );

  test("show the same step in another language if a form returned the page", async () => {
    const issued = await issueToNewPerson();
    await issueToNewPerson({ fields: { email: issued.email } });
    const asked = await requestWithdrawal(issued);
    const [token] = await listLinkTokens(issued.email);
    const withdrawPath = `/c/${issued.certId}/withdraw`;
    const openIn = async (step: string, language: string, from: TestResponse): Promise<string> => {
      const headers = { cookie: readCookies(from) };
      const redirect = await call(`${withdrawPath}/${step}?lang=${language}`, { headers, redirect: "manual" });
      expect(describeRedirect(redirect)).toBe(`303 ${withdrawPath}?lang=${language}`);
      return (await call(`${withdrawPath}?lang=${language}`, { headers })).text;
    };
    const malformed = await confirmWithdrawal(issued.certId, "12", readCookies(asked));
    expect(malformed.status).toBe(400);
    expect(await openIn("confirm", "fr-CA", asked)).toMatch(/<html lang="fr-CA".*id="withdraw-code"/s);
    const scope = await post(`${withdrawPath}/link`, { token: token as string });
    expect(await openIn("link", "es", scope)).toContain("Todos los consentimientos que dio a");
  });

  test("reveal nothing about others to the holder of a submission link, and withdraw that certificate only", async () => {
    const issued = await issueToNewPerson();
    const forged = await issueToNewPerson({ fields: { email: issued.email } });
    const followed = await post(`/c/${forged.certId}/withdraw/link`, { token: forged.manageToken });
    expect(describeRedirect(followed)).toBe(`303 /c/${forged.certId}/withdrawn`);
    expect([await getStatus(forged.certId), await getStatus(issued.certId)]).toEqual(["revoked", "active"]);
  });

  test("accept the link from an email, and say when it is invalid", async () => {
    const issued = await issueToNewPerson();
    await requestWithdrawal(issued);
    const [token] = await listLinkTokens(issued.email);
    const wrong = await post(`/c/${issued.certId}/withdraw/link`, { token: "A".repeat(43) });
    expect(describeRedirect(wrong)).toBe(`303 /c/${issued.certId}/withdraw?outcome=link`);
    const right = await post(`/c/${issued.certId}/withdraw/link`, { token: token as string });
    expect(describeRedirect(right)).toBe(`303 /c/${issued.certId}/withdrawn`);
    expect(await getStatus(issued.certId)).toBe("revoked");
  });

  test("say that the business is being notified: the notice is stored by then, but may not have arrived", async () => {
    const issued = await issueToNewPerson();
    await post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken });
    for (const [lang, text] of [
      ["en", "We’re notifying Acme Solar LLC."],
      ["es", "Estamos avisando a Acme Solar LLC."],
      ["fr-CA", "Nous en avisons Acme Solar LLC."],
    ] as const) {
      const page = await call(`/c/${issued.certId}/withdrawn?lang=${lang}`);
      expect(page.text.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " "), lang).toContain(text);
    }
  });
});

describe("after the correct code", () => {
  const readWords = ({ text }: TestResponse): string =>
    text
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .replaceAll("\u00a0", " ");
  const issueTwo = async (): Promise<readonly [IssuedCertificate, IssuedCertificate]> => {
    const issued = await issueToNewPerson();
    return [issued, await issueToNewPerson({ fields: { email: issued.email } })];
  };
  const requestCode = async (issued: IssuedCertificate): Promise<readonly [code: string, cookie: string]> => {
    const cookie = readCookies(await requestWithdrawal(issued));
    return [(await listCodes(issued.email))[0] as string, cookie];
  };
  const page = (certId: string, cookie: string, at = "withdraw"): Promise<TestResponse> =>
    call(`/c/${certId}/${at}`, { headers: { cookie } });
  const extractToken = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "no token";

  test.each([
    [
      "en",
      "Nothing has been withdrawn yet.",
      "One other active certificate",
      "All consent you gave to",
      "One other certificate from Acme Solar LLC with your email address is still active.",
    ],
    [
      "es",
      "Todavía no se ha retirado nada.",
      "Otro certificado activo",
      "Todos los consentimientos que dio a",
      "Otro certificado de Acme Solar LLC con su correo electrónico sigue activo.",
    ],
    [
      "fr-CA",
      "Aucun consentement n’a encore été retiré.",
      "Un autre certificat actif",
      "Tous les consentements que vous avez donnés à",
      "Un autre certificat de Acme Solar LLC avec votre adresse courriel reste actif.",
    ],
  ])("shows what else names the address and asks what to withdraw (%s)", async (language, nothing, other, everything, stays) => {
    const [issued, second] = await issueTwo();
    const [code, cookie] = await requestCode(issued);
    const proved = await confirmWithdrawal(issued.certId, code, cookie);
    expect(describeRedirect(proved)).toBe(`303 /c/${issued.certId}/withdraw`);
    const shown = await page(issued.certId, readCookies(proved), `withdraw?lang=${language}`);
    for (const part of [nothing, other, everything]) expect(readWords(shown)).toContain(part);
    expect(shown.text).toMatch(/value="business"[^>]*checked/);
    expect(shown.text).toContain(`href="/c/${second.certId}"`);
    // Reloading the page shows the same text.
    expect((await page(issued.certId, readCookies(proved), `withdraw?lang=${language}`)).text).toBe(shown.text);
    expect([await getStatus(issued.certId), await getStatus(second.certId)]).toEqual(["active", "active"]);
    const link = `/c/${issued.certId}/withdraw/link`;
    const only = await post(link, { token: extractToken(shown), scope: "certificate" });
    expect([await getStatus(issued.certId), await getStatus(second.certId)]).toEqual(["revoked", "active"]);
    const response = await page(issued.certId, readCookies(only), `withdrawn?lang=${language}`);
    expect(readWords(response)).toContain(stays);
    expect(response.text).toContain(`href="/c/${second.certId}"`);
  });

  test("withdraws everything that names the address and says that nothing is left", async () => {
    const [issued, second] = await issueTwo();
    // Issues more certificates than one batch handles.
    const more = await Promise.all(Array.from({ length: 22 }, () => issueToNewPerson({ fields: { email: issued.email } })));
    const [code, cookie] = await requestCode(issued);
    const shown = await page(issued.certId, readCookies(await confirmWithdrawal(issued.certId, code, cookie)));
    expect(readWords(shown)).toContain("23 other active certificates");
    const all = await post(`/c/${issued.certId}/withdraw/link`, { token: extractToken(shown), scope: "business" });
    expect(readWords(await page(issued.certId, readCookies(all), "withdrawn"))).toContain(
      "No other active certificates from Acme Solar LLC have your email address.",
    );
    const readOtherStatuses = async () => {
      await runOutboxRelay();
      return new Set(await Promise.all([second, ...more].map(({ certId }) => getStatus(certId))));
    };
    await expect.poll(readOtherStatuses, { timeout: 60_000 }).toEqual(new Set(["revoked"]));
    const since = await issueToNewPerson({ fields: { email: issued.email } }); // gives a new consent after the withdrawal
    expect(readWords(await page(issued.certId, readCookies(all), "withdrawn"))).toContain("One other certificate");
    expect(await getStatus(since.certId)).toBe("active");
  }, 90_000);

  test("withdraws immediately if there is nothing else", async () => {
    const issued = await issueToNewPerson();
    const [code, cookie] = await requestCode(issued);
    const response = await confirmWithdrawal(issued.certId, code, cookie);
    expect(describeRedirect(response)).toBe(`303 /c/${issued.certId}/withdrawn`);
    expect(await getStatus(issued.certId)).toBe("revoked");
    expect(readWords(await page(issued.certId, readCookies(response), "withdrawn"))).toContain("No other active certificate");
  });

  test("O21: accepts a code once, even on many pages at the same time, and never afterward", async () => {
    const [issued, second] = await issueTwo();
    const [code, cookie] = await requestCode(issued);
    const responses = await Promise.all(Array.from({ length: 4 }, () => confirmWithdrawal(issued.certId, code, cookie)));
    expect(responses.map(describeRedirect).sort()).toEqual([
      `303 /c/${issued.certId}/withdraw`,
      ...Array(3).fill(`303 /c/${issued.certId}/withdraw?outcome=failed`),
    ]);
    expect(describeRedirect(await confirmWithdrawal(issued.certId, code, cookie))).toBe(`303 /c/${issued.certId}/withdraw?outcome=failed`);
    for (const { certId } of [issued, second]) {
      const repeated = await submitWithdrawalCode(certId, { email: issued.email, code });
      expect([repeated.status, repeated.body.error.code]).toEqual([400, "opt_out_failed"]);
    }
    expect([await getStatus(issued.certId), await getStatus(second.certId)]).toEqual(["active", "active"]);
  });

  test("O22: reveals what else names the address only after the address is verified", async () => {
    const [issued, second] = await issueTwo();
    const [code, cookie] = await requestCode(issued);
    const wrongAddress = readCookies(await requestWithdrawal({ ...issued, email: createEmailAddress() }));
    const wrong = [
      await confirmWithdrawal(issued.certId, createDifferentCode(code), cookie),
      await confirmWithdrawal(issued.certId, code, wrongAddress),
      await confirmWithdrawal(issued.certId, code, ""),
    ];
    expect(wrong.map(describeRedirect)).toEqual(Array(3).fill(`303 /c/${issued.certId}/withdraw?outcome=failed`));
    expect(wrong.map(({ text }) => text)).toEqual(Array(3).fill(wrong[0]?.text));
    for (const one of wrong) expect(one.headers.getSetCookie()).toEqual([]);
    const proof = readCookies(await confirmWithdrawal(issued.certId, code, cookie));
    const showsOtherCertificates = async (certId: string, with_: string): Promise<boolean> =>
      /other active|other certificate|No other/.test(
        readWords(await page(certId, with_)).replace(/If Acme Solar LLC has other certificates[^.]*\./, ""),
      );
    expect(await showsOtherCertificates(issued.certId, proof)).toBe(true);
    const changedAt = proof.length - 10; // the last character may encode only padding bits, so this changes an earlier one
    const changed = `${proof.slice(0, changedAt)}${proof[changedAt] === "A" ? "B" : "A"}${proof.slice(changedAt + 1)}`;
    for (const other of [cookie, wrongAddress, "", changed, `svc_asked=${proof.split("svc_asked=")[1]}x`])
      expect(await showsOtherCertificates(issued.certId, other)).toBe(false);
    expect(await showsOtherCertificates(second.certId, proof)).toBe(false); // the cookie's value works only for the certificate that it was created for
    const late = createServiceCall({ DEV_CLOCK_OFFSET_MS: "600001" });
    expect((await late(`/c/${issued.certId}/withdraw`, { headers: { cookie: proof } })).text).not.toContain("other active certificate");
  });

  test("O22: does not treat a submission link as proof of the address, so the next page reveals nothing about others", async () => {
    const [issued, forged] = await issueTwo();
    const followed = await post(`/c/${forged.certId}/withdraw/link`, { token: forged.manageToken });
    const finalText = readWords(await page(forged.certId, readCookies(followed), "withdrawn"));
    expect(finalText).toContain("You withdrew your consent.");
    expect(finalText).not.toMatch(/other (?:active )?certificate/);
    expect(await getStatus(issued.certId)).toBe("active");
  });

  test("shows how to reach the business if it provides a contact", async () => {
    const [mailed, nameless] = [await issueToNewPerson(), await issueToNewPerson({ fields: { phone: "+1 202 555 0177" } })];
    await post(`/c/${mailed.certId}/withdraw/link`, { token: mailed.manageToken });
    const heading = "Contact Acme Solar LLC:";
    const reach = ["privacy@acme-solar.example", "1 Sun Street, Testville"];
    const readPages = async () => [readWords(await call(`/c/${mailed.certId}/withdrawn`)), readWords(await call(`/c/${nameless.certId}`))];
    await env.DB.prepare("UPDATE businesses SET contact_email = ?, mailing_address = ? WHERE id = ?")
      .bind(...reach, world.acme.id)
      .run();
    try {
      for (const shown of await readPages()) for (const part of [heading, ...reach]) expect(shown).toContain(part);
    } finally {
      await env.DB.prepare("UPDATE businesses SET contact_email = NULL, mailing_address = NULL WHERE id = ?").bind(world.acme.id).run();
    }
    for (const shown of await readPages()) expect(shown).not.toContain(heading);
  });
});

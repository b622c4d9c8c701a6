// Tests the withdrawal forms against an attacker's program: the limits, and the cookie that stores the address.
// test/browser/withdrawal.test.ts tests how people use the forms.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { call, getWithKey, productionSettings, createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";
import { runOutboxRelay, waitUntilSettled } from "../support/background-work.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  listCodes,
  createEmailAddress,
  issueToNewPerson,
  listLinkTokens,
  differentCode,
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
const ask = (mine: IssuedCertificate, headers: Form = {}, send: Call = call): Promise<TestResponse> =>
  post(`/c/${mine.certId}/withdraw`, { email: mine.email }, headers, send);
const answer = (certId: string, code: string, cookie: string, more: Form = {}, send: Call = call): Promise<TestResponse> =>
  post(`/c/${certId}/withdraw/confirm`, { code }, { cookie, ...more }, send);
/** Returns all cookies from a response, as a browser sends them back. */
const cookiesOf = ({ headers }: TestResponse): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
const to = ({ status, headers }: TestResponse): string => `${status} ${headers.get("location") ?? ""}`.trim();
const statusOf = async (certId: string): Promise<string> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status;

describe("the withdrawal forms", () => {
  test("share the limits of the API: ten requests and thirty codes entered per hour per network", async () => {
    const strict = createServiceCall({ DEV_RATE_SCALE: "1" });
    const mine = await issueToNewPerson();
    const from = { "cf-connecting-ip": "203.0.113.31" };
    for (let count = 0; count < 5; count += 1) await requestWithdrawalCode(mine.certId, createEmailAddress(), from, strict);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await ask({ ...mine, email: createEmailAddress() }, from, strict)).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
    const cookie = cookiesOf(await ask(mine));
    for (let count = 0; count < 15; count += 1)
      await submitWithdrawalCode(mine.certId, { email: mine.email, code: "000000" }, from, strict);
    const answered: number[] = [];
    for (let count = 0; count < 15; count += 1) answered.push((await answer(mine.certId, "000000", cookie, from, strict)).status);
    expect(new Set(answered)).toEqual(new Set([303]));
    const refused = [
      await answer(mine.certId, "000000", cookie, from, strict),
      await post(`/c/${mine.certId}/withdraw/link`, { token: mine.manageToken }, from, strict),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statusOf(mine.certId)).toBe("active");
  });

  test("use the language selected earlier, on pages and in emails, regardless of the browser's language", async () => {
    const mine = await issueToNewPerson();
    const chosen = { cookie: "svc_lang=es", "accept-language": "fr" };
    expect(to(await ask(mine, chosen))).toBe(`303 /c/${mine.certId}/withdraw`);
    expect((await call(`/c/${mine.certId}/withdraw`, { headers: chosen })).text).toContain('lang="es"');
    await waitUntilSettled();
    const [mail] = (await call(`/dev/mail?to=${encodeURIComponent(mine.email)}`)).body.messages;
    expect(mail.text).toContain("código");
  });

  test("keep the address in an encrypted cookie, for this certificate and ten minutes", async () => {
    const email = createEmailAddress();
    const [mine, second] = [await issueToNewPerson({ fields: { email } }), await issueToNewPerson({ fields: { email } })];
    const response = await ask(mine);
    expect(to(response)).toBe(`303 /c/${mine.certId}/withdraw`);
    const cookieHeader = response.headers.getSetCookie().find((cookie) => cookie.startsWith("svc_asked=")) ?? "";
    expect(cookieHeader).toMatch(/^svc_asked=\d+\.[A-Za-z0-9_-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(JSON.stringify([...response.headers]))).not.toContain(email.split("@")[0]);
    const cookie = cookiesOf(response);
    const shown = (certId: string, send: Call = call): Promise<TestResponse> => send(`/c/${certId}/withdraw`, { headers: { cookie } });
    expect((await shown(mine.certId)).text).toContain(email);
    expect((await shown(second.certId)).text).not.toContain(email);
    const later = createServiceCall({ DEV_CLOCK_OFFSET_MS: "600001" });
    expect((await shown(mine.certId, later)).text).not.toContain(email);
    const [code] = await listCodes(email);
    expect(to(await answer(second.certId, code as string, cookie))).toBe(`303 /c/${second.certId}/withdraw?answer=failed`);
    expect(to(await answer(mine.certId, code as string, cookie))).toBe(`303 /c/${mine.certId}/withdraw`); // the next page asks about the other certificate
  });

  test("set cookies in production that no sibling host can set and no script can read", async () => {
    const live = createServiceCall(productionSettings, productionSettings.VERIFY_URL);
    const response = await ask(await issueToNewPerson(), { origin: productionSettings.VERIFY_URL }, live);
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
    const mine = await issueToNewPerson();
    const right = await ask(mine);
    const wrong = await ask({ ...mine, email: createEmailAddress() });
    const toComparable = ({ status, text, headers }: TestResponse) => [
      status,
      text,
      [...headers].filter(([name]) => !["x-request-id", "set-cookie", "ratelimit-remaining", "ratelimit-reset"].includes(name)),
    ];
    expect(toComparable(wrong)).toEqual(toComparable(right));
    const refused = [await answer(mine.certId, "000000", cookiesOf(right)), await answer(mine.certId, "000000", cookiesOf(wrong))];
    expect(refused.map(to)).toEqual(Array(2).fill(`303 /c/${mine.certId}/withdraw?answer=failed`));
  });

  test.each([
    ["from another site", { "sec-fetch-site": "cross-site" }],
    ["from a sibling host", { "sec-fetch-site": "same-site" }],
    ["of another origin, from a browser without Sec-Fetch-Site", { origin: "https://evil.example" }],
  ])("refuse one %s without spending an attempt", async (_name, headers) => {
    const mine = await issueToNewPerson();
    const response = await ask(mine);
    const [code] = await listCodes(mine.email);
    const refused = [
      await ask(mine, headers),
      await answer(mine.certId, code as string, cookiesOf(response), headers),
      await post(`/c/${mine.certId}/withdraw/link`, { token: mine.manageToken }, headers),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    const spent = await env.DB.prepare(
      "SELECT COUNT(*) AS codes, SUM(same_context_attempts + other_context_attempts) AS tries FROM email_codes WHERE address_index = (SELECT email_indexes ->> 0 FROM certificates WHERE id = ?)",
    )
      .bind(mine.certId)
      .first();
    expect([spent, await statusOf(mine.certId)]).toEqual([{ codes: 1, tries: 0 }, "active"]);
  });

  test.each([
    ["en", "All consent you gave to", "One other active certificate"],
    ["es", "Todos los consentimientos que dio a", "Otro certificado activo"],
    ["fr-CA", "Tous les consentements que vous avez donnés à", "Un autre certificat actif"],
  ])(
    "show what else names the address after the email link, and withdraw everything by default (%s)",
    async (language, everything, other) => {
      const mine = await issueToNewPerson();
      const second = await issueToNewPerson({ fields: { email: mine.email } });
      expect(to(await ask(mine))).toBe(`303 /c/${mine.certId}/withdraw`);
      const [token] = await listLinkTokens(mine.email);
      const link = `/c/${mine.certId}/withdraw/link?lang=${language}`;
      const shown = await post(link, { token: token as string });
      expect([shown.status, await statusOf(mine.certId)]).toEqual([200, "active"]);
      expect(shown.text).toContain(other);
      expect(shown.text).toContain(everything);
      expect(shown.text).toMatch(/value="business"[^>]*checked/);
      await post(link, { token: token as string, scope: "business" });
      expect([await statusOf(mine.certId), await statusOf(second.certId)]).toEqual(["revoked", "revoked"]);
    },
  );

  test("reveal nothing about others to the holder of a submission link, and withdraw that certificate only", async () => {
    const mine = await issueToNewPerson();
    const forged = await issueToNewPerson({ fields: { email: mine.email } });
    const followed = await post(`/c/${forged.certId}/withdraw/link`, { token: forged.manageToken });
    expect(to(followed)).toBe(`303 /c/${forged.certId}/withdrawn`);
    expect([await statusOf(forged.certId), await statusOf(mine.certId)]).toEqual(["revoked", "active"]);
  });

  test("accept the link from an email, and say when it is invalid", async () => {
    const mine = await issueToNewPerson();
    await ask(mine);
    const [token] = await listLinkTokens(mine.email);
    const wrong = await post(`/c/${mine.certId}/withdraw/link`, { token: "A".repeat(43) });
    expect(to(wrong)).toBe(`303 /c/${mine.certId}/withdraw?answer=link`);
    const right = await post(`/c/${mine.certId}/withdraw/link`, { token: token as string });
    expect(to(right)).toBe(`303 /c/${mine.certId}/withdrawn`);
    expect(await statusOf(mine.certId)).toBe("revoked");
  });

  test("say that the business is being notified: the notice is stored by then, but may not have arrived", async () => {
    const mine = await issueToNewPerson();
    await post(`/c/${mine.certId}/withdraw/link`, { token: mine.manageToken });
    for (const [lang, text] of [
      ["en", "We’re notifying Acme Solar LLC."],
      ["es", "Estamos avisando a Acme Solar LLC."],
      ["fr-CA", "Nous en avisons Acme Solar LLC."],
    ] as const) {
      const page = await call(`/c/${mine.certId}/withdrawn?lang=${lang}`);
      expect(page.text.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " "), lang).toContain(text);
    }
  });
});

describe("after the correct code", () => {
  const wordsOf = ({ text }: TestResponse): string =>
    text
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .replaceAll("\u00a0", " ");
  const two = async (): Promise<readonly [IssuedCertificate, IssuedCertificate]> => {
    const mine = await issueToNewPerson();
    return [mine, await issueToNewPerson({ fields: { email: mine.email } })];
  };
  const requestCode = async (mine: IssuedCertificate): Promise<readonly [code: string, cookie: string]> => {
    const cookie = cookiesOf(await ask(mine));
    return [(await listCodes(mine.email))[0] as string, cookie];
  };
  const page = (certId: string, cookie: string, at = "withdraw"): Promise<TestResponse> =>
    call(`/c/${certId}/${at}`, { headers: { cookie } });
  const tokenIn = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "no token";

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
    const [mine, second] = await two();
    const [code, cookie] = await requestCode(mine);
    const proved = await answer(mine.certId, code, cookie);
    expect(to(proved)).toBe(`303 /c/${mine.certId}/withdraw`);
    const shown = await page(mine.certId, cookiesOf(proved), `withdraw?lang=${language}`);
    for (const part of [nothing, other, everything]) expect(wordsOf(shown)).toContain(part);
    expect(shown.text).toMatch(/value="business"[^>]*checked/);
    expect(shown.text).toContain(`href="/c/${second.certId}"`);
    // Reloading the page shows the same text.
    expect((await page(mine.certId, cookiesOf(proved), `withdraw?lang=${language}`)).text).toBe(shown.text);
    expect([await statusOf(mine.certId), await statusOf(second.certId)]).toEqual(["active", "active"]);
    const link = `/c/${mine.certId}/withdraw/link`;
    const only = await post(link, { token: tokenIn(shown), scope: "certificate" });
    expect([await statusOf(mine.certId), await statusOf(second.certId)]).toEqual(["revoked", "active"]);
    const done = await page(mine.certId, cookiesOf(only), `withdrawn?lang=${language}`);
    expect(wordsOf(done)).toContain(stays);
    expect(done.text).toContain(`href="/c/${second.certId}"`);
  });

  test("withdraws everything that names the address and says that nothing is left", async () => {
    const [mine, second] = await two();
    // Issues more certificates than one batch handles.
    const more = await Promise.all(Array.from({ length: 22 }, () => issueToNewPerson({ fields: { email: mine.email } })));
    const [code, cookie] = await requestCode(mine);
    const shown = await page(mine.certId, cookiesOf(await answer(mine.certId, code, cookie)));
    expect(wordsOf(shown)).toContain("23 other active certificates");
    const all = await post(`/c/${mine.certId}/withdraw/link`, { token: tokenIn(shown), scope: "business" });
    expect(wordsOf(await page(mine.certId, cookiesOf(all), "withdrawn"))).toContain(
      "No other active certificates from Acme Solar LLC have your email address.",
    );
    const left = async () => {
      await runOutboxRelay();
      return new Set(await Promise.all([second, ...more].map(({ certId }) => statusOf(certId))));
    };
    await expect.poll(left, { timeout: 60_000 }).toEqual(new Set(["revoked"]));
    const since = await issueToNewPerson({ fields: { email: mine.email } }); // gives a new consent after the withdrawal
    expect(wordsOf(await page(mine.certId, cookiesOf(all), "withdrawn"))).toContain("One other certificate");
    expect(await statusOf(since.certId)).toBe("active");
  }, 90_000);

  test("withdraws immediately if there is nothing else", async () => {
    const mine = await issueToNewPerson();
    const [code, cookie] = await requestCode(mine);
    const done = await answer(mine.certId, code, cookie);
    expect(to(done)).toBe(`303 /c/${mine.certId}/withdrawn`);
    expect(await statusOf(mine.certId)).toBe("revoked");
    expect(wordsOf(await page(mine.certId, cookiesOf(done), "withdrawn"))).toContain("No other active certificate");
  });

  test("O21: accepts a code once, even on many pages at the same time, and never afterward", async () => {
    const [mine, second] = await two();
    const [code, cookie] = await requestCode(mine);
    const answers = await Promise.all(Array.from({ length: 4 }, () => answer(mine.certId, code, cookie)));
    expect(answers.map(to).sort()).toEqual([
      `303 /c/${mine.certId}/withdraw`,
      ...Array(3).fill(`303 /c/${mine.certId}/withdraw?answer=failed`),
    ]);
    expect(to(await answer(mine.certId, code, cookie))).toBe(`303 /c/${mine.certId}/withdraw?answer=failed`);
    for (const { certId } of [mine, second]) {
      const again = await submitWithdrawalCode(certId, { email: mine.email, code });
      expect([again.status, again.body.error.code]).toEqual([400, "opt_out_failed"]);
    }
    expect([await statusOf(mine.certId), await statusOf(second.certId)]).toEqual(["active", "active"]);
  });

  test("O22: reveals what else names the address only after the address is verified", async () => {
    const [mine, second] = await two();
    const [code, cookie] = await requestCode(mine);
    const wrongAddress = cookiesOf(await ask({ ...mine, email: createEmailAddress() }));
    const wrong = [
      await answer(mine.certId, differentCode(code), cookie),
      await answer(mine.certId, code, wrongAddress),
      await answer(mine.certId, code, ""),
    ];
    expect(wrong.map(to)).toEqual(Array(3).fill(`303 /c/${mine.certId}/withdraw?answer=failed`));
    expect(wrong.map(({ text }) => text)).toEqual(Array(3).fill(wrong[0]?.text));
    for (const one of wrong) expect(one.headers.getSetCookie()).toEqual([]);
    const proof = cookiesOf(await answer(mine.certId, code, cookie));
    const showsOthers = async (certId: string, with_: string): Promise<boolean> =>
      /other active|other certificate|No other/.test(
        wordsOf(await page(certId, with_)).replace(/If Acme Solar LLC has other certificates[^.]*\./, ""),
      );
    expect(await showsOthers(mine.certId, proof)).toBe(true);
    const changedAt = proof.length - 10; // the last character may encode only padding bits, so this changes an earlier one
    const changed = `${proof.slice(0, changedAt)}${proof[changedAt] === "A" ? "B" : "A"}${proof.slice(changedAt + 1)}`;
    for (const other of [cookie, wrongAddress, "", changed, `svc_asked=${proof.split("svc_asked=")[1]}x`])
      expect(await showsOthers(mine.certId, other)).toBe(false);
    expect(await showsOthers(second.certId, proof)).toBe(false); // the cookie's value works only for the certificate that it was created for
    const late = createServiceCall({ DEV_CLOCK_OFFSET_MS: "600001" });
    expect((await late(`/c/${mine.certId}/withdraw`, { headers: { cookie: proof } })).text).not.toContain("other active certificate");
  });

  test("O22: does not treat a submission link as proof of the address, so the next page reveals nothing about others", async () => {
    const [mine, forged] = await two();
    const followed = await post(`/c/${forged.certId}/withdraw/link`, { token: forged.manageToken });
    const done = wordsOf(await page(forged.certId, cookiesOf(followed), "withdrawn"));
    expect(done).toContain("You withdrew your consent.");
    expect(done).not.toMatch(/other (?:active )?certificate/);
    expect(await statusOf(mine.certId)).toBe("active");
  });

  test("shows how to reach the business if it provides a contact", async () => {
    const [mailed, nameless] = [await issueToNewPerson(), await issueToNewPerson({ fields: { phone: "+1 202 555 0177" } })];
    await post(`/c/${mailed.certId}/withdraw/link`, { token: mailed.manageToken });
    const heading = "Contact Acme Solar LLC:";
    const reach = ["privacy@acme-solar.example", "1 Sun Street, Testville"];
    const pages = async () => [wordsOf(await call(`/c/${mailed.certId}/withdrawn`)), wordsOf(await call(`/c/${nameless.certId}`))];
    await env.DB.prepare("UPDATE businesses SET contact_email = ?, mailing_address = ? WHERE id = ?")
      .bind(...reach, world.acme.id)
      .run();
    try {
      for (const shown of await pages()) for (const part of [heading, ...reach]) expect(shown).toContain(part);
    } finally {
      await env.DB.prepare("UPDATE businesses SET contact_email = NULL, mailing_address = NULL WHERE id = ?").bind(world.acme.id).run();
    }
    for (const shown of await pages()) expect(shown).not.toContain(heading);
  });
});

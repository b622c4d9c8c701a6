// The withdrawal forms as a stranger's program meets them: the same limits as the API's, and a cookie that carries an address
// without showing it. How people get through them is in test/browser/withdrawal.test.ts.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { call, get, productionSettings, serviceWith, type Answer, type Call } from "../support/world.ts";
import { answerCode, askCode, codesTo, freshAddress, held, linksTo, type Held } from "../support/withdrawing.ts";

type Form = Readonly<Record<string, string>>;
const post = (path: string, form: Form, headers: Form = {}, send: Call = call): Promise<Answer> =>
  send(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(form).toString(),
    redirect: "manual",
  });
const ask = (mine: Held, headers: Form = {}, send: Call = call): Promise<Answer> =>
  post(`/c/${mine.certId}/withdraw`, { email: mine.email }, headers, send);
const answer = (certId: string, code: string, cookie: string, more: Form = {}, send: Call = call): Promise<Answer> =>
  post(`/c/${certId}/withdraw/confirm`, { code }, { cookie, ...more }, send);
/** All cookies of an answer, as the browser sends them back. */
const cookiesOf = ({ headers }: Answer): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
const to = ({ status, headers }: Answer): string => `${status} ${headers.get("location") ?? ""}`.trim();
const statusOf = async (certId: string): Promise<string> => (await get(`/v1/certs/${certId}/verify`)).body.data.status;

describe("the forms", () => {
  test("are counted with the API: ten requests and thirty answers an hour from one network address, whichever way", async () => {
    const strict = serviceWith({ DEV_RATE_SCALE: "1" });
    const mine = await held();
    const from = { "cf-connecting-ip": "203.0.113.31" };
    for (let count = 0; count < 5; count += 1) await askCode(mine.certId, freshAddress(), from, strict);
    const asked: number[] = [];
    for (let count = 0; count < 6; count += 1) asked.push((await ask({ ...mine, email: freshAddress() }, from, strict)).status);
    expect(asked).toEqual([303, 303, 303, 303, 303, 429]);
    const cookie = cookiesOf(await ask(mine));
    for (let count = 0; count < 15; count += 1) await answerCode(mine.certId, { email: mine.email, code: "000000" }, from, strict);
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

  test("keep the address in a cookie that shows it to nobody, for this certificate and ten minutes", async () => {
    const email = freshAddress();
    const [mine, second] = [await held({ fields: { email } }), await held({ fields: { email } })];
    const asked = await ask(mine);
    expect(to(asked)).toBe(`303 /c/${mine.certId}/withdraw`);
    const kept = asked.headers.getSetCookie().find((cookie) => cookie.startsWith("svc_asked=")) ?? "";
    expect(kept).toMatch(/^svc_asked=\d+\.[A-Za-z0-9_-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(decodeURIComponent(JSON.stringify([...asked.headers]))).not.toContain(email.split("@")[0]);
    const cookie = cookiesOf(asked);
    const shown = (certId: string, send: Call = call): Promise<Answer> => send(`/c/${certId}/withdraw`, { headers: { cookie } });
    expect((await shown(mine.certId)).text).toContain(email);
    expect((await shown(second.certId)).text).not.toContain(email);
    const later = serviceWith({ DEV_CLOCK_OFFSET_MS: "600001" });
    expect((await shown(mine.certId, later)).text).not.toContain(email);
    const [code] = await codesTo(email);
    expect(to(await answer(second.certId, code as string, cookie))).toBe(`303 /c/${second.certId}/withdraw?answer=failed`);
    expect(to(await answer(mine.certId, code as string, cookie))).toBe(`303 /c/${mine.certId}/withdrawn`);
  });

  test("set cookies in production that no sibling host can plant and no script can read", async () => {
    const live = serviceWith(productionSettings, productionSettings.VERIFY_URL);
    const asked = await ask(await held(), { origin: productionSettings.VERIFY_URL }, live);
    expect(
      asked.headers
        .getSetCookie()
        .map((cookie) => cookie.replace(/=[^;]+/, ""))
        .sort(),
    ).toEqual([
      "__Host-svc_asked; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax",
      "__Host-svc_withdrawal; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Lax",
    ]);
  });

  test("tell nobody whether an address is on the certificate", async () => {
    const mine = await held();
    const right = await ask(mine);
    const wrong = await ask({ ...mine, email: freshAddress() });
    const told = ({ status, text, headers }: Answer) => [
      status,
      text,
      [...headers].filter(([name]) => !["x-request-id", "set-cookie", "ratelimit-remaining", "ratelimit-reset"].includes(name)),
    ];
    expect(told(wrong)).toEqual(told(right));
    const refused = [await answer(mine.certId, "000000", cookiesOf(right)), await answer(mine.certId, "000000", cookiesOf(wrong))];
    expect(refused.map(to)).toEqual(Array(2).fill(`303 /c/${mine.certId}/withdraw?answer=failed`));
  });

  test.each([
    ["that says it comes from another site", { "sec-fetch-site": "cross-site" }],
    ["from a sibling host", { "sec-fetch-site": "same-site" }],
    ["of another origin, from a browser that says no more", { origin: "https://evil.example" }],
  ])("refuse one %s, and spend no try", async (_name, headers) => {
    const mine = await held();
    const asked = await ask(mine);
    const [code] = await codesTo(mine.email);
    const refused = [
      await ask(mine, headers),
      await answer(mine.certId, code as string, cookiesOf(asked), headers),
      await post(`/c/${mine.certId}/withdraw/link`, { token: mine.manageToken }, headers),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    const spent = await env.DB.prepare(
      "SELECT COUNT(*) AS codes, SUM(own_tries + other_tries) AS tries FROM mailed_codes WHERE address_index = (SELECT email_index FROM certificates WHERE id = ?)",
    )
      .bind(mine.certId)
      .first();
    expect([spent, await statusOf(mine.certId)]).toEqual([{ codes: 1, tries: 0 }, "active"]);
  });

  test.each([
    ["en", "everything I gave to", "One other active certificate"],
    ["es", "todo lo que di a", "Otro certificado activo"],
    ["fr-CA", "tout ce que j’ai accordé à", "Un autre certificat actif"],
  ])(
    "say by the link of a mail what else there is, and withdraw everything unless told otherwise (%s)",
    async (language, everything, other) => {
      const mine = await held();
      const second = await held({ fields: { email: mine.email } });
      await ask(mine);
      const [token] = await linksTo(mine.email);
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

  test("tell whoever holds the link of a submission nothing about others, and withdraw that certificate only", async () => {
    const mine = await held();
    const forged = await held({ fields: { email: mine.email } });
    const followed = await post(`/c/${forged.certId}/withdraw/link`, { token: forged.manageToken });
    expect(to(followed)).toBe(`303 /c/${forged.certId}/withdrawn`);
    expect([await statusOf(forged.certId), await statusOf(mine.certId)]).toEqual(["revoked", "active"]);
  });

  test("take the link of a mail, and say when it is none", async () => {
    const mine = await held();
    await ask(mine);
    const [token] = await linksTo(mine.email);
    const wrong = await post(`/c/${mine.certId}/withdraw/link`, { token: "A".repeat(43) });
    expect(to(wrong)).toBe(`303 /c/${mine.certId}/withdraw?answer=link`);
    const right = await post(`/c/${mine.certId}/withdraw/link`, { token: token as string });
    expect(to(right)).toBe(`303 /c/${mine.certId}/withdrawn`);
    expect(await statusOf(mine.certId)).toBe("revoked");
  });

  test("say that the business is being told: the notice is durable then, and may not have arrived", async () => {
    const mine = await held();
    await post(`/c/${mine.certId}/withdraw/link`, { token: mine.manageToken });
    for (const [lang, told] of [
      ["en", "We are telling Acme Solar LLC."],
      ["es", "Estamos avisando a Acme Solar LLC."],
      ["fr-CA", "Nous en avisons Acme Solar LLC."],
    ] as const) {
      const page = await call(`/c/${mine.certId}/withdrawn?lang=${lang}`);
      expect(page.text.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " "), lang).toContain(told);
    }
  });
});

// Tests withdrawing consent for individual recipients with plain forms in a browser without scripts, and what the pages show afterward.
import { expect, test } from "vitest";
import { call, world, type TestResponse } from "../support/world.ts";
import { buildJsonPost, listCodes, issueToNewPerson, type IssuedCertificate } from "../support/withdrawal.ts";

const three = ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"];
const post = (path: string, form: Readonly<Record<string, string>>, cookie = ""): Promise<TestResponse> =>
  call(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie },
    body: new URLSearchParams(form).toString(),
    redirect: "manual",
  });
const extractCookies = ({ headers }: TestResponse): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
const extractWords = ({ text }: TestResponse): string => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
const readVerification = async (certId: string) => (await call(`/v1/certs/${certId}/verify`)).body.data;
const listWithdrawnNames = async (certId: string): Promise<string[]> =>
  ((await readVerification(certId)).entities_withdrawn ?? []).map(({ entity }: { entity: string }) => entity);
const requestCode = async (issued: IssuedCertificate) => {
  const cookie = extractCookies(await post(`/c/${issued.certId}/withdraw`, { email: issued.email }));
  const [code] = await listCodes(issued.email);
  return { cookie, code: code as string };
};

test("lists the recipients in the code form and withdraws consent for the selected ones", async () => {
  const issued = await issueToNewPerson({ entities: three });
  const { cookie, code } = await requestCode(issued);
  const form = await call(`/c/${issued.certId}/withdraw`, { headers: { cookie } });
  for (const [at, name] of three.entries()) {
    expect(form.text).toMatch(new RegExp(`type="checkbox" name="entity.${at}"`));
    expect(form.text).toContain(name);
  }
  const response = await post(`/c/${issued.certId}/withdraw/confirm`, { code, "entity.1": "on" }, cookie);
  expect(response.headers.get("location")).toBe(`/c/${issued.certId}/withdrawn`);
  expect(await listWithdrawnNames(issued.certId)).toEqual(["Bright Homes Inc"]);

  for (const [lang, statusText] of [
    ["en", "These recipients may still contact you: Acme Solar LLC Zenith Roofing"],
    ["es", "Estos destinatarios aún pueden contactarle: Acme Solar LLC Zenith Roofing"],
    ["fr-CA", "Ces destinataires peuvent encore communiquer avec vous : Acme Solar LLC Zenith Roofing"],
  ] as const) {
    const page = await call(`/c/${issued.certId}/withdrawn?lang=${lang}`);
    expect(extractWords(page).replaceAll("\u00a0", " "), lang).toContain(statusText);
    expect(page.text).toContain(`/certs/${issued.certId}/receipt?withdrawal=1`);
  }
  const repeated = await call(`/c/${issued.certId}/withdraw`, { headers: { cookie: (await requestCode(issued)).cookie } });
  expect(repeated.text).not.toContain('name="entity.1"');
});

test("keeps the selection and withdraws nothing when the code is invalid", async () => {
  const issued = await issueToNewPerson({ entities: three });
  const { cookie, code } = await requestCode(issued);
  const refused = await post(`/c/${issued.certId}/withdraw/confirm`, { code: "12", "entity.2": "on" }, cookie);
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/name="entity\.2"[^>]* checked/);
  expect(refused.text).toMatch(/<details class="more" open/);
  expect(await readVerification(issued.certId)).toMatchObject({ status: "active" });
  await post(`/c/${issued.certId}/withdraw/confirm`, { code, "entity.0": "on" }, cookie);
  expect(await listWithdrawnNames(issued.certId)).toEqual(["Acme Solar LLC"]);
});

test("withdraws consent for selected recipients immediately, even when other certificates name the address", async () => {
  const issued = await issueToNewPerson({ entities: three });
  const second = await issueToNewPerson({ fields: { email: issued.email } });
  const { cookie, code } = await requestCode(issued);
  const response = await post(`/c/${issued.certId}/withdraw/confirm`, { code, "entity.1": "on" }, cookie);
  expect(response.headers.get("location")).toBe(`/c/${issued.certId}/withdrawn`);
  expect(await listWithdrawnNames(issued.certId)).toEqual(["Bright Homes Inc"]);
  expect((await readVerification(second.certId)).status).toBe("active");
  const page = await call(`/c/${issued.certId}/withdrawn`, { headers: { cookie: extractCookies(response) } });
  expect(extractWords(page)).toContain("One other certificate from Acme Solar LLC with your email address is still active.");
});

test("withdraws consent by the link for the selected recipients, or for all if none is selected", async () => {
  const some = await issueToNewPerson({ entities: three });
  await post(`/c/${some.certId}/withdraw/link`, { token: some.manageToken, "entity.2": "on" });
  expect(await listWithdrawnNames(some.certId)).toEqual(["Zenith Roofing"]);
  expect((await readVerification(some.certId)).status).toBe("active");
  const withdrawn = await issueToNewPerson({ entities: three });
  await post(`/c/${withdrawn.certId}/withdraw/link`, { token: withdrawn.manageToken });
  expect((await readVerification(withdrawn.certId)).status).toBe("revoked");
});

test("shows on the certificate which recipients are withdrawn, and no active recipient after a full withdrawal", async () => {
  const issued = await issueToNewPerson({ entities: three, entities_accepted: three.slice(0, 2), entities_rejected: three.slice(2) });
  await post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken, "entity.0": "on" });
  const some = extractWords(await call(`/c/${issued.certId}`));
  expect(some).toMatch(/Who may contact them .* Bright Homes Inc .*Allowed .*Acme Solar LLC .*Withdrawn .*Zenith Roofing .*Declined/);
  expect(some).toContain("Withdrawn for 1 recipient");
  await post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken });
  const none = extractWords(await call(`/c/${issued.certId}`));
  expect(none).not.toContain("Who may contact");
  expect(none).toContain("Who must stop contacting them");
});

test("shows in the history that the business recorded the withdrawal", async () => {
  const { certId } = await issueToNewPerson({ entities: three });
  const recording = { method: "phone", received_at: new Date().toISOString(), entities: three.slice(1) };
  const authorization = `Bearer ${world.acme.keys.live}`;
  expect((await call(`/v1/certs/${certId}/withdrawals`, buildJsonPost(recording, { authorization }))).status).toBe(201);
  for (const [lang, entry] of [
    ["en", "Withdrawal for 2 recipients recorded by the business"],
    ["es", "Retiro para 2 destinatarios registrado por la empresa"],
    ["fr-CA", "Retrait pour 2 destinataires consigné par l’entreprise"],
  ] as const)
    expect(extractWords(await call(`/c/${certId}?lang=${lang}`)), lang).toContain(entry);
});

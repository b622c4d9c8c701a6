// Withdraws consent as a person does: requests a code, reads the email, and submits the code.
import { env } from "cloudflare:workers";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { call, getWithKey, issueCertificate, world, type TestResponse, type Call, type ConsentBody } from "./world.ts";

export const buildJsonPost = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** Returns a new email address, so that tests do not share rate limits. */
export const createEmailAddress = (): string => `pat-${crypto.randomUUID().slice(0, 13)}@example.com`;

export interface IssuedCertificate {
  readonly certId: string;
  readonly email: string;
  readonly manageToken: string;
  readonly fingerprint: string;
}

export const issueToNewPerson = async (
  change: Partial<ConsentBody> = {},
  business: DemoBusiness = world.acme,
): Promise<IssuedCertificate> => {
  const email = String(change.fields?.email ?? createEmailAddress());
  const receipt = await issueCertificate({ fields: { email, first_name: "Pat", phone: "+1 202 555 0123" }, ...change }, business);
  const manageToken = String(receipt.manage_url).split("#m=")[1] as string;
  return { certId: receipt.cert_id, email, manageToken, fingerprint: receipt.fingerprint };
};

export const requestWithdrawalCode = (
  certId: string,
  email: string,
  headers: Readonly<Record<string, string>> = {},
  send: Call = call,
): Promise<TestResponse> => send(`/v1/certs/${certId}/opt-out/request`, buildJsonPost({ email }, headers));

export const submitWithdrawalCode = (
  certId: string,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
  send: Call = call,
): Promise<TestResponse> => send(`/v1/certs/${certId}/opt-out/confirm`, buildJsonPost(body, headers));

export const getCookies = (response: TestResponse): Readonly<Record<string, string>> => ({
  cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "",
});

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const listMailTo = async (address: string): Promise<readonly Mail[]> =>
  (await getWithKey(`/dev/mail?to=${encodeURIComponent(address)}`)).body.messages as Mail[];

const parseCode = (mail: Mail | undefined): string => /^\d{6}$/m.exec(mail?.text ?? "")?.[0] ?? "no code";

/** Lists emails that contain a code. Confirmations of a withdrawal are excluded. */
const listCodeMail = async (address: string): Promise<readonly Mail[]> =>
  (await listMailTo(address)).filter(({ text }) => /^\d{6}$/m.test(text));

/** Lists the codes sent to an address, newest first. */
export const listCodes = async (address: string): Promise<readonly string[]> => (await listCodeMail(address)).map(parseCode);

/** Lists the tokens in the links sent to an address, newest first. */
export const listLinkTokens = async (address: string): Promise<readonly string[]> =>
  (await listCodeMail(address)).map(({ text }) => /#m=([A-Za-z0-9_-]{43})$/m.exec(text)?.[1] ?? "no link");

export interface WithdrawalAttempt {
  readonly code: string;
  /** The cookie of the browser that requested the code. */
  readonly cookie: Readonly<Record<string, string>>;
}

export const startWithdrawal = async (certId: string, email: string): Promise<WithdrawalAttempt> => {
  const response = await requestWithdrawalCode(certId, email);
  if (response.status !== 200) throw new Error(`code not requested: ${response.text}`);
  const [code] = await listCodes(email);
  return { code: code as string, cookie: getCookies(response) };
};

export const createDifferentCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

export const withdrawCertificate = async (certificate: IssuedCertificate, scope?: string): Promise<TestResponse> => {
  const { code, cookie } = await startWithdrawal(certificate.certId, certificate.email);
  const response = await submitWithdrawalCode(certificate.certId, { email: certificate.email, code, ...(scope && { scope }) }, cookie);
  if (response.status !== 200) throw new Error(`not withdrawn: ${response.text}`);
  return response;
};

/** Counts the rows that withdrawing a certificate has written, by kind. */
export const countTraces = async (certId: string): Promise<Record<string, number>> => {
  const row = await env.DB.prepare(
    `SELECT
        (SELECT COUNT(*) FROM withdrawals WHERE cert_id = ?1) AS withdrawals,
        (SELECT COUNT(*) FROM audit_entries WHERE entity_id = ?1 AND type = 'certificate.revoked') AS audit,
        (SELECT COUNT(*) FROM anchors WHERE entity_id = ?1 AND event = 'certificate.revoked') AS anchors`,
  )
    .bind(certId)
    .first<Record<string, number>>();
  return row as Record<string, number>;
};

/** Inserts a withdrawal directly, for tests that only display one. Triggers update the certificate and its counters. */
export const insertWithdrawal = (db: D1Database, certId: string): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO withdrawals (cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, receipt, signature, signature_kid)
       SELECT c.id, c.business_id, c.environment, ?2, ?2 + 1, 'email_code', 'certificate', '{}', 'none', 'none' FROM certificates c WHERE c.id = ?1`,
    )
    .bind(certId, Date.now());

// People as tests sign them in: through the doors, with the code from the mail.
import { env } from "cloudflare:workers";
import type { Realm } from "../../core/access/session.ts";
import { call, type Answer, type Call } from "./world.ts";
import { newestCode } from "./mailed-code.ts";

export const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const askForCode = (email: string, realm: Realm, service: Call = call): Promise<Answer> =>
  service("/v1/auth/request-code", json({ email, realm }));

export const giveCode = (email: string, code: string, realm: Realm, headers: Record<string, string> = {}, service: Call = call) =>
  service("/v1/auth/verify-code", json({ email, code, realm }, headers));

export interface CapturedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const mailsTo = async (email: string): Promise<readonly CapturedMail[]> =>
  (await call(`/dev/mail?to=${encodeURIComponent(email)}`)).body.messages;

export const codeIn = ({ text }: CapturedMail): string => newestCode([{ text }]) as string;

/** The newest code mailed to an address. */
export const codeFor = async (email: string): Promise<string> => newestCode(await mailsTo(email)) as string;

/** Six digits that are not the code. */
export const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

export const cookieOf = (answer: Answer): string => (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;

/** Codes, sessions and mail of earlier tests, as if a quarter of an hour had passed. */
export const forgetCodes = async (): Promise<void> => {
  await env.DB.batch(
    ["mailed_codes", "mailed_code_failures", "mail_outbox", "captured_mail"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
};

let signedIn = 0;

/** Signs in and answers with the cookie as a header. */
export const signIn = async (email: string, realm: Realm = "business"): Promise<{ readonly cookie: string }> => {
  await env.DB.prepare("DELETE FROM mailed_codes").run();
  signedIn += 1;
  const at = { "cf-connecting-ip": `2001:db8:face:${signedIn.toString(16)}::1` }; // one address may ask thirty times an hour
  await call("/v1/auth/request-code", json({ email, realm }, at));
  const answer = await giveCode(email, await codeFor(email), realm);
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.text}`);
  return { cookie: cookieOf(answer) };
};

// People as tests sign them in: through the doors, with the code from the mail.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import type { Realm } from "../../core/access/session.ts";
import { hexOf } from "../../core/bytes.ts";
import { firstHome, newId } from "../../core/ids.ts";
import { comparableMailbox } from "../../core/mailbox.ts";
import { batch, databaseOf } from "../../storage/database.ts";
import { insertConsumer } from "../../storage/people.ts";
import { mailedCodes } from "../../storage/schema.ts";
import { insertSession } from "../../storage/sessions.ts";
import type { Env } from "../../workers/env.ts";
import { newSession } from "../../workers/operations/access/sessions.ts";
import { platformOf } from "../../workers/services.ts";
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

/** Signs in with the code from the mail, and answers with the cookie as a header. */
export const signInByMail = async (email: string, realm: Realm = "business"): Promise<{ readonly cookie: string }> => {
  await env.DB.prepare("DELETE FROM mailed_codes").run();
  signedIn += 1;
  const at = { "cf-connecting-ip": `2001:db8:face:${signedIn.toString(16)}::1` }; // one address may ask thirty times an hour
  await call("/v1/auth/request-code", json({ email, realm }, at));
  const answer = await giveCode(email, await codeFor(email), realm);
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.text}`);
  return { cookie: cookieOf(answer) };
};

/**
 * The same in one batch, with the statements of a sign-in: for tests of something else, which would spend much of their time at the doors.
 * For whoever is of the first home; who is invited joins by the mail. test/api/sign-in.test.ts holds the rows of both against each other.
 */
export const signIn: typeof signInByMail = async (email, realm = "business") => {
  const services = await platformOf(env as unknown as Env);
  const { vault, random } = services;
  const db = databaseOf(env.DB);
  const emailIndex = await vault.blindIndex("email", comparableMailbox(email) as string);
  const { token, row } = await newSession(services, firstHome, undefined);
  const { tokenHash: sessionHash, now } = row;
  const codeId = crypto.randomUUID();
  const spent = { codeId, sessionHash };
  const code = {
    id: codeId,
    purpose: "login",
    topic: realm,
    addressIndex: emailIndex,
    codeHash: "",
    createdAt: now,
    expiresAt: now,
  } as const;
  const consumer = { email, name: null, id: newId("con_", firstHome, random), emailIndex, chainTag: hexOf(random(16)), now };
  const results = await batch(db, [
    db.insert(mailedCodes).values({ ...code, sessionHash }),
    ...(realm === "consumer" ? await insertConsumer(db, vault, consumer, spent) : []),
    insertSession(db, row, { realm, emailIndex, codeId }),
    db.delete(mailedCodes).where(eq(mailedCodes.id, codeId)),
  ]);
  return results.at(-2)?.meta.changes === 0 ? signInByMail(email, realm) : { cookie: `svc_session=${token}` };
};

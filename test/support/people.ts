// Signs people in by email code, through the API or directly in the database.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import type { Realm } from "../../core/access/session.ts";
import { toHex } from "../../core/bytes.ts";
import { firstShard, generateId } from "../../core/ids.ts";
import { toStoredIndex, type StoredIndex } from "../../core/access/address-index.ts";
import { normalizeEmailAddress } from "../../core/email-address.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { insertConsumer } from "../../storage/people.ts";
import { emailCodes } from "../../storage/schema.ts";
import { insertSessionByCode } from "../../storage/sessions.ts";
import { prepareSession } from "../../workers/operations/access/prepare-session.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { call, type TestResponse, type Call } from "./world.ts";
import { findNewestCode } from "./email-code.ts";

export const buildJsonRequest = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const requestEmailCode = (email: string, realm: Realm, service: Call = call): Promise<TestResponse> =>
  service("/v1/auth/request-code", buildJsonRequest({ email, realm }));

export const submitEmailCode = (email: string, code: string, realm: Realm, headers: Record<string, string> = {}, service: Call = call) =>
  service("/v1/auth/verify-code", buildJsonRequest({ email, code, realm }, headers));

export interface CapturedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const listMailTo = async (email: string): Promise<readonly CapturedMail[]> =>
  (await call(`/dev/mail?to=${encodeURIComponent(email)}`)).body.messages;

export const parseCode = ({ text }: CapturedMail): string => findNewestCode([{ text }]) as string;

export const findEmailCode = async (email: string): Promise<string> => findNewestCode(await listMailTo(email)) as string;

export const createDifferentCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

export const getCookie = (response: TestResponse): string => (response.headers.get("set-cookie") ?? "").split(";")[0] as string;

/** Deletes the codes, failed attempts and emails of earlier tests. */
export const clearCodes = async (): Promise<void> => {
  await env.DB.batch(
    ["email_codes", "email_code_failures", "mail_outbox", "captured_mail"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
};

/** Deletes the records of earlier notices to owners, so that the next notice is emailed immediately. */
export const forgetOwnerNotices = async (): Promise<void> => {
  for (const db of [env.DB, env.DB_01]) await db.prepare("DELETE FROM owner_notices").run();
};

let signInCount = 0;

/** Signs in with an email code and returns the cookie header. */
export const signInByEmail = async (email: string, realm: Realm = "business"): Promise<{ readonly cookie: string }> => {
  await env.DB.prepare("DELETE FROM email_codes").run();
  signInCount += 1;
  // Uses a new IP address each time, because the limit is 30 requests per hour per IP address.
  const ipHeader = { "cf-connecting-ip": `2001:db8:face:${signInCount.toString(16)}::1` };
  await call("/v1/auth/request-code", buildJsonRequest({ email, realm }, ipHeader));
  const response = await submitEmailCode(email, await findEmailCode(email), realm);
  if (response.status !== 200) throw new Error(`not signed in: ${response.text}`);
  return { cookie: getCookie(response) };
};

/**
 * Signs in by writing a sign-in's rows to the database in one batch, for tests that are not about signing in. Works for people in the first
 * shard; invited people must sign in by email. test/api/sign-in.test.ts checks that both ways write the same rows.
 */
export const signIn: typeof signInByEmail = async (email, realm = "business") => {
  const services = await getPlatform(env);
  const { vault, random } = services;
  const db = openDatabase(env.DB);
  const emailIndex = await vault.blindIndex("email", normalizeEmailAddress(email) as string);
  const { token, row } = await prepareSession(services, firstShard, undefined);
  const { tokenHash: sessionHash, now } = row;
  const codeId = crypto.randomUUID();
  const spent = { codeId, sessionHash };
  const code = {
    id: codeId,
    purpose: "login",
    topic: realm,
    addressIndex: toStoredIndex(emailIndex),
    codeHash: "" as StoredIndex,
    createdAt: now,
    expiresAt: now,
  } as const;
  const consumer = { email, name: null, id: generateId("con_", firstShard, random), emailIndex, chainTag: toHex(random(16)), now };
  const results = await batch(db, [
    db.insert(emailCodes).values({ ...code, sessionHash }),
    ...(realm === "consumer" ? await insertConsumer(db, vault, consumer, spent) : []),
    insertSessionByCode(db, row, { realm, emailIndex, codeId }),
    db.delete(emailCodes).where(eq(emailCodes.id, codeId)),
  ]);
  return results.at(-2)?.meta.changes === 0 ? signInByEmail(email, realm) : { cookie: `svc_session=${token}` };
};

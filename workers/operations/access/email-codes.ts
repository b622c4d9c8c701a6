// The one way to mail a code and to judge its answer, whatever the address is proved for. Nothing it costs or leaves behind tells
// whether anybody is mailed.
import { generateEmailCode, findMatchingCodeId, type EmailCodeLimits } from "../../../core/access/email-code.ts";
import type { TemplatedMail, MailLanguage } from "../../../core/mail/templates.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { consumeCodeAttempt, isCodeUsable, insertEmailCode, isCodeUnusable, type CodeRequester } from "../../../storage/email-codes.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** What the hash of a code is bound to, so that a hash moved to another row fits no code there. */
export type CodeBinding = (id: string) => string;

/** The rows of a new code and its mail, for one batch. Past a limit the code is dead and the mail one to nobody. */
export const prepareEmailCode = async (
  services: ReadDependencies,
  db: Database,
  asker: CodeRequester,
  request: {
    readonly limits: EmailCodeLimits;
    readonly binding: CodeBinding;
    /** Null where the address is not one to mail; then nobody is. */
    readonly to: string | null;
    readonly mail: (code: string, id: string) => Promise<TemplatedMail>;
    readonly language: MailLanguage;
    /** What it opens besides what it proves. */
    readonly opens?: string | null;
    readonly now: Instant;
  },
): Promise<{ readonly id: string; readonly rows: readonly Statement[] }> => {
  const { vault } = services;
  const { to, language, now } = request;
  const id = crypto.randomUUID();
  const code = generateEmailCode(services.random);
  const [codeHash, mail] = await Promise.all([vault.codeHash(request.binding(id), code), request.mail(code, id)]);
  // One of the two mails is written.
  const about = { ...mail, language, now, ...(asker.certId !== null && { certId: asker.certId }) };
  const mails = await Promise.all([
    insertMail(db, vault, { ...about, to, onlyIf: isCodeUsable(id) }),
    insertMail(db, vault, { ...about, to: null, onlyIf: isCodeUnusable(id) }),
  ]);
  return { id, rows: [insertEmailCode(db, asker, request.limits, { id, codeHash, opens: request.opens ?? null, now }), ...mails.flat()] };
};

/** Spends a try and then compares; the code that was answered, null for none. */
export const verifyEmailCode = async (
  { vault, clock }: ReadDependencies,
  db: Database,
  asker: CodeRequester,
  { limits, binding, code }: { readonly limits: EmailCodeLimits; readonly binding: CodeBinding; readonly code: string },
): Promise<string | null> => {
  const tried = await consumeCodeAttempt(db, asker, limits, clock());
  // As many hashes as there can be codes, so that the time does not tell how many there were.
  const slots = Array.from({ length: limits.maxActive }, (_, at) => tried[at] ?? { id: "", codeHash: "" });
  return findMatchingCodeId(
    await Promise.all(slots.map(async ({ id, codeHash }) => ({ id, expected: codeHash, given: await vault.codeHash(binding(id), code) }))),
  );
};

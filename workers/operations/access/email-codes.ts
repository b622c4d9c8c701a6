// Creates and verifies email codes, for sign-in and for withdrawals. The response, its duration and the number of written rows do not
// reveal whether the address receives an email.
import { toStoredIndex } from "../../../core/access/address-index.ts";
import { generateEmailCode, findMatchingCodeId, type EmailCodeLimits } from "../../../core/access/email-code.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import type { TemplatedMail } from "../../../core/mail/templates.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { consumeCodeAttempt, isCodeUsable, insertEmailCode, isCodeUnusable, type CodeRequester } from "../../../storage/email-codes.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Builds the text that a code's hash covers. It contains the code's ID for a withdrawal, and the realm and address for a sign-in.
 * Therefore, a hash does not match if someone copies it to the row of another withdrawal code or another address.
 */
export type CodeBinding = (id: string) => string;

/**
 * Prepares a new code and its email for one batch. If a limit in `request.limits` is reached, the code is expired from the start and the
 * email has no recipient. The batch writes the same number of rows in both cases.
 */
export const prepareEmailCode = async (
  services: ReadDependencies,
  db: Database,
  requester: CodeRequester,
  request: {
    readonly limits: EmailCodeLimits;
    readonly binding: CodeBinding;
    /** The recipient; null if the address must not receive an email. */
    readonly to: string | null;
    readonly mail: (code: string, id: string) => Promise<TemplatedMail>;
    readonly language: Language;
    /** The ID of the sign-up or invitation that the code is for. */
    readonly signupId?: string | null;
    /** The consumer whose account the code is for. Deleting the account deletes the email. */
    readonly consumerId?: ConsumerId;
    readonly now: Instant;
  },
): Promise<{ readonly id: string; readonly statements: readonly Statement[] }> => {
  const { vault } = services;
  const { to, language, now, consumerId } = request;
  const id = crypto.randomUUID();
  const code = generateEmailCode(services.random);
  const [codeHash, mail] = await Promise.all([vault.codeHash(request.binding(id), code), request.mail(code, id)]);
  const content = {
    ...mail,
    language,
    now,
    ...(requester.certId !== null && { certId: requester.certId }),
    ...(consumerId !== undefined && { consumerId }),
  };
  // Exactly one of these two conditions is true, so the batch writes exactly one of the two emails.
  const mails = await Promise.all([
    insertMail(db, vault, { ...content, to, entityId: id, onlyIf: isCodeUsable(id) }),
    insertMail(db, vault, { ...content, to: null, entityId: id, onlyIf: isCodeUnusable(id) }),
  ]);
  return {
    id,
    statements: [
      insertEmailCode(db, requester, request.limits, { id, codeHash: toStoredIndex(codeHash), signupId: request.signupId ?? null, now }),
      ...mails.flat(),
    ],
  };
};

/** Counts one attempt and then compares the code. Returns the ID of the matching code, or null. */
export const verifyEmailCode = async (
  { vault, clock }: ReadDependencies,
  db: Database,
  requester: CodeRequester,
  { limits, binding, code }: { readonly limits: EmailCodeLimits; readonly binding: CodeBinding; readonly code: string },
): Promise<string | null> => {
  const candidates = await consumeCodeAttempt(db, requester, limits, clock());
  // Always compute `maxActive` hashes, so that the duration does not reveal how many codes exist.
  const slots = Array.from({ length: limits.maxActive }, (_, index) => candidates[index] ?? { id: "", codeHash: "" });
  return findMatchingCodeId(
    await Promise.all(
      slots.map(async ({ id, codeHash }) => ({
        id,
        expected: vault.readIndex(codeHash),
        submitted: await vault.codeHash(binding(id), code),
      })),
    ),
  );
};

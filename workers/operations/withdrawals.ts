// Withdrawal: the person asks for a code, answers it or follows the link they were given; or the business records what it
// was told. Load, decide, commit. The state of the business's account is never asked: withdrawing is the person's.
import type { Actor } from "../../core/actor.ts";
import { verifyOrigin } from "../../core/access/origins.ts";
import type { Principal } from "../../core/access/principal.ts";
import { canonicalJson, type Json } from "../../core/canonical-json.ts";
import { receiptUrlOf, verifyUrlOf, withdrawalReceiptView, withdrawalView } from "../../core/certificates/views.ts";
import type { PublishedWithdrawal } from "../../core/certificates/published.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { CertId } from "../../core/ids.ts";
import type { Fact } from "../../core/facts.ts";
import { comparableMailbox } from "../../core/mailbox.ts";
import type { MailLanguage } from "../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { isoOf, type Instant } from "../../core/time.ts";
import { isManageable, judgeAnswer, judgeToken } from "../../core/withdrawals/answer.ts";
import { codeLimits } from "../../core/withdrawals/code.ts";
import { drawCode } from "../../core/access/mailed-code.ts";
import { withdrawalReceiptText } from "../../core/withdrawals/receipt.ts";
import {
  receivedAt,
  withdraw,
  type RecordedChannel,
  type WithdrawableCertificate,
  type WithdrawalMethod,
  type WithdrawalScope,
} from "../../core/withdrawals/withdrawal.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { certificateById, sealedMailbox } from "../../storage/certificates.ts";
import { commit } from "../../storage/commit.ts";
import { StorageFault } from "../../storage/faults.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../storage/idempotency.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { ownerAddresses } from "../../storage/owners.ts";
import { codesWithLink, forgetFailures, ifOfUse, insertCode, consumeAttempt, unlessOfUse } from "../../storage/withdrawal-codes.ts";
import {
  continueWithdrawalWork,
  finishWithdrawalWork,
  insertWithdrawalWork,
  type WithdrawalWork,
} from "../../storage/outboxes/withdrawals.ts";
import {
  activeWithAddress,
  insertWithdrawal,
  isWithdrawnAlready,
  withdrawableById,
  type WithdrawableRecord,
} from "../../storage/withdrawals.ts";
import type { Platform, Services } from "../services.ts";
import { attestedCertificate } from "./attestations.ts";
import { viewContext } from "./view-context.ts";

type JsonObject = { readonly [key: string]: Json };

export interface Withdrawn {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
}

/** What a confirm answers. */
export const withdrawnView = (services: Services, withdrawn: Withdrawn): JsonObject => ({
  revoked: true,
  cease_by: isoOf(withdrawn.ceaseBy),
  withdrawn_at: isoOf(withdrawn.withdrawnAt),
  receipt_url: receiptUrlOf(services.config.baseUrl, withdrawn.certId),
});

const recordOf = async (
  services: Services,
  certId: CertId,
): Promise<{ readonly db: Database; readonly record: WithdrawableRecord } | null> => {
  const db = services.homes.of(certId);
  const record = db === null ? null : await withdrawableById(db, certId);
  return db === null || record === null ? null : { db, record };
};

const storeOf = (platform: Platform, db: Database) => ({ db, vault: platform.vault, ledgerId: platform.config.ledger.id });

/** Bound to its row, so that a hash moved to another row fits no code there. */
const codePurpose = (id: string): string => `withdrawal ${id}`;

/**
 * Asks for a code. Whether or not the address is on the certificate, the same is read, opened, hashed, sealed and written,
 * and nobody waits for a mail: to an address that is not, the mail is one to nobody. Refuses `cert_not_found` only.
 */
export const requestWithdrawalCode = async (
  services: Services,
  asked: { readonly certId: CertId; readonly email: string; readonly context: string; readonly language: MailLanguage },
): Promise<Result<true, "cert_not_found">> => {
  const found = await recordOf(services, asked.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  const { certificate } = record;
  const now = services.clock();
  const id = crypto.randomUUID();
  const code = drawCode(services.random);
  const [addressIndex, codeHash, linkToken, mailbox] = await Promise.all([
    services.vault.blindIndex("email", comparableMailbox(asked.email) ?? ""),
    services.vault.codeHash(codePurpose(id), code),
    services.vault.linkToken(codePurpose(id)),
    sealedMailbox(services.vault, certificate.id, certificate.businessId, record.subjectSealed),
  ]);
  const isOnCertificate = record.emailIndex === addressIndex;
  const mail = {
    template: "withdrawal_code",
    data: {
      code,
      business_name: certificate.businessName,
      verify_url: `${verifyUrlOf(services.config.verifyUrl, certificate.id)}#m=${linkToken}`,
    },
    language: asked.language,
    now,
  } as const;
  // One of the two is written: past a limit the mail is one to nobody, as it is for an address that is not on the
  // certificate; and it goes to the address as it stands there, never as it was typed here.
  const mails = await Promise.all([
    insertMail(db, services.vault, { ...mail, to: isOnCertificate ? mailbox : null, onlyIf: ifOfUse(id) }),
    insertMail(db, services.vault, { ...mail, to: null, onlyIf: unlessOfUse(id) }),
  ]);
  const fact: Fact = {
    type: "optout.code_requested",
    entityType: "certificate",
    entityId: certificate.id,
    at: now,
    chains: [certificate.chain],
    actor: { kind: "visitor" }, // the chain is the business's: it does not learn whether the address was right
    payload: {},
  };
  const asker = { certId: certificate.id, addressIndex, contextHash: sha256Hex(asked.context) };
  await commit(storeOf(services, db), [insertCode(db, asker, { id, codeHash, now }), ...mails.flat()], [fact]);
  services.scheduleMail();
  services.scheduleFollowUp();
  return ok(true);
};

// A batch holds at most 100 statements: a withdrawal is four (its row, audit entry, statement, event), so twenty of them
// leave room for the mails to the owners and what else belongs to the change.
const mostInBatch = 20;

interface Change {
  readonly method: WithdrawalMethod;
  readonly scope: WithdrawalScope;
  readonly recorded: { readonly channel: RecordedChannel; readonly receivedAt: Instant; readonly note: string | null } | null;
  readonly actor: Actor;
  readonly now: Instant;
}

/**
 * The batch that withdraws `certificates`, with everything that follows; `others` are rows that belong to the same change.
 * Answers with the first of the withdrawals.
 */
const commitWithdrawals = async (
  platform: Platform,
  db: Database,
  certificates: readonly WithdrawableCertificate[],
  change: Change,
  others: (first: PublishedWithdrawal) => readonly Statement[] | Promise<readonly Statement[]>,
): Promise<PublishedWithdrawal> => {
  const [first] = certificates;
  if (first === undefined) throw new Error("withdrawals: nothing to withdraw");
  const made = await Promise.all(
    certificates.map(async (certificate) => {
      const { withdrawal, fact } = withdraw({ certificate, ...change });
      const text = withdrawalReceiptText(certificate, withdrawal);
      const signature = { kid: platform.signer.kid, alg: "Ed25519" as const, value: await platform.signer.sign(text) };
      return { withdrawal, fact, rows: await insertWithdrawal(db, platform.vault, certificate, withdrawal, { text, signature }) };
    }),
  );
  const { withdrawal } = made[0] as (typeof made)[number];
  const owners = await ownerAddresses(db, platform.vault, first.businessId);
  const mails = await Promise.all(
    owners.map((to) =>
      insertMail(db, platform.vault, {
        template: "withdrawal_owner_notice",
        data: { cert_ids: certificates.map(({ id }) => id), cease_by: withdrawal.ceaseBy },
        to,
        now: platform.clock(),
      }),
    ),
  );
  const done: PublishedWithdrawal = {
    withdrawnAt: withdrawal.withdrawnAt,
    ceaseBy: withdrawal.ceaseBy,
    method: withdrawal.method,
    scope: withdrawal.scope,
    receivedAt: withdrawal.recorded?.receivedAt ?? null,
    acknowledgedAt: null,
  };
  const rows = [...made.flatMap(({ rows }) => rows), ...(await others(done)), ...mails.flat()];
  await commit(
    storeOf(platform, db),
    rows,
    made.map(({ fact }) => fact),
  );
  return done;
};

const afterWithdrawal = (services: Services, { businessId }: WithdrawableCertificate): void => {
  services.scheduleEvents(businessId);
  services.scheduleMail();
  services.scheduleFollowUp();
};

const mostTries = 3; // another withdrawal of the same person can outdate one reading; more is not one person

/** Withdraws one certificate, and with scope `business` as many more as fit into the batch; the rest follows from an outbox. */
const commitByPerson = async (
  services: Services,
  db: Database,
  record: WithdrawableRecord,
  change: { readonly method: "email_code" | "manage_link"; readonly scope: WithdrawalScope; readonly actor: Actor },
): Promise<Result<PublishedWithdrawal, "already_revoked">> => {
  const { certificate, emailIndex } = record;
  for (let attempt = 1; attempt <= mostTries; attempt += 1) {
    const now = services.clock();
    const forgotten = emailIndex === null ? [] : [forgetFailures(db, { certId: certificate.id, addressIndex: emailIndex })];
    const work: WithdrawalWork | null =
      change.scope === "business" && emailIndex !== null
        ? {
            certId: certificate.id,
            businessId: certificate.businessId,
            environment: certificate.environment,
            addressIndex: emailIndex,
            issuedUntil: now,
            method: change.method,
          }
        : null;
    const others = work === null ? [] : (await activeWithAddress(db, work, mostInBatch + 1)).filter(({ id }) => id !== certificate.id);
    const isMore = others.length > mostInBatch - 1;
    try {
      const withdrawal = await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, mostInBatch - 1)],
        { ...change, recorded: null, now },
        () => [...forgotten, ...(work !== null && isMore ? [insertWithdrawalWork(db, work)] : [])],
      );
      if (isMore) services.scheduleRelay();
      afterWithdrawal(services, certificate);
      return ok(withdrawal);
    } catch (error) {
      if (!isWithdrawnAlready(error)) throw error;
      const again = await withdrawableById(db, certificate.id);
      if (again?.certificate.status === "revoked") return refuse("already_revoked");
    }
  }
  throw new StorageFault("outage"); // withdrawals kept outdating each other: nothing was written
};

/**
 * A browser says which site sent it: ours, or one of the business's. Other sites have no reason to answer a code; programs
 * name no site. The code is the proof either way.
 */
const isForeign = (services: Services, record: WithdrawableRecord, origin: string | null): boolean => {
  const { baseUrl, verifyUrl, appUrl, environment } = services.config;
  if (origin === null || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).origin === origin)) return false;
  const rules = { allowsLocalHttp: environment === "development", allowsSandboxLocalhost: record.certificate.environment === "sandbox" };
  return !verifyOrigin(origin, record.domains, rules).ok;
};

export type ConfirmRefusal = "cert_not_found" | "forbidden" | "opt_out_failed" | "already_revoked";

/**
 * Answers a code. A try is spent before anything is compared; address and code are judged together. Refuses
 * `opt_out_failed` for everything that is not the right pair, and `already_revoked` for the right pair only.
 */
export const confirmWithdrawal = async (
  services: Services,
  asked: {
    readonly certId: CertId;
    readonly email: string;
    readonly code: string;
    readonly context: string | null;
    readonly scope: WithdrawalScope;
    readonly origin: string | null;
  },
): Promise<Result<Withdrawn, ConfirmRefusal>> => {
  const found = await recordOf(services, asked.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  if (isForeign(services, record, asked.origin)) return refuse("forbidden");
  const addressIndex = await services.vault.blindIndex("email", comparableMailbox(asked.email) ?? "");
  const contextHash = sha256Hex(asked.context ?? "");
  const tried = await consumeAttempt(db, { certId: asked.certId, addressIndex, contextHash }, services.clock());
  // As many hashes as there can be codes, so that the time does not tell how many there were.
  const slots = Array.from({ length: codeLimits.mostLive }, (_, at) => tried[at] ?? { id: "", codeHash: "" });
  const compared = await Promise.all(
    slots.map(async ({ id, codeHash }) => ({ expected: codeHash, given: await services.vault.codeHash(codePurpose(id), asked.code) })),
  );
  const judged = judgeAnswer({
    addressOnCertificate: record.emailIndex,
    addressGiven: addressIndex,
    compared,
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  const done = await commitByPerson(services, db, record, {
    method: "email_code",
    scope: asked.scope,
    actor: { kind: "subject", provenBy: "email_code" },
  });
  return done.ok ? ok({ certId: asked.certId, withdrawnAt: done.value.withdrawnAt, ceaseBy: done.value.ceaseBy }) : done;
};

/** Hashes of the tokens whose links were mailed within their life. */
const mailedLinks = async (services: Services, db: Database, { certificate, emailIndex }: WithdrawableRecord, now: Instant) => {
  if (emailIndex === null) return [];
  const ids = await codesWithLink(db, { certId: certificate.id, addressIndex: emailIndex }, now);
  return Promise.all(ids.map(async (id) => sha256Hex(await services.vault.linkToken(codePurpose(id)))));
};

/** Follows the link from the receipt of the form, or from the mail with a code: its token is the proof. Refuses as `confirmWithdrawal`. */
export const withdrawByLink = async (
  services: Services,
  asked: { readonly certId: CertId; readonly token: string; readonly scope: WithdrawalScope; readonly origin: string | null },
): Promise<Result<Withdrawn, ConfirmRefusal>> => {
  const found = await recordOf(services, asked.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  if (isForeign(services, record, asked.origin)) return refuse("forbidden");
  const now = services.clock();
  const judged = judgeToken({
    expectedHash: record.manageTokenHash,
    mailedHashes: await mailedLinks(services, db, record, now),
    givenHash: sha256Hex(asked.token),
    isInTime: isManageable(record.certificate.issuedAt, now),
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  const method = judged.value;
  const done = await commitByPerson(services, db, record, { method, scope: asked.scope, actor: { kind: "subject", provenBy: method } });
  return done.ok ? ok({ certId: asked.certId, withdrawnAt: done.value.withdrawnAt, ceaseBy: done.value.ceaseBy }) : done;
};

/** Only the business's own, of its key's environment; anything else is no certificate. */
const ownRecord = async (services: Services, principal: Principal, certId: CertId) => {
  const found = await recordOf(services, certId);
  const certificate = found?.record.certificate;
  return certificate?.businessId === principal.business.id && certificate.environment === principal.environment ? found : null;
};

export interface Recording {
  readonly channel: RecordedChannel;
  readonly receivedAt: Instant;
  readonly note: string | null;
  readonly idempotencyKey: string | null;
}

type RecordRefusal = "cert_not_found" | "already_revoked" | "invalid_request" | "idempotency_conflict";

/**
 * The business records a withdrawal that reached it by other means. The certificate is revoked now; the deadline counts from
 * when the business was told. Refuses cert_not_found, invalid_request (told in the future), idempotency_conflict,
 * already_revoked.
 */
export const recordWithdrawal = async (
  services: Services,
  principal: Principal,
  certId: CertId,
  { idempotencyKey, ...told }: Recording,
): Promise<Result<{ readonly answer: JsonObject; readonly replayed: boolean }, RecordRefusal>> => {
  const found = await ownRecord(services, principal, certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  const { vault } = services;
  const now = services.clock();
  const at = receivedAt(told.receivedAt, now);
  if (!at.ok) return at;
  const route = `POST /v1/certs/${certId}/withdrawals`;
  const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(principal.keyId, route, idempotencyKey);
  const bodyHash = sha256Hex(canonicalJson(told));
  const kept = async (): Promise<Result<{ readonly answer: JsonObject; readonly replayed: boolean }, "idempotency_conflict"> | null> => {
    const answer = keyHash === null ? null : await keptAnswer(db, vault, keyHash, now);
    if (answer === null) return null;
    return answer.bodyHash === bodyHash
      ? ok({ answer: JSON.parse(answer.response) as JsonObject, replayed: true })
      : refuse("idempotency_conflict");
  };
  const earlier = await kept();
  if (earlier !== null) return earlier;
  if (record.certificate.status === "revoked") return refuse("already_revoked");

  const answerOf = (done: PublishedWithdrawal): JsonObject => {
    const withdrawal = withdrawalView(certId, done, viewContext(services));
    return { withdrawal, cease_by: withdrawal.cease_by as string };
  };
  const recorded = { ...told, receivedAt: at.value };
  const change = {
    method: "business_recorded",
    scope: "certificate",
    recorded,
    actor: { kind: "api_key", id: principal.keyId },
    now,
  } as const;
  try {
    const done = await commitWithdrawals(services, db, [record.certificate], change, async (first) => {
      if (keyHash === null) return [];
      return insertAnswer(db, vault, { keyHash, bodyHash, status: 201, response: JSON.stringify(answerOf(first)), now });
    });
    afterWithdrawal(services, record.certificate);
    return ok({ answer: answerOf(done), replayed: false });
  } catch (error) {
    if (!isTakenKey(error) && !isWithdrawnAlready(error)) throw error;
    return (await kept()) ?? refuse("already_revoked"); // the same request, twice at once: the other one recorded it
  }
};

/** Goes on with withdrawals from everything that did not fit into their first batch. */
export const continueWithdrawals = async (platform: Platform, db: Database, work: WithdrawalWork): Promise<void> => {
  const certificates = await activeWithAddress(db, work, mostInBatch);
  const next =
    certificates.length < mostInBatch ? finishWithdrawalWork(db, work.certId) : continueWithdrawalWork(db, work.certId, platform.clock());
  if (certificates.length === 0) {
    await next.run();
    return;
  }
  // The moment of the person's act, not of this batch: that is when they took it back.
  const change: Change = {
    method: work.method,
    scope: "business",
    recorded: null,
    actor: { kind: "subject", provenBy: work.method },
    now: work.issuedUntil,
  };
  await commitWithdrawals(platform, db, certificates, change, () => [next]);
};

/** The signed receipt; `not_found` while the certificate is active. */
export const withdrawalReceipt = async (
  services: Services,
  certId: CertId,
): Promise<Result<JsonObject, "cert_not_found" | "not_found">> => {
  const db = services.homes.of(certId);
  const certificate = db === null ? null : await certificateById(db, certId);
  if (certificate === null) return refuse("cert_not_found");
  const { withdrawal } = await attestedCertificate(services.platform, certificate);
  return withdrawal === null ? refuse("not_found") : ok(withdrawalReceiptView(withdrawal));
};

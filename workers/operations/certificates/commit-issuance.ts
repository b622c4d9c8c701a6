// Commits an issued certificate in one batch.
import { parseStoredReceipt, serializeStoredReceipt, type CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { IssuedCertificate } from "../../../core/certificates/issue.ts";
import type { RecognizedFields } from "../../../core/certificates/recognized-fields.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { toUnplacedCertificate } from "../../../core/certificates/published-certificate.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ShardId } from "../../../core/ids.ts";
import { journalOfClient } from "../../../core/intake/journal-name.ts";
import { captureReuseMs } from "../../../core/policies/snapshot.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { toDayNumber } from "../../../core/time.ts";
import type { JournalEntry } from "../../../durable-objects/intake-journal/entry.ts";
import { isSnapshotCurrent } from "../../../storage/account-snapshots.ts";
import { buildIssuanceStatements } from "../../../storage/issuances.ts";
import { buildDomainEventStatements, scheduleDomainEventWork } from "../../../storage/commit.ts";
import { batch, compileStatement, shapeResults, type Statement } from "../../../storage/database.ts";
import { openIdempotentResponse, sealResponse, type IdempotencyHashes } from "../../../storage/idempotency.ts";
import { insertTwin } from "../../../storage/intake.ts";
import { runIsolated } from "../../log.ts";
import type { Runtime } from "../dependencies.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { commitOrJournal } from "../intake/commit-or-journal.ts";
import { deriveManageToken } from "./manage-token.ts";
import { confirmClient, type SubmissionClient } from "./resolve-submission-client.ts";
import { warnOwnersNearDailyLimit } from "./warn-owners-near-daily-limit.ts";

export const rootSaltBytes = 32;

/** Returns a URL without its query and fragment, which can contain personal data. */
const stripQuery = (pageUrl: string): string => {
  const url = new URL(pageUrl);
  return url.origin + url.pathname;
};

/**
 * Builds the response to an issuance. It depends only on the stored certificate and on our keys and URLs, so a repeated request gets the
 * same response.
 */
export const buildCaptureReceipt = (
  services: Runtime,
  issued: Omit<CaptureReceipt, "verifyUrl" | "manageUrl">,
  manageToken: string,
): CaptureReceipt => {
  const { certId, fingerprint, issuedAt, environment, fieldsUnrecognized, answered } = issued;
  const verifyUrl = buildVerifyUrl(services.config.verifyUrl, certId);
  return {
    certId,
    fingerprint,
    issuedAt,
    verifyUrl,
    environment,
    manageUrl: `${verifyUrl}#m=${manageToken}`,
    fieldsUnrecognized,
    answered,
  };
};

/**
 * Remembers the database size that D1 reports with each write, so that checking whether a shard is full needs no query. Results of
 * statements that return rows do not contain the size.
 */
const recordShardSize = ({ intakeState, clock }: CertificateWriteDependencies, shard: ShardId, results: readonly unknown[]): void => {
  const sizes = results.flatMap((result) => (result as Partial<D1Result>).meta?.size_after ?? []);
  const size = sizes.at(-1);
  if (size !== undefined) intakeState.recordSize(shard, size, clock());
};

export interface CaptureResult {
  readonly receipt: CaptureReceipt;
  /** True if an earlier request with this idempotency key issued the certificate. */
  readonly isReplayed: boolean;
}

interface IssuanceOptions {
  readonly recognized: RecognizedFields;
  readonly idempotencyHashes: IdempotencyHashes | null;
  readonly hasApiKey: boolean;
}

/** Signs the certificate, and builds its capture receipt and the statements that store it. */
const prepareIssuance = async (
  services: CertificateWriteDependencies,
  client: SubmissionClient,
  { certificate, domainEvent }: IssuedCertificate,
  { recognized, hasApiKey }: IssuanceOptions,
) => {
  const db = services.shards.get(client.shard);
  const [manageToken, value, emails, phones] = await Promise.all([
    deriveManageToken(services, { certId: certificate.id, rootSalt: certificate.rootSalt }),
    services.signer.sign(certificate.canonical),
    Promise.all(recognized.emails.map((email) => services.vault.blindIndex("email", email))),
    Promise.all(recognized.phones.map((phone) => services.vault.blindIndex("phone", phone))),
  ]);
  const receipt = buildCaptureReceipt(
    services,
    {
      ...certificate,
      certId: certificate.id,
      fieldsUnrecognized: certificate.notes.fields_unrecognized ?? [],
      answered: certificate.recipients.answered ?? null,
    },
    manageToken,
  );
  const signature = { kid: services.signer.kid, alg: "Ed25519", value } as const;
  const issuance = await buildIssuanceStatements(db, services.vault, certificate, {
    revision: client.known.account.revision,
    signature,
    addresses: { emails, phones },
    policiesNotBefore: certificate.issuedAt - captureReuseMs,
    policyOrigin: new URL(String(certificate.evidence.origin_reported)).origin,
    policyPage: stripQuery(String(certificate.evidence.page_url)),
    storageLimits: services.config.storageLimits,
    hasApiKey,
  });
  const eventStatements = await buildDomainEventStatements(db, services, [domainEvent]);
  const day = toDayNumber(certificate.issuedAt);
  return { db, certificate, day, manageToken, receipt, signature, issuance, eventStatements };
};

type PreparedIssuance = Awaited<ReturnType<typeof prepareIssuance>>;

const buildJournalEntry = async (
  { vault }: CertificateWriteDependencies,
  client: SubmissionClient,
  { db, certificate, day, manageToken, receipt, signature, issuance, eventStatements }: PreparedIssuance,
  idempotencyHashes: IdempotencyHashes | null,
): Promise<JournalEntry> => ({
  certId: certificate.id,
  clientId: client.id,
  day,
  fingerprint: certificate.fingerprint,
  issuedAt: certificate.issuedAt,
  receipt: idempotencyHashes && {
    ...idempotencyHashes,
    receiptSealed: await sealResponse(vault, idempotencyHashes.keyHash, serializeStoredReceipt(receipt)),
  },
  published: JSON.stringify(toUnplacedCertificate(certificate, signature, issuance.subjectMasked)),
  statements: [...Object.values<Statement>(issuance.buildUnconditional()), ...eventStatements].map(compileStatement),
  twinStatements: [compileStatement(insertTwin(db, certificate, { signature, manageTokenHash: sha256Hex(manageToken) }))],
});

/**
 * Commits an issuance and the rows for its follow-up work as one batch, usually the only database round trip of a submission. If the
 * database does not respond, journals the same rows. Throws errors that `isOutdatedRevision`, `isDailyLimitReached`,
 * `isStorageLimitReached` and `isCertIdTaken` recognize. In these cases, nothing was written. Returns `idempotency_conflict` only if the
 * journal contains the key.
 */
export const commitIssuance = async (
  services: CertificateWriteDependencies,
  client: SubmissionClient,
  issued: IssuedCertificate,
  options: IssuanceOptions,
): Promise<Result<CaptureResult, "idempotency_conflict">> => {
  const { idempotencyHashes, hasApiKey } = options;
  const { account, room } = client.known;
  const limits = services.config.storageLimits.client;
  const prepared = await prepareIssuance(services, client, issued, options);
  const { db, certificate, day, receipt, issuance, eventStatements } = prepared;
  const written = await commitOrJournal(services, {
    journal: journalOfClient(client.shard, client.id),
    target: client.target,
    commit: async () => {
      const results = await batch(db, [...Object.values<Statement>(issuance.statements), ...eventStatements]);
      recordShardSize(services, client.shard, results);
      return shapeResults(issuance.statements, results);
    },
    buildEntry: isSnapshotCurrent(client.known, services.clock())
      ? () => buildJournalEntry(services, client, prepared, idempotencyHashes)
      : null,
    room: hasApiKey ? null : room?.day === day ? room.left : (account.dailySubmissionLimit ?? limits.records),
    maxBytes: hasApiKey ? null : (account.dailyByteLimit ?? limits.bytes),
  });
  if (written.kind === "journaled") return ok({ receipt, isReplayed: false });
  if (written.kind === "repeated") {
    const { keyHash, bodyHash, receiptSealed } = written.receipt;
    if (bodyHash !== idempotencyHashes?.bodyHash) return refuse("idempotency_conflict");
    return ok({ receipt: parseStoredReceipt(await openIdempotentResponse(services.vault, keyHash, receiptSealed)), isReplayed: true });
  }
  const { usage, policyRequest } = written.results;
  confirmClient(services, client, usage[0] === undefined ? null : { day, left: usage[0].room });
  scheduleDomainEventWork(services, [issued.domainEvent]);
  if (policyRequest.length > 0) services.scheduleRelay();
  if (usage[0]?.isNear === true)
    services.waitUntil(() =>
      runIsolated(services, "warn-near-limit", () => warnOwnersNearDailyLimit(services, db, account.id, certificate)),
    );
  return ok({ receipt, isReplayed: false });
};

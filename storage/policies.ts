// Policy snapshots. D1 stores a row for each snapshot, and KV stores the text under the snapshot's ID. The text is written before the row
// and deleted after it. IDs are never reused, so KV never returns an outdated text. SPEC Policy snapshot.
import { desc, eq, gt, inArray, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { sha256Hex } from "../core/hash.ts";
import type { StorageLimit } from "../core/access/storage-limits.ts";
import { encodeUtf8 } from "../core/bytes.ts";
import { shardOfId, generateId, type CertId, type RandomBytes } from "../core/ids.ts";
import {
  policyKinds,
  type CapturedPolicies,
  type PolicyCapture,
  type PolicyKind,
  type PolicySnapshot,
  type PolicyText,
} from "../core/policies/snapshot.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { isForeignKeyViolation, isTriggerError, translateFaults } from "./faults.ts";
import { countStoredRecord, isStorageLimitReached } from "./record-usage.ts";
import { auditEntries, certificates, deletedPolicyTexts, policyCaptures as captures, policySnapshots as snapshots } from "./schema.ts";
import { allOf, existsIn, jsonList, notExistsIn, query } from "./query.ts";

const policyTextKey = (snapshotId: string): string => `policy:${snapshotId}`;

/** Returns the text of a snapshot. Returns null if the text cannot be read or does not match the snapshot's hash. */
export const findPolicyText = async (
  kv: KVNamespace,
  { id, contentHash }: Pick<PolicySnapshot, "id" | "contentHash">,
): Promise<string | null> => {
  try {
    const text = await translateFaults(() => kv.get(policyTextKey(id)));
    return text !== null && sha256Hex(text) === contentHash ? text : null;
  } catch {
    return null; // KV is unavailable, but the caller can still show the snapshot's hash, URL and date
  }
};

type KnownSnapshot = PolicySnapshot & { readonly kind: PolicyKind };

/** The snapshots of a capture. `newKinds` are the kinds of policies whose text is already in KV, but whose snapshot has no row yet. */
interface CapturedSnapshots {
  readonly policies: PolicyCapture["policies"];
  readonly newKinds: readonly PolicyKind[];
}

const snapshotFields = {
  id: snapshots.id,
  sourceUrl: snapshots.sourceUrl,
  contentHash: snapshots.contentHash,
  capturedAt: snapshots.capturedAt,
};

const listKnownSnapshots = (db: Database, domain: string, hashes: readonly string[]): Promise<KnownSnapshot[]> =>
  db
    .select({ ...snapshotFields, kind: snapshots.kind })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), inArray(snapshots.contentHash, jsonList(hashes))))
    .all();

/** Counts new texts toward the limit. If they exceed it, returns false and counts nothing. */
const hasRoomForTexts = async (
  db: Database,
  usageKey: string,
  texts: readonly PolicyText[],
  { now, limit }: { readonly now: Instant; readonly limit: StorageLimit },
): Promise<boolean> => {
  const ownBytes = texts.reduce((sum, { text }) => sum + encodeUtf8(text).length, 0);
  try {
    await countStoredRecord(db, { owner: { kind: "policies", id: usageKey }, now, ownBytes }, limit).run();
    return true;
  } catch (error) {
    if (isStorageLimitReached(error)) return false;
    throw error;
  }
};

/**
 * Stores the texts that have no snapshot in this domain yet, and returns the snapshot of each text. A limit applies to the new texts stored
 * under one `usageKey`, which consists of the business's ID and whether the page is known. If the new texts exceed it, none of them is
 * stored.
 */
export const storePolicyTexts = async (
  db: Database,
  kv: KVNamespace,
  captured: {
    readonly usageKey: string;
    readonly domain: string;
    readonly certId: string;
    readonly found: CapturedPolicies;
    readonly now: Instant;
    readonly limit: StorageLimit;
    readonly random: RandomBytes;
  },
): Promise<CapturedSnapshots> => {
  const { found, now } = captured;
  const hashes = policyKinds.flatMap((kind) => found[kind]?.contentHash ?? []);
  const known = await listKnownSnapshots(db, captured.domain, hashes);
  const earlierOf = (kind: PolicyKind): PolicySnapshot | null =>
    known.find((snapshot) => snapshot.kind === kind && snapshot.contentHash === found[kind]?.contentHash) ?? null;
  const missingKinds = policyKinds.filter((kind) => found[kind] !== null && earlierOf(kind) === null);
  const missingTexts = missingKinds.flatMap((kind) => found[kind] ?? []);
  const hasRoom = missingTexts.length > 0 && (await hasRoomForTexts(db, captured.usageKey, missingTexts, captured));
  const newKinds = hasRoom ? missingKinds : [];
  const storeText = async (kind: PolicyKind): Promise<PolicySnapshot | null> => {
    const text = found[kind];
    if (text === null || !newKinds.includes(kind)) return earlierOf(kind);
    const id = generateId("pol_", shardOfId(captured.certId), captured.random);
    await translateFaults(() => kv.put(policyTextKey(id), text.text));
    return { id, sourceUrl: text.sourceUrl, contentHash: text.contentHash, capturedAt: now };
  };
  return { policies: { privacy: await storeText("privacy"), terms: await storeText("terms") }, newKinds };
};

/** Lists deleted snapshots whose texts are still in KV. */
export const listDeletedPolicyTexts = (db: Database, max: number) => db.select().from(deletedPolicyTexts).limit(max).all();

/** Deletes the texts of deleted snapshots from KV, and then their rows in `deleted_policy_texts`. */
export const deletePolicyTexts = async (db: Database, kv: KVNamespace, snapshotIds: readonly string[]): Promise<void> => {
  for (const id of snapshotIds) await translateFaults(() => kv.delete(policyTextKey(id)));
  await db
    .delete(deletedPolicyTexts)
    .where(inArray(deletedPolicyTexts.snapshotId, jsonList(snapshotIds)))
    .run();
};

export interface PolicyLocation {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The URL of the page with the form, without its query. */
  readonly page: string;
}

/** Builds a condition that is true if a capture is newer than `notBefore` and covers this page or its entire origin. */
export const isSharedCapture = (origin: string | SQLWrapper, page: string | SQLWrapper, notBefore: Instant | SQLWrapper): SQL =>
  sql`${eq(captures.origin, origin)} and ${gt(captures.capturedAt, notBefore)} and (${captures.page} is null or ${eq(captures.page, page)})`;

/** A page counts as known for this long after a capture that found policies. Three days cover a weekend without submissions. */
const knownMs = 3 * dayMs;

/**
 * Builds a condition that is true if policies were recently found for this page or its entire origin. Anyone can submit made-up pages of a
 * business's site. Unknown pages therefore have lower limits, so that they cannot use up the captures and places in the queue that known
 * pages need.
 */
export const isKnownPage = (origin: string | SQLWrapper, page: string | SQLWrapper, now: Instant | SQLWrapper): SQL =>
  existsIn(
    captures,
    isSharedCapture(origin, page, sql`${now} - ${knownMs}`),
    sql`(${captures.privacyId} is not null or ${captures.termsId} is not null)`,
  );

export const hasKnownPolicies = async (db: Database, { origin, page }: PolicyLocation, now: Instant): Promise<boolean> =>
  (
    await db
      .select({ isKnown: isKnownPage(origin, page, now).mapWith(Boolean).as("is_known") })
      .from(sql`(select 1)`)
      .get()
  )?.isKnown === true;

const selectCapture = (db: Database) => {
  const privacy = alias(snapshots, "privacy");
  const terms = alias(snapshots, "terms");
  const fieldsOf = (table: typeof privacy | typeof terms) => ({
    id: table.id,
    sourceUrl: table.sourceUrl,
    contentHash: table.contentHash,
    capturedAt: table.capturedAt,
  });
  return db
    .select({ id: captures.id, privacy: fieldsOf(privacy), terms: fieldsOf(terms) })
    .from(captures)
    .leftJoin(privacy, eq(privacy.id, captures.privacyId))
    .leftJoin(terms, eq(terms.id, captures.termsId));
};

type CaptureRow = Awaited<ReturnType<ReturnType<typeof selectCapture>["all"]>>[number];

const toSnapshot = (row: CaptureRow["privacy"]): PolicySnapshot | null => (row?.id == null ? null : (row as PolicySnapshot));

const toCapture = (row: CaptureRow | undefined): PolicyCapture | null =>
  row === undefined ? null : { id: row.id, policies: { privacy: toSnapshot(row.privacy), terms: toSnapshot(row.terms) } };

/** Returns the newest capture that a certificate of this page can use, or null if there is none. */
export const findCaptureSince = async (db: Database, at: PolicyLocation, notBefore: Instant): Promise<PolicyCapture | null> =>
  toCapture(
    await selectCapture(db)
      .where(isSharedCapture(at.origin, at.page, notBefore))
      .orderBy(desc(captures.capturedAt))
      .limit(1)
      .get(),
  );

/**
 * Returns the capture that was linked to a certificate when it was issued. Returns null if there was none, or if a capture was linked
 * later. Only later links have an audit entry.
 */
export const findUnloggedCapture = async (db: Database, certId: CertId): Promise<PolicyCapture | null> => {
  const linked = query.select({ id: certificates.policyCaptureId }).from(certificates).where(eq(certificates.id, certId));
  const isUnlogged = notExistsIn(auditEntries, eq(auditEntries.entityId, certId), eq(auditEntries.type, "policy.linked"));
  return toCapture(
    await selectCapture(db)
      .where(allOf(inArray(captures.ord, linked), isUnlogged))
      .get(),
  );
};

/**
 * Returns the statements that insert a capture and its new snapshots. The texts must already be stored. New IDs contain the shard of
 * `certId`. The batch fails if, in the meantime, a snapshot of the same text was inserted or a snapshot was deleted (`isOutdatedSnapshot`).
 */
export const insertPolicyCapture = (
  db: Database,
  captured: {
    readonly domain: string;
    readonly origin: string;
    /** The page's URL, or null if the capture covers all pages of the origin. */
    readonly page: string | null;
    readonly certId: string;
    readonly snapshots: CapturedSnapshots;
    readonly now: Instant;
    readonly random: RandomBytes;
  },
): { readonly capture: PolicyCapture; readonly rows: readonly Statement[] } => {
  const { domain, now } = captured;
  const { policies, newKinds } = captured.snapshots;
  const capture: PolicyCapture = { id: generateId("cap_", shardOfId(captured.certId), captured.random), policies };
  const insertSnapshot = (kind: PolicyKind, snapshot: PolicySnapshot) =>
    db
      .insert(snapshots)
      .values({ ...snapshot, domain, kind })
      .onConflictDoNothing();
  return {
    capture,
    rows: [
      ...newKinds.flatMap((kind) => {
        const snapshot = policies[kind];
        return snapshot === null ? [] : [insertSnapshot(kind, snapshot)];
      }),
      db.insert(captures).values({
        id: capture.id,
        domain,
        origin: captured.origin,
        page: captured.page,
        capturedAt: now,
        privacyId: policies.privacy?.id ?? null,
        termsId: policies.terms?.id ?? null,
      }),
    ],
  };
};

/** Links certificates to a capture. They then no longer wait for one. Fails if one of them already has a capture (`isAlreadyLinked`). */
export const linkPolicyCapture = (db: Database, captureId: string, certIds: readonly string[]) =>
  db
    .update(certificates)
    .set({
      policyCaptureId: sql`${query.select({ ord: captures.ord }).from(captures).where(eq(captures.id, captureId))}`,
      policyPageId: null,
    })
    .where(inArray(certificates.id, jsonList(certIds)));

export const isAlreadyLinked = (error: unknown): boolean => isTriggerError(error, "policies can be linked to a certificate only once");

export const isOutdatedSnapshot = (error: unknown): boolean => isForeignKeyViolation(error);

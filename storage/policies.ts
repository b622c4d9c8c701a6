// Snapshots of policies: rows in D1, the text in KV under its own hash. A text that is there can never be stale, and it
// is there before any row names it.
import { desc, eq, gt, inArray, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { sha256Hex } from "../core/hash.ts";
import { shardOfId, generateId, type RandomBytes } from "../core/ids.ts";
import { policyKinds, type CapturedPolicies, type PolicyKind, type PolicyText } from "../core/policies/snapshot.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { isTriggerError, translateFaults } from "./faults.ts";
import { certificates, policyCaptures as captures, policySnapshots as snapshots } from "./schema.ts";
import { allOf, jsonList, query } from "./query.ts";

const policyTextKey = (contentHash: string): string => `policy:${contentHash}`;

/** The text whose SHA-256 is `contentHash`; null when it cannot be had, or when what is kept under that hash is another text. */
export const findPolicyText = async (kv: KVNamespace, contentHash: string): Promise<string | null> => {
  try {
    const text = await translateFaults(() => kv.get(policyTextKey(contentHash)));
    return text !== null && sha256Hex(text) === contentHash ? text : null;
  } catch {
    return null; // the store is down; hash, address and date of the snapshot still stand
  }
};

/** Writes the texts that no snapshot of this domain names yet: the same text is written once, not every 15 minutes. */
export const storePolicyTexts = async (db: Database, kv: KVNamespace, domain: string, found: CapturedPolicies): Promise<void> => {
  const texts = policyKinds.flatMap((kind) => found[kind] ?? []);
  const rows = await db
    .select({ contentHash: snapshots.contentHash })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), inArray(snapshots.contentHash, jsonList(texts.map(({ contentHash }) => contentHash)))));
  const kept = new Set(rows.map(({ contentHash }) => contentHash));
  for (const { contentHash, text } of texts) {
    if (kept.has(contentHash)) continue;
    kept.add(contentHash); // one page can be both policies, and a key takes one write a second
    await translateFaults(() => kv.put(policyTextKey(contentHash), text));
  }
};

/** Where policies are looked for: an origin (scheme, host and port), and the page of the form without its query. */
export interface PolicyLocation {
  readonly origin: string;
  readonly page: string;
}

/** A capture of an origin's policies, as certificates are linked to it. */
export interface PolicyCapture {
  readonly id: string;
  /** Content hash by kind; null where it found none. */
  readonly hashes: Readonly<Record<PolicyKind, string | null>>;
}

/** Captures younger than `notBefore` that a certificate of this origin and page shares: everybody's there, or of that very page. */
export const isSharedCapture = (origin: string | SQLWrapper, page: string | SQLWrapper, notBefore: Instant | SQLWrapper): SQL =>
  sql`${eq(captures.origin, origin)} and ${gt(captures.capturedAt, notBefore)} and (${captures.page} is null or ${eq(captures.page, page)})`;

/** The newest of them. */
export const findCaptureSince = async (db: Database, at: PolicyLocation, notBefore: Instant): Promise<PolicyCapture | null> => {
  const privacy = alias(snapshots, "privacy");
  const terms = alias(snapshots, "terms");
  const row = await db
    .select({ id: captures.id, hashes: { privacy: privacy.contentHash, terms: terms.contentHash } })
    .from(captures)
    .leftJoin(privacy, eq(privacy.id, captures.privacyId))
    .leftJoin(terms, eq(terms.id, captures.termsId))
    .where(isSharedCapture(at.origin, at.page, notBefore))
    .orderBy(desc(captures.capturedAt))
    .limit(1)
    .get();
  return row ?? null;
};

/** The snapshot of a text, once it is there; NULL where it found none. */
const selectSnapshotId = (domain: string, kind: PolicyKind, text: PolicyText | null): SQL =>
  sql`${query
    .select({ id: snapshots.id })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), eq(snapshots.kind, kind), sql`${snapshots.contentHash} = ${text?.contentHash ?? null}`))}`;

/**
 * The rows of a capture: a snapshot for each text that is new to the domain, and the capture itself. `certId` names the home.
 * Their texts must be stored already.
 */
export const insertPolicyCapture = (
  db: Database,
  captured: {
    readonly domain: string;
    readonly origin: string;
    /** Null when everybody on the origin shares it. */
    readonly page: string | null;
    readonly certId: string;
    readonly found: CapturedPolicies;
    readonly now: Instant;
    readonly random: RandomBytes;
  },
): { readonly capture: PolicyCapture; readonly rows: readonly Statement[] } => {
  const { domain, found, now } = captured;
  const home = shardOfId(captured.certId);
  const hashes = { privacy: found.privacy?.contentHash ?? null, terms: found.terms?.contentHash ?? null };
  const capture: PolicyCapture = { id: generateId("cap_", home, captured.random), hashes };
  const insertSnapshot = (kind: PolicyKind, { sourceUrl, contentHash }: PolicyText) =>
    db
      .insert(snapshots)
      .values({ id: generateId("pol_", home, captured.random), domain, kind, sourceUrl, contentHash, capturedAt: now })
      .onConflictDoNothing({ target: [snapshots.domain, snapshots.kind, snapshots.contentHash] });
  return {
    capture,
    rows: [
      ...policyKinds.flatMap((kind) => {
        const text = found[kind];
        return text === null ? [] : [insertSnapshot(kind, text)];
      }),
      db.insert(captures).values({
        id: capture.id,
        domain,
        origin: captured.origin,
        page: captured.page,
        capturedAt: now,
        privacyId: selectSnapshotId(domain, "privacy", found.privacy),
        termsId: selectSnapshotId(domain, "terms", found.terms),
      }),
    ],
  };
};

/** For the batch that also deletes their outbox rows: fails, and takes the batch with it, when one of them is linked already. */
export const linkPolicyCapture = (db: Database, captureId: string, certIds: readonly string[]) =>
  db
    .update(certificates)
    .set({ policyCaptureId: captureId })
    .where(inArray(certificates.id, jsonList(certIds)));

/** True when the batch failed because another worker linked the same certificates first. */
export const isAlreadyLinked = (error: unknown): boolean => isTriggerError(error, "policies are linked once");

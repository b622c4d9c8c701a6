// Creates test audit logs and their entries, and verifies audit chains as a reader of the API can.
import { env } from "cloudflare:workers";
import { createGenesisHead, type ChainHead } from "../../core/audit/chain.ts";
import { verifyAuditProof, verifyEntries } from "./audit-verification.ts";
import type { ShardId } from "../../core/ids.ts";
import type { ChainHeadProof } from "../../durable-objects/audit-log/proofs.ts";
import type { AuditRow, ChainPage } from "../../durable-objects/audit-log/tables.ts";
import { noteCrypto, openKeysNamed } from "../../storage/note-keys.ts";

const objects = env.AUDIT_LOG;

/**
 * Returns the ID of a test audit log. It belongs to no shard. A test that needs an empty log must use a number that no other test uses.
 */
export const toAuditLog = (number: number): ShardId => `t${"0123456789abcdefghjkmnpqrstvwxyz".charAt(number)}` as ShardId;

export const getAuditLogStub = (auditLog: ShardId) => objects.getByName(auditLog);
export type AuditStub = ReturnType<typeof getAuditLogStub>;

export const getAuditTrust = async (auditLog: ShardId) => {
  const origin = `svc.test/audit/${auditLog}`;
  const signers = await openKeysNamed({ secrets: undefined, logSeed: env.LOG_SEED }, origin);
  return { origin, keys: signers.map(({ key }) => key) };
};

export const toChainTag = (index: number): string => index.toString(16).padStart(32, "0");

export const buildAuditRow = (id: string, chain: string, change: Partial<AuditRow> = {}): AuditRow => ({
  id,
  changeOrd: 1,
  shard: "00",
  chain,
  type: "share.created",
  entityType: "share",
  entityId: `shr_${id}`,
  at: 1_772_600_767_089,
  payloadHash: "ab".repeat(32),
  payload: null,
  ...change,
});

/** Fetches a page of the chain and the proof of its head, as the service returns them. */
export const fetchChainWithProof = async (stub: AuditStub, chain: string): Promise<{ page: ChainPage; proven: ChainHeadProof }> => {
  const proven = (await stub.proveChainHead(chain)) as ChainHeadProof | null;
  if (proven === null) throw new Error("the log has no proof of this chain");
  const page = (await stub.getChainPage(chain, { limit: 10_000, belowSize: proven.size })) as ChainPage | null;
  if (page === null) throw new Error("no such chain");
  return { page, proven };
};

/**
 * Returns "ok" or the first fault. If the log proves that the chain is complete up to an entry, "ok" is followed by that entry's number.
 */
export const verifyChain = async (auditLog: ShardId, page: ChainPage, proven: ChainHeadProof): Promise<string> => {
  const place = { chain: page.chain, chainIndex: BigInt(page.chainIndex) };
  const oldestFirst = page.entries.toReversed();
  const entriesVerdict = verifyEntries(page.chain, createGenesisHead(place), oldestFirst);
  if (!entriesVerdict.ok) return `${entriesVerdict.fault} at ${entriesVerdict.seq}`;
  const head: ChainHead = { seq: BigInt(page.head.seq), hash: page.head.hash };
  if (entriesVerdict.head.seq !== head.seq || entriesVerdict.head.hash !== head.hash) return "head is not the newest entry";
  const hashOf = (seq: bigint): string | undefined => (seq === 0n ? undefined : oldestFirst[Number(seq) - 1]?.hash);
  const verdict = await verifyAuditProof(noteCrypto, await getAuditTrust(auditLog), place, head, hashOf, proven.proof);
  if (!verdict.ok) return verdict.fault;
  return verdict.complete === null ? "ok" : `ok, complete up to ${verdict.complete.seq}`;
};

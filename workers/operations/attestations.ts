// What others attest of checkpoints: asked for once a quarter of an hour, tried again each minute until there is an answer, and
// shown with every statement that an attested checkpoint covers. Nothing waits for it: it only ever adds.
import { base64Of, bytesOfBase64, bytesOfHex } from "../../core/bytes.ts";
import type { AttestedStatement } from "../../core/certificates/attested.ts";
import type { PublishedAnchor, PublishedCertificate } from "../../core/certificates/published.ts";
import { sha256 } from "../../core/hash.ts";
import type { AttestOutcome, CheckpointToAttest } from "../../core/ledger/attestor.ts";
import { parseReceipt, type Receipt } from "../../core/ledger/receipt.ts";
import { inclusionFault } from "../../core/ledger/tlog-proof.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import {
  attestedCheckpoint,
  claimAttestations,
  endAttestation,
  witnessedSize,
  type AttestationEnd,
  type DueAttestation,
} from "../../storage/checkpoints.ts";
import { retryDelayMs } from "../../storage/ledger.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";
import { checkpointWindow } from "./windows.ts";

const mostAtOnce = 8; // a few attestors, each with one row a log: more is a backlog, and the next minute has its turn

/** Leads from an earlier tree of one of our two logs to this one: the audit log answers itself, the ledger by its tiles. */
export const consistencyOf =
  (platform: Platform, origin: string, size: bigint, signal: AbortSignal): CheckpointToAttest["consistencyProof"] =>
  async (fromSize) => {
    const [ledger] = platform.ledgers;
    if (ledger !== undefined && platform.config.ledger.origin === origin) {
      const read = await ledger.consistency(fromSize, size, signal);
      if (!read.ok) throw new Error(`attestations: ${"code" in read ? read.code : read.kind}`);
      return read.hashes;
    }
    const shard = Number(/\/audit\/(\d+)$/.exec(origin)?.[1] ?? Number.NaN);
    const hashes = await platform.auditLog(shard).consistencyProof(fromSize.toString(), size.toString());
    return hashes.map((hash) => bytesOfBase64(hash) ?? new Uint8Array(0));
  };

const attempt = async (platform: Platform, db: Database, row: DueAttestation): Promise<AttestOutcome> => {
  const attestor = platform.attestors.find(({ kind, name }) => kind === row.kind && name === row.attestor);
  if (attestor === undefined) return { ok: false, kind: "permanent", code: "not_configured" };
  const signal = AbortSignal.timeout(30 * secondMs);
  const size = BigInt(row.size);
  return attestor.attest(
    {
      note: row.note,
      size,
      witnessedSize: row.kind === "cosignature" ? BigInt(await witnessedSize(db, row.origin, row.attestor)) : 0n,
      consistencyProof: consistencyOf(platform, row.origin, size, signal),
    },
    signal,
  );
};

const endOf = (outcome: AttestOutcome, row: DueAttestation, now: Instant): AttestationEnd => {
  if (outcome.ok) return { status: outcome.verified ? "attested" : "unverified", attestation: outcome.attestation };
  if (outcome.kind === "permanent") return { status: "given_up" };
  return { status: "pending", nextAt: now + Math.max(outcome.afterMs ?? 0, retryDelayMs(row.attempts, Math.random())) };
};

/** What an operator should look at: a witness that has seen another history, an authority that signs with an unknown key. */
const alarmOf = (outcome: AttestOutcome, row: DueAttestation): string | null => {
  if (outcome.ok) return outcome.verified ? null : `${row.attestor} stamped with a key that is not pinned`;
  return outcome.kind === "permanent" ? `${row.attestor} refuses: ${outcome.code}` : null;
};

/** Asks for what is due, side by side: an attestor that hangs keeps no other waiting. */
export const attestDue = async (platform: Platform): Promise<void> => {
  const [first] = platform.homes.all();
  if (first === undefined || platform.attestors.length === 0) return;
  const [, db] = first;
  const due = await claimAttestations(db, mostAtOnce, platform.clock());
  await Promise.all(
    due.map(async (row) => {
      try {
        const outcome = await attempt(platform, db, row);
        const alarm = alarmOf(outcome, row);
        if (alarm !== null) platform.log.fault({ at: "attestations", error: alarm });
        await endAttestation(db, row, endOf(outcome, row, platform.clock())).run();
      } catch (error) {
        platform.log.fault({ at: "attestations", error: kindOfError(error) }); // its lease passes, and it is due again
      }
    }),
  );
};

const known = new WeakMap<Platform, Map<string, AttestedStatement>>();
const mostKnown = 1_000; // about 2 KiB each
const shownWithinMs = 2 * secondMs; // a ledger that is slow is not waited for by somebody who reads a certificate

const remembered = (platform: Platform): Map<string, AttestedStatement> => {
  const statements = known.get(platform) ?? new Map<string, AttestedStatement>();
  known.set(platform, statements);
  return statements;
};

const findAttested = async (platform: Platform, receipt: Receipt): Promise<AttestedStatement | null> => {
  const { config, ledgers } = platform;
  const [ledger] = ledgers;
  const [first] = platform.homes.all();
  const leaf = bytesOfBase64(receipt.leaf_hash);
  if (ledger === undefined || first === undefined || leaf === null || receipt.ledger !== ledger.id) return null;
  const checkpoint = await attestedCheckpoint(first[1], {
    origin: config.ledger.origin,
    index: receipt.leaf_index,
    sinceWindow: checkpointWindow(Date.parse(receipt.submitted_at)),
    witnessMin: config.witnessMin,
    needsStamp: config.authorities.length > 0,
  });
  const root = checkpoint === null ? null : bytesOfHex(checkpoint.root);
  if (checkpoint === null || root === null) return null;
  const index = BigInt(receipt.leaf_index);
  const size = BigInt(checkpoint.size);
  const proof = await ledger.inclusion(index, size, AbortSignal.timeout(shownWithinMs));
  if (!proof.ok) return null; // it is shown the next time somebody looks
  const fault = inclusionFault({ sha256 }, { leaf, index, hashes: proof.hashes }, { size, root });
  if (fault !== null) throw new Error(`attestations: ${fault}`);
  return { note: checkpoint.note, inclusionProof: proof.hashes.map(base64Of), attestations: checkpoint.attestations };
};

const isAttesting = (platform: Platform): boolean => platform.attestors.some(({ of }) => of === "every log");

/** What others attested about the statement of a receipt; null while nobody has. Found once, it stays what it is. */
export const attestedStatement = async (platform: Platform, receipt: Receipt | null): Promise<AttestedStatement | null> => {
  if (receipt === null || !isAttesting(platform)) return null;
  const statements = remembered(platform);
  const kept = statements.get(receipt.tx_ref);
  if (kept !== undefined) return kept;
  try {
    const found = await findAttested(platform, receipt);
    if (found === null) return null;
    const [oldest] = statements.keys();
    if (statements.size >= mostKnown && oldest !== undefined) statements.delete(oldest);
    statements.set(receipt.tx_ref, found);
    return found;
  } catch (error) {
    platform.log.fault({ at: "attestations", error: kindOfError(error) });
    return null;
  }
};

/** The anchor with what others attested of it. */
const withAttested = async (platform: Platform, anchor: PublishedAnchor | null): Promise<PublishedAnchor | null> => {
  if (anchor?.status !== "anchored" || anchor.receipt === null || !isAttesting(platform)) return anchor;
  return { ...anchor, attested: await attestedStatement(platform, parseReceipt(anchor.receipt)) };
};

/** The certificate with what others attested of its issuance, and of its withdrawal. */
export const attestedCertificate = async (platform: Platform, certificate: PublishedCertificate): Promise<PublishedCertificate> => {
  const { withdrawal } = certificate;
  const [anchor, revocation] = await Promise.all([
    withAttested(platform, certificate.anchor),
    withAttested(platform, withdrawal?.anchor ?? null),
  ]);
  return { ...certificate, anchor, withdrawal: withdrawal === null ? null : { ...withdrawal, anchor: revocation } };
};

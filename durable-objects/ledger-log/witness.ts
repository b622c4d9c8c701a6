// c2sp.org/tlog-witness: cosigns another log's checkpoints, each only if it continues the last one cosigned. Whoever sets that
// log back, or shows different trees to different readers, gets no cosignature for it.
import { sha256 } from "../../core/hash.ts";
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from "../../core/ledger/checkpoint.ts";
import { areBytesEqual } from "../../core/bytes.ts";
import { computeEmptyRoot, isConsistent, type TreeHead } from "../../core/ledger/merkle.ts";
import { createCosignatureLine, parseNote, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { parseAddCheckpointRequest, sizeMediaType, type AddCheckpointRequest } from "../../core/ledger/witness.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import { textResponse } from "../transparency-log/responses.ts";

const getWitnessedHead = (sql: SqlStorage, origin: string): TreeHead => {
  const [row] = sql.exec<{ size: string; root: ArrayBuffer }>("SELECT size, root FROM witnessed WHERE origin = ?", origin).toArray();
  return row === undefined ? { size: 0n, root: computeEmptyRoot(sha256) } : { size: BigInt(row.size), root: new Uint8Array(row.root) };
};

const conflictResponse = (size: bigint): Response => textResponse(409, `${size}\n`, { "Content-Type": sizeMediaType });

/** Checks against what was cosigned last and replaces it, in one step; null when the checkpoint is now the newest. */
const advanceWitnessedHead = (sql: SqlStorage, request: AddCheckpointRequest, next: Checkpoint): Response | null => {
  const last = getWitnessedHead(sql, next.origin);
  if (request.oldSize !== last.size) return conflictResponse(last.size);
  if (next.size === last.size && !areBytesEqual(next.root, last.root)) return conflictResponse(last.size);
  if (!isConsistent(sha256, last, next, request.proof))
    return textResponse(422, "The proof does not lead from the old tree to this one.\n");
  sql.exec(
    `INSERT INTO witnessed (origin, size, root, note) VALUES (?, ?, ?, ?)
     ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note`,
    next.origin,
    next.size.toString(),
    next.root,
    request.checkpoint,
  );
  return null;
};

/**
 * 400 malformed, 404 a log nobody told us to watch, 403 not signed by it, 409 another old size than ours (the answer is ours) or
 * another root at the same size, 422 not a continuation; else 200 and our cosignature.
 */
export const cosignCheckpoint = async (
  storage: DurableObjectStorage,
  body: string,
  watched: readonly VerifierKey[],
  signer: NoteSigner,
  clock: Clock,
): Promise<Response> => {
  const request = parseAddCheckpointRequest(body);
  const claimed = request === null ? null : parseCheckpoint(request.checkpoint);
  if (request === null || claimed === null) return textResponse(400, "The body is not an old size, a proof and a checkpoint.\n");
  const keys = watched.filter(({ name }) => name === claimed.origin);
  if (keys.length === 0) return textResponse(404, "This log is not watched here.\n");
  const verdict = await verifyCheckpoint(noteCrypto, request.checkpoint, { origin: claimed.origin, keys });
  if (!verdict.ok) return textResponse(403, "The checkpoint is not signed by the log it names.\n");
  if (request.oldSize > claimed.size) return textResponse(400, "The old size is larger than the checkpoint's.\n");
  // No await between reading the last size and writing the new one: two requests at once cannot both move it.
  const refusal = storage.transactionSync(() => advanceWitnessedHead(storage.sql, request, verdict.checkpoint));
  if (refusal !== null) return refusal;
  await storage.sync(); // on disk before it is cosigned
  const text = parseNote(request.checkpoint)?.text ?? "";
  return textResponse(200, await createCosignatureLine(text, signer, BigInt(Math.floor(clock() / secondMs))));
};

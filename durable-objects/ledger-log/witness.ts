// Implements c2sp.org/tlog-witness. The witness cosigns a log's checkpoint only if it extends the last checkpoint that the witness cosigned
// for this log. Therefore, a log that was reset, or that shows different trees to different readers, cannot get cosignatures for both
// versions.
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from "../../core/ledger/checkpoint.ts";
import { areBytesEqual } from "../../core/bytes.ts";
import { isConsistent } from "../../core/ledger/merkle.ts";
import { createCosignatureLine, memoizeNoteCrypto, parseNote, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { parseAddCheckpointRequest, sizeMediaType, type AddCheckpointRequest } from "../../core/ledger/witness.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import { textResponse } from "../transparency-log/responses.ts";
import { getWitnessedHead, saveWitnessedHead } from "./tables.ts";

const conflictResponse = (size: bigint): Response => textResponse(409, `${size}\n`, { "Content-Type": sizeMediaType });

/** Saves the checkpoint if it extends the last cosigned one. Otherwise, returns the refusal. */
const advanceWitnessedHead = (sql: SqlStorage, request: AddCheckpointRequest, next: Checkpoint): Response | null => {
  const last = getWitnessedHead(sql, next.origin);
  if (request.oldSize !== last.size) return conflictResponse(last.size);
  if (next.size === last.size && !areBytesEqual(next.root, last.root)) return conflictResponse(last.size);
  if (!isConsistent(last, next, request.proof)) return textResponse(422, "The proof must lead from the old tree to the new one.\n");
  saveWitnessedHead(sql, next, request.checkpoint);
  return null;
};

/**
 * Cosigns a checkpoint. Responds with
 * - 400 if the request is malformed, or if the old size is larger than the size of the checkpoint;
 * - 404 if `listKeys` returns no key for the log;
 * - 403 if the log did not sign the checkpoint;
 * - 409 and the last cosigned size if the old size is not that size, or if the checkpoint has that size but a different root;
 * - 422 if the proof does not connect the two trees;
 * - 200 and the cosignature otherwise.
 */
export const cosignCheckpoint = async (
  storage: DurableObjectStorage,
  body: string,
  listKeys: (origin: string) => Promise<readonly VerifierKey[]>,
  signer: NoteSigner,
  clock: Clock,
): Promise<Response> => {
  const request = parseAddCheckpointRequest(body);
  const claimed = request === null ? null : parseCheckpoint(request.checkpoint);
  if (request === null || claimed === null) return textResponse(400, "The body must have an old size, a proof and a checkpoint.\n");
  const keys = await listKeys(claimed.origin);
  if (keys.length === 0) return textResponse(404, "This witness does not cosign for this log.\n");
  // A request can repeat one signature on up to 100 lines. With the memoized crypto, it is checked only once.
  const verdict = await verifyCheckpoint(memoizeNoteCrypto(noteCrypto), request.checkpoint, { origin: claimed.origin, keys });
  if (!verdict.ok) return textResponse(403, "The checkpoint must be signed by the log it names.\n");
  if (request.oldSize > claimed.size) return textResponse(400, "The old size must not be larger than the size of the checkpoint.\n");
  // No `await` between reading the last size and saving the new one. Otherwise, two concurrent requests could both extend the same tree.
  const refusal = storage.transactionSync(() => advanceWitnessedHead(storage.sql, request, verdict.checkpoint));
  if (refusal !== null) return refusal;
  await storage.sync(); // the new size must be on disk before the checkpoint is cosigned
  const text = parseNote(request.checkpoint)?.text ?? "";
  return textResponse(200, await createCosignatureLine(text, signer, BigInt(Math.floor(clock() / secondMs))));
};

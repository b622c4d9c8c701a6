// The settings, keys and bearer tokens of the embedded ledger.
import { isEqualConstantTime, sha256 } from "../../core/hash.ts";
import { isKeyInUse, parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { keyKinds, parseVkey, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { openNoteSigner } from "../../storage/note-keys.ts";
import { textResponse } from "../transparency-log/responses.ts";
import { openLogKeys, type LogKeys } from "../transparency-log/signing.ts";

export interface LedgerEnv {
  /** The log's name: host and path without a scheme. The log is served below that path. */
  readonly LEDGER_ORIGIN?: string;
  /** The log's secret in note format; during a rotation, two secrets separated by a space. */
  readonly LEDGER_KEY?: string;
  /** The bearer token that may add entries. */
  readonly LEDGER_WRITE_TOKEN?: string;
  /** The bearer token that may read entries. */
  readonly LEDGER_AUDITOR_TOKEN?: string;
  /** "true": anyone may read entries. */
  readonly LEDGER_PUBLIC_ENTRIES?: string;
  /** Secret of the witness that cosigns other logs. */
  readonly LEDGER_WITNESS_KEY?: string;
  /** Public keys of the logs to cosign, separated by spaces, each followed by its validity period if it has one. */
  readonly AUDIT_VKEY?: string;
  /** How many entries are accepted per second. Beyond that, the response is 429. */
  readonly LEDGER_ENTRIES_PER_SECOND?: string;
}

export interface LedgerKeys {
  readonly log: LogKeys;
  readonly witness: NoteSigner | null;
}

/** Opens the keys. Throws an error that contains the setting's name but never its value. */
export const openLedgerKeys = async (env: LedgerEnv): Promise<LedgerKeys> => {
  const log = await openLogKeys(env.LEDGER_KEY ?? "");
  if (log.origin !== env.LEDGER_ORIGIN) throw new Error("LEDGER_KEY must be a key of the log named by LEDGER_ORIGIN");
  const witness = env.LEDGER_WITNESS_KEY ? await openNoteSigner(env.LEDGER_WITNESS_KEY) : null;
  if (witness !== null && witness.key.kind !== keyKinds.witness) throw new Error("LEDGER_WITNESS_KEY must be a witness key");
  return { log, witness };
};

/** Returns other logs' keys that are currently valid. */
export const listWatchedKeys = ({ AUDIT_VKEY: keys = "" }: LedgerEnv): VerifierKey[] =>
  keys
    .split(/\s+/)
    .map(parseKeyWithValidity)
    .filter((entry) => entry !== null && isKeyInUse(entry, new Date().toISOString()))
    .map((entry) => parseVkey(sha256, entry?.key ?? ""))
    .filter((key): key is VerifierKey => key?.kind === keyKinds.log);

type AccessRight = "write" | "audit";

const isToken = (token: string, expected: string | undefined): boolean =>
  expected !== undefined && expected !== "" && isEqualConstantTime(token, expected);

const getAccessRight = (env: LedgerEnv, request: Request): AccessRight | null => {
  const token = /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.get("Authorization") ?? "")?.[1];
  if (token === undefined) return null;
  if (isToken(token, env.LEDGER_WRITE_TOKEN)) return "write";
  return isToken(token, env.LEDGER_AUDITOR_TOKEN) ? "audit" : null;
};

/**
 * Returns null if the request has the permission, otherwise 401 for a missing or unknown token and 403 for a token with a different
 * permission.
 */
export const authorize = (env: LedgerEnv, request: Request, needed: AccessRight): Response | null => {
  const right = getAccessRight(env, request);
  if (right === needed) return null;
  return right === null
    ? textResponse(401, "A valid bearer token is required.\n", { "WWW-Authenticate": "Bearer" })
    : textResponse(403, "This token does not allow this request.\n");
};

// The settings, keys and bearer tokens of the embedded ledger.
import { isEqualConstantTime } from "../../core/hash.ts";
import { isKeyInUse, parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { getWitnessName, parseAuditOrigin } from "../../core/ledger/log-names.ts";
import { keyKinds, parseSkey, parseVkey, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { openKeysNamed } from "../../storage/note-keys.ts";
import type { TileEnv } from "../transparency-log/object.ts";
import { textResponse, type ReadAccess } from "../transparency-log/responses.ts";
import { openLogKeys, type LogKeys } from "../transparency-log/signing.ts";

export interface LedgerEnv extends TileEnv {
  /** The name of the first shard's log: host and path, without a scheme. The names of the other shards' logs are derived from it. */
  readonly LEDGER_ORIGIN?: string;
  /**
   * Secret keys in note format, separated by spaces. Each contains the name of a log, which then uses this key instead of a derived key.
   */
  readonly LEDGER_KEY?: string;
  /** The bearer token for adding entries. */
  readonly LEDGER_WRITE_TOKEN?: string;
  /** The bearer token for reading entries. */
  readonly LEDGER_AUDITOR_TOKEN?: string;
  /** If "true", anyone may read entries. */
  readonly LEDGER_PUBLIC_ENTRIES?: string;
  /** The secret key of the witness that cosigns other logs. Replaces the derived key. */
  readonly LEDGER_WITNESS_KEY?: string;
  /** The public keys of the logs whose checkpoints the witness cosigns, separated by spaces. A key can have a validity period. */
  readonly AUDIT_VKEY?: string;
  /**
   * The URL of the API. The names of the API's audit logs are derived from it. Set only if the ledger is part of the service's deployment.
   */
  readonly BASE_URL?: string;
  /** The secret keys of the API's audit logs, in the format of LEDGER_KEY. The witness uses only their public keys. */
  readonly AUDIT_KEY?: string;
  /** The number of newest level-0 tiles to keep in the log's tables. Set only in development. */
  readonly DEV_KEPT_TILES?: string;
  /** The maximum number of new entries per second. Further requests get 429. */
  readonly LEDGER_ENTRIES_PER_SECOND?: string;
}

export interface LedgerKeys {
  readonly log: LogKeys;
  readonly witness: NoteSigner | null;
}

/** Opens the witness's key. Returns null if neither LEDGER_WITNESS_KEY nor LOG_SEED is set. */
const openWitness = async (env: LedgerEnv): Promise<NoteSigner | null> => {
  const { LEDGER_WITNESS_KEY: secrets = "", LOG_SEED: logSeed = "" } = env;
  if (secrets === "" && logSeed === "") return null;
  const name = parseSkey(secrets)?.name ?? getWitnessName(env.LEDGER_ORIGIN ?? "");
  const [witness] = await openKeysNamed({ secrets, logSeed: secrets === "" ? logSeed : "" }, name, keyKinds.witness);
  return witness ?? null;
};

/**
 * Opens the keys of a log and of the witness. Throws if the log has no key or a secret is malformed. The error messages contain no secrets.
 */
export const openLedgerKeys = async (env: LedgerEnv, origin: string): Promise<LedgerKeys> => ({
  log: await openLogKeys({ secrets: env.LEDGER_KEY, logSeed: env.LOG_SEED }, origin),
  witness: await openWitness(env),
});

/** Lists the valid public keys of the log `origin`. The list is empty if the witness does not cosign for this log. */
export const listWatchedKeys = async (env: LedgerEnv, origin: string): Promise<readonly VerifierKey[]> => {
  const { BASE_URL: baseUrl = "", AUDIT_KEY: secrets, LOG_SEED: logSeed = "" } = env;
  const isOwn = logSeed !== "" && URL.canParse(baseUrl) && parseAuditOrigin(baseUrl, origin) !== null;
  const ownSigners = isOwn ? await openKeysNamed({ secrets, logSeed }, origin) : [];
  return [...ownSigners.map(({ key }) => key), ...listPinnedKeys(env).filter(({ name }) => name === origin)];
};

const listPinnedKeys = ({ AUDIT_VKEY: keys = "" }: LedgerEnv): VerifierKey[] =>
  keys
    .split(/\s+/)
    .map(parseKeyWithValidity)
    .filter((entry) => entry !== null && isKeyInUse(entry, new Date().toISOString()))
    .map((entry) => parseVkey(entry?.key ?? ""))
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
 * Returns null if the request's token grants the access right. Otherwise, returns 401 for a missing or unknown token, or 403 for a token
 * with a different right.
 */
export const authorize = (env: LedgerEnv, request: Request, needed: AccessRight): Response | null => {
  const right = getAccessRight(env, request);
  if (right === needed) return null;
  return right === null
    ? textResponse(401, "A valid bearer token is required.\n", { "WWW-Authenticate": "Bearer" })
    : textResponse(403, "This token does not allow this request.\n");
};

/** Anyone may read hashes. Entries require the auditor token unless they are public. */
export const createReadAccess = (env: LedgerEnv, request: Request): ReadAccess => {
  const entriesArePublic = env.LEDGER_PUBLIC_ENTRIES === "true";
  return { entriesArePublic, entriesRefusal: () => (entriesArePublic ? null : authorize(env, request, "audit")) };
};

// Compares the keys that a service publishes or uses with the keys in its secrets.
import { defaultLinkKeys, parseLinkKeys } from "../../core/access/link-keys.ts";
import { fromBase64 } from "../../core/bytes.ts";
import { parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { parseLedgerOrigin } from "../../core/ledger/log-names.ts";
import { deriveKeySeed, parseLogSeeds } from "../../core/ledger/log-seed.ts";
import { parseSkey } from "../../core/ledger/note.ts";
import type { TrustDocument } from "../../core/ledger/trust-document.ts";
import { openSigner } from "../../storage/signer.ts";
import type { Secrets } from "../deploy/secrets.ts";
import { noteKeyPair } from "../note-secret.ts";
import { splitWords } from "./changes.ts";
import { fetchFromService, type UsedLinkKeys } from "./service-calls.ts";

type CheckedKind = "issuer" | "logs";

interface ExpectedKey {
  readonly key: string;
  /** ISO 8601; null for a key that still signs. */
  readonly validTo: string | null;
}

const parseRetired = (text: string | undefined): readonly ExpectedKey[] =>
  splitWords(text).flatMap((word) => {
    const parsed = parseKeyWithValidity(word);
    return parsed?.validTo === undefined ? [] : [{ key: parsed.key, validTo: parsed.validTo }];
  });

const listIssuerKeys = async (secrets: Secrets): Promise<readonly ExpectedKey[]> => {
  const signer = await openSigner(fromBase64(secrets.ISSUER_KEY ?? "") ?? new Uint8Array(), []);
  return [...signer.publicKeys.map(({ x }) => ({ key: x, validTo: null })), ...parseRetired(secrets.RETIRED_ISSUER_KEYS)];
};

/** Lists the keys that the service's published logs should have according to the log seeds. Leaves out logs that have their own secrets. */
const listLogKeys = (secrets: Secrets, logs: TrustDocument["logs"]): readonly ExpectedKey[] => {
  const { LEDGER_ORIGIN: ledger = "", AUDIT_KEY: audit = "", LEDGER_KEY: own = "" } = secrets;
  const isCurrent = ({ role, origin }: TrustDocument["logs"][number]): boolean =>
    role === "audit" || (role === "primary" && parseLedgerOrigin(ledger, origin) !== null);
  const names = new Set(logs.filter(isCurrent).map(({ origin }) => origin));
  const derived = [...names].filter((name) => !splitWords(`${audit} ${own}`).some((secret) => parseSkey(secret)?.name === name));
  return derived.flatMap((name) =>
    (parseLogSeeds(secrets.LOG_SEED) ?? []).map(({ seed, validTo }) => ({
      key: noteKeyPair(name, deriveKeySeed(seed, name)).vkey,
      validTo: validTo ?? null,
    })),
  );
};

/** Returns a list with one sentence if the service does not use the link keys in the secrets, and otherwise an empty list. */
export const checkLinkKeys = ({ LINK_KEYS: text }: Secrets, used: UsedLinkKeys): readonly string[] => {
  const keys = text === undefined ? defaultLinkKeys : parseLinkKeys(text);
  if (keys === null) throw new Error("LINK_KEYS is not a list of link keys.");
  const expected = { current: keys.current.name, accepted: [keys.current, ...keys.others].map(({ name }) => name) };
  return JSON.stringify([expected.current, expected.accepted]) === JSON.stringify([used.current, used.accepted])
    ? []
    : [
        `The service creates links with key ${used.current} and accepts ${used.accepted.join(", ")}. It should use key ${expected.current} and accept ${expected.accepted.join(", ")}.`,
      ];
};

/**
 * Returns a sentence for each key that the service does not publish, or publishes with an unexpected end of validity. `api` is the root URL
 * of the API.
 */
export const checkPublishedKeys = async (kind: CheckedKind, secrets: Secrets, api: string): Promise<readonly string[]> => {
  const response = await fetchFromService(api, new URL("/.well-known/svc-trust.json", api));
  if (!response.ok) throw new Error(`${response.url} returned ${response.status}.`);
  const { logs, issuer_keys: issuer } = (await response.json()) as TrustDocument;
  const published = new Map(
    kind === "issuer" ? issuer.keys.map((key) => [key.x, key.valid_to] as const) : logs.map((log) => [log.vkey, log.valid_to] as const),
  );
  const expected = kind === "issuer" ? await listIssuerKeys(secrets) : listLogKeys(secrets, logs);
  return expected.flatMap(({ key, validTo }) =>
    published.has(key) && published.get(key) === validTo
      ? []
      : [`The service does not publish ${key} ${validTo === null ? "as a current key" : `as valid to ${validTo}`}.`],
  );
};

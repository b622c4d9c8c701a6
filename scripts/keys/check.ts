// Compares the keys that a service publishes with the keys that its secrets contain.
import { fromBase64 } from "../../core/bytes.ts";
import { parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import type { TrustDocument } from "../../core/ledger/trust-document.ts";
import { openSigner } from "../../storage/signer.ts";
import type { Secrets } from "../deploy/secrets.ts";
import { listLogVkeys, splitWords } from "./changes.ts";

type CheckedKind = "issuer" | "ledger" | "audit";

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

const listExpectedKeys = async (kind: CheckedKind, secrets: Secrets): Promise<readonly ExpectedKey[]> => {
  if (kind === "issuer") {
    const signer = await openSigner(fromBase64(secrets.ISSUER_KEY ?? "") ?? new Uint8Array(), []);
    return [...signer.publicKeys.map(({ x }) => ({ key: x, validTo: null })), ...parseRetired(secrets.RETIRED_ISSUER_KEYS)];
  }
  const of = kind === "audit" ? "AUDIT" : "LEDGER";
  return [
    ...listLogVkeys(secrets, of).map((key) => ({ key, validTo: null })),
    ...parseRetired(kind === "audit" ? secrets.AUDIT_VKEY : secrets.LEDGER_VKEYS),
  ];
};

/** Returns a sentence for each key that the service should publish and does not. `api` is the root of the API. */
export const checkPublishedKeys = async (kind: CheckedKind, secrets: Secrets, api: string): Promise<readonly string[]> => {
  const response = await fetch(new URL("/.well-known/svc-trust.json", api));
  if (!response.ok) throw new Error(`${response.url} returned ${response.status}.`);
  const { logs, issuer_keys: issuer } = (await response.json()) as TrustDocument;
  const published = new Map(
    kind === "issuer" ? issuer.keys.map((key) => [key.x, key.valid_to] as const) : logs.map((log) => [log.vkey, log.valid_to] as const),
  );
  return (await listExpectedKeys(kind, secrets)).flatMap(({ key, validTo }) =>
    published.has(key) && published.get(key) === validTo
      ? []
      : [`The service does not publish ${key} ${validTo === null ? "as a current key" : `as valid to ${validTo}`}.`],
  );
};

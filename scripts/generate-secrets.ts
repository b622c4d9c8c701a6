// Generates the secrets for a production deployment and the public keys to publish.
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { deriveKeySeed } from "../core/ledger/log-seed.ts";
import { keyKinds, type KeyKind } from "../core/ledger/note.ts";
import type { IssuerJwk } from "../core/ledger/trust-document.ts";
import { openSigner } from "../storage/signer.ts";
import { noteKeyPair } from "./note-secret.ts";

export interface DeploymentNames {
  /** The value of LEDGER_ORIGIN, in the form `host/path`. */
  readonly ledgerOrigin: string;
  /** One name for each shard, in the form `host/audit/00`. */
  readonly auditOrigins: readonly string[];
  readonly witnessName: string;
}

/** The secrets of a service, in the same order as in docs/operate/keys.md. */
export const serviceSecrets = ["MASTER_KEYS", "INDEX_KEY", "ISSUER_KEY", "LOG_SEED", "ANCHOR_KEY", "LEDGER_WRITE_TOKEN"] as const;
/** The secrets of a service with an embedded ledger, whose keys are derived from LOG_SEED. */
export const embeddedSecrets = [...serviceSecrets, "LEDGER_AUDITOR_TOKEN"] as const;
/** The secrets of a ledger in a different Cloudflare account. Of these, the service has only the write token. */
export const ledgerSecrets = ["LEDGER_KEY", "LEDGER_WITNESS_KEY", "LEDGER_WRITE_TOKEN", "LEDGER_AUDITOR_TOKEN"] as const;
export type SecretName = (typeof serviceSecrets)[number] | (typeof ledgerSecrets)[number] | "AUDIT_KEY";
/** Every secret that this file can generate. AUDIT_KEY, LEDGER_KEY and LEDGER_WITNESS_KEY replace keys that are otherwise derived. */
export const secretNames: readonly SecretName[] = [...new Set<SecretName>([...serviceSecrets, "AUDIT_KEY", ...ledgerSecrets])];

/** The property names match the published documents. */
export interface PublicParts {
  /** Settings for [vars] in wrangler.toml. */
  readonly vars?: { readonly AUDIT_VKEY?: string; readonly LEDGER_VKEYS?: string };
  readonly logs?: readonly { readonly origin: string; readonly vkey: string; readonly valid_from: string; readonly role: string }[];
  readonly witnesses?: readonly string[];
  readonly issuer_keys?: readonly IssuerJwk[];
  readonly anchor_keys?: readonly { readonly spki: string; readonly spki_sha256: string }[];
}

interface GeneratedSecret {
  readonly secret: string;
  readonly publicParts?: PublicParts;
}

const keyBytes = 32; // 256 bits is the key size of the strongest cipher used

const randomKeyBytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(keyBytes));
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const generateToken = (): GeneratedSecret => ({ secret: randomBytes(keyBytes).toString("base64url") });

const generateIssuerKey = async (): Promise<GeneratedSecret> => {
  const seed = randomKeyBytes();
  return { secret: toBase64(seed), publicParts: { issuer_keys: (await openSigner(seed, [])).publicKeys } };
};

const generateAnchorKey = (): GeneratedSecret => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    secret: toBase64(privateKey.export({ type: "pkcs8", format: "der" })),
    publicParts: { anchor_keys: [{ spki: toBase64(spki), spki_sha256: createHash("sha256").update(spki).digest("hex") }] },
  };
};

/**
 * Generates the seed of the logs. The public parts are the verification keys of the named logs, which are derived from the seed. If the
 * ledger is not embedded, they include only the keys of the audit logs, because an external ledger has its own keys.
 */
const generateLogSeed = (
  { auditOrigins, ledgerOrigin, witnessName }: DeploymentNames,
  isEmbedded: boolean,
  now: string,
): GeneratedSecret => {
  const seed = randomKeyBytes();
  const toVkey = (name: string, kind: KeyKind = keyKinds.log): string => noteKeyPair(name, deriveKeySeed(seed, name), kind).vkey;
  const audits = auditOrigins.map((origin) => ({ origin, vkey: toVkey(origin), valid_from: now, role: "audit" }));
  const ledger = { origin: ledgerOrigin, vkey: toVkey(ledgerOrigin), valid_from: now, role: "primary" };
  return {
    secret: toBase64(seed),
    publicParts: isEmbedded
      ? { logs: [...audits, ledger], witnesses: [toVkey(witnessName, keyKinds.witness)] }
      : { vars: { AUDIT_VKEY: audits.map(({ vkey }) => vkey).join(" ") }, logs: audits },
  };
};

const generateAuditKey = (origins: readonly string[], now: string): GeneratedSecret => {
  const keys = origins.map((origin) => ({ origin, ...noteKeyPair(origin, randomKeyBytes()) }));
  return {
    secret: keys.map(({ secret }) => secret).join(" "),
    publicParts: {
      vars: { AUDIT_VKEY: keys.map(({ vkey }) => vkey).join(" ") },
      logs: keys.map(({ origin, vkey }) => ({ origin, vkey, valid_from: now, role: "audit" })),
    },
  };
};

const generateLedgerKey = (origin: string, now: string): GeneratedSecret => {
  const { secret, vkey } = noteKeyPair(origin, randomKeyBytes());
  return { secret, publicParts: { vars: { LEDGER_VKEYS: vkey }, logs: [{ origin, vkey, valid_from: now, role: "primary" }] } };
};

const generateWitnessKey = (name: string): GeneratedSecret => {
  const { secret, vkey } = noteKeyPair(name, randomKeyBytes(), keyKinds.witness);
  return { secret, publicParts: { witnesses: [vkey] } };
};

/** Generates only the named secrets and their public parts. The new log keys are valid from `now`. */
export const generateSecrets = async (
  requestedNames: readonly SecretName[],
  names: DeploymentNames,
  now: string,
): Promise<{ readonly secrets: Partial<Record<SecretName, string>>; readonly publicParts: PublicParts }> => {
  const generators: Readonly<Record<SecretName, () => GeneratedSecret | Promise<GeneratedSecret>>> = {
    MASTER_KEYS: () => ({ secret: `1:${toBase64(randomKeyBytes())}` }),
    INDEX_KEY: () => ({ secret: toBase64(randomKeyBytes()) }),
    ISSUER_KEY: generateIssuerKey,
    LOG_SEED: () => generateLogSeed(names, !requestedNames.includes("LEDGER_KEY"), now),
    AUDIT_KEY: () => generateAuditKey(names.auditOrigins, now),
    ANCHOR_KEY: generateAnchorKey,
    LEDGER_WRITE_TOKEN: generateToken,
    LEDGER_KEY: () => generateLedgerKey(names.ledgerOrigin, now),
    LEDGER_WITNESS_KEY: () => generateWitnessKey(names.witnessName),
    LEDGER_AUDITOR_TOKEN: generateToken,
  };
  const secrets: Partial<Record<SecretName, string>> = {};
  let publicParts: PublicParts = {};
  for (const name of secretNames.filter((secretName) => requestedNames.includes(secretName))) {
    const generated = await generators[name]();
    secrets[name] = generated.secret;
    const { vars, logs, ...others } = generated.publicParts ?? {};
    publicParts = {
      ...publicParts,
      ...(vars !== undefined && { vars: { ...publicParts.vars, ...vars } }),
      ...(logs !== undefined && { logs: [...(publicParts.logs ?? []), ...logs] }),
      ...others,
    };
  }
  return { secrets, publicParts };
};

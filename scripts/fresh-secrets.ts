// The secrets of a production deployment, generated anew, and the public parts that others pin.
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { keyKinds } from "../core/ledger/note.ts";
import { openSigner, type Jwk } from "../storage/signer.ts";
import { noteKeyPair } from "./note-secret.ts";

export interface DeploymentNames {
  /** LEDGER_ORIGIN: `host/path`. */
  readonly ledgerOrigin: string;
  /** One a shard of the audit log: `host/audit/0`. */
  readonly auditOrigins: readonly string[];
  readonly witnessName: string;
}

/** In the order they are explained in docs/keys.md. */
export const serviceSecrets = ["MASTER_KEYS", "INDEX_KEY", "ISSUER_KEY", "AUDIT_KEY", "ANCHOR_KEY", "LEDGER_WRITE_TOKEN"] as const;
/** What a ledger in another account needs; the write token is what the two share. */
export const ledgerSecrets = ["LEDGER_KEY", "LEDGER_WITNESS_KEY", "LEDGER_WRITE_TOKEN", "LEDGER_AUDITOR_TOKEN"] as const;
export type SecretName = (typeof serviceSecrets)[number] | (typeof ledgerSecrets)[number];
export const secretNames: readonly SecretName[] = [...new Set<SecretName>([...serviceSecrets, ...ledgerSecrets])];

/** Member names as they are published. */
export interface PublicParts {
  /** Settings for [vars] in wrangler.toml. */
  readonly vars?: { readonly AUDIT_VKEY?: string; readonly LEDGER_VKEYS?: string };
  readonly logs?: readonly { readonly origin: string; readonly vkey: string; readonly valid_from: string; readonly role: string }[];
  readonly witnesses?: readonly string[];
  readonly issuer_keys?: readonly Jwk[];
  readonly anchor_keys?: readonly { readonly spki: string; readonly spki_sha256: string }[];
}

interface Generated {
  readonly secret: string;
  readonly publicParts?: PublicParts;
}

const keyBytes = 32; // 256 bits everywhere: as much as the strongest cipher here can use

const randomBytesOf = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(keyBytes));
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const token = (): Generated => ({ secret: randomBytes(keyBytes).toString("base64url") });

const issuerKey = async (): Promise<Generated> => {
  const seed = randomBytesOf();
  return { secret: base64(seed), publicParts: { issuer_keys: (await openSigner(seed, [])).publicKeys } };
};

const anchorKey = (): Generated => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    secret: base64(privateKey.export({ type: "pkcs8", format: "der" })),
    publicParts: { anchor_keys: [{ spki: base64(spki), spki_sha256: createHash("sha256").update(spki).digest("hex") }] },
  };
};

const auditKey = (origins: readonly string[], now: string): Generated => {
  const keys = origins.map((origin) => ({ origin, ...noteKeyPair(origin, randomBytesOf()) }));
  return {
    secret: keys.map(({ secret }) => secret).join(" "),
    publicParts: {
      vars: { AUDIT_VKEY: keys.map(({ vkey }) => vkey).join(" ") },
      logs: keys.map(({ origin, vkey }) => ({ origin, vkey, valid_from: now, role: "audit" })),
    },
  };
};

const ledgerKey = (origin: string, now: string): Generated => {
  const { secret, vkey } = noteKeyPair(origin, randomBytesOf());
  return { secret, publicParts: { vars: { LEDGER_VKEYS: vkey }, logs: [{ origin, vkey, valid_from: now, role: "primary" }] } };
};

const witnessKey = (name: string): Generated => {
  const { secret, vkey } = noteKeyPair(name, randomBytesOf(), keyKinds.witness);
  return { secret, publicParts: { witnesses: [vkey] } };
};

/** Generates what is named, and nothing else; public parts are those of what was generated. `now` is when the keys of logs begin. */
export const freshSecrets = async (
  wanted: readonly SecretName[],
  names: DeploymentNames,
  now: string,
): Promise<{ readonly secrets: Partial<Record<SecretName, string>>; readonly publicParts: PublicParts }> => {
  const generators: Readonly<Record<SecretName, () => Generated | Promise<Generated>>> = {
    MASTER_KEYS: () => ({ secret: `1:${base64(randomBytesOf())}` }),
    INDEX_KEY: () => ({ secret: base64(randomBytesOf()) }),
    ISSUER_KEY: issuerKey,
    AUDIT_KEY: () => auditKey(names.auditOrigins, now),
    ANCHOR_KEY: anchorKey,
    LEDGER_WRITE_TOKEN: token,
    LEDGER_KEY: () => ledgerKey(names.ledgerOrigin, now),
    LEDGER_WITNESS_KEY: () => witnessKey(names.witnessName),
    LEDGER_AUDITOR_TOKEN: token,
  };
  const secrets: Partial<Record<SecretName, string>> = {};
  let publicParts: PublicParts = {};
  for (const name of secretNames.filter((one) => wanted.includes(one))) {
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

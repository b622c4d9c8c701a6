// The trust document: the keys that readers of proofs pin. Published at /.well-known/svc-trust.json, and copied into every
// evidence pack for convenience.
import type { Json } from "../../core/canonical-json.ts";
import type { Platform } from "../services.ts";

export const trustDocument = ({ config, trustedLogs, witnessKeys, anchorKey, signer }: Platform): { readonly [key: string]: Json } => ({
  version: 1,
  logs: trustedLogs.map((log) => ({
    origin: log.origin,
    vkey: log.vkey,
    valid_from: log.validFrom,
    valid_to: log.validTo ?? null,
    role: log.role,
  })),
  witnesses: witnessKeys,
  policy: { witness_min: config.witnessMin },
  tsa: config.authorities.flatMap(({ name, pins, pem }) =>
    pins.map(({ spkiSha256, validFrom, validTo }) => ({
      name,
      spki_sha256: spkiSha256,
      pem,
      valid_from: validFrom,
      valid_to: validTo ?? null,
    })),
  ),
  issuer_keys: { keys: signer.publicKeys.map((key) => ({ ...key })) },
  anchor_keys: anchorKey === null ? [] : [anchorKey.publicKey, ...config.retiredAnchorKeys],
});

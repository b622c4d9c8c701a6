// The trust document: the keys that readers of proofs pin. Published at /.well-known/svc-trust.json, and copied into every
// evidence pack for convenience.
import type { Json } from "../../core/canonical-json.ts";
import type { Platform } from "../services.ts";

export const trustDocument = ({ trustedLogs, signer }: Platform): { readonly [key: string]: Json } => ({
  version: 1,
  logs: trustedLogs.map((log) => ({
    origin: log.origin,
    vkey: log.vkey,
    valid_from: log.validFrom,
    valid_to: log.validTo ?? null,
    role: log.role,
  })),
  witnesses: [],
  policy: { witness_min: 0 },
  tsa: [],
  issuer_keys: { keys: signer.publicKeys.map((key) => ({ ...key })) },
});

// Lists everything that a person who verifies proofs must trust: keys, logs, witnesses, timestamp authorities and the verifier.
import type { TrustDocumentInput } from "../../../core/ledger/trust-document.ts";
import type { Proofs, ReadDependencies } from "../dependencies.ts";

/** Builds the input for the trust document from the current configuration, including retired keys with their validity periods. */
export const getTrustedKeys = ({
  config,
  trustedLogs,
  witnessKeys,
  anchorKey,
  signer,
  verifierSha256,
}: ReadDependencies & Proofs): TrustDocumentInput => ({
  verifier: { url: new URL("/svc-verify.mjs", config.baseUrl).href, sha256: verifierSha256 },
  logs: trustedLogs,
  witnessKeys,
  witnessMin: config.witnessMin,
  authorities: config.authorities,
  issuerKeys: signer.publicKeys.map((key) => {
    const { validFrom, validTo } = config.retiredIssuerKeys.find((retired) => retired.key === key.x) ?? { validFrom: config.issuerKeyFrom };
    return { ...key, validFrom, ...(validTo !== undefined && { validTo }) };
  }),
  anchorKeys: [...(anchorKey === null ? [] : [anchorKey.publicKey]), ...config.retiredAnchorKeys],
});

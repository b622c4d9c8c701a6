// What a reader of our proofs has to trust, as of now.
import type { TrustDocumentInput } from "../../../core/ledger/trust-document.ts";
import type { ServiceDependencies } from "./dependencies.ts";

export const getTrustedKeys = ({
  config,
  trustedLogs,
  witnessKeys,
  anchorKey,
  signer,
  verifierSha256,
}: ServiceDependencies): TrustDocumentInput => ({
  verifier: { url: new URL("/svc-verify.mjs", config.baseUrl).href, sha256: verifierSha256 },
  logs: trustedLogs,
  witnessKeys,
  witnessMin: config.witnessMin,
  authorities: config.authorities,
  issuerKeys: signer.publicKeys.map((key) => {
    const { validFrom, validTo } = config.retiredIssuerKeys.find((one) => one.key === key.x) ?? { validFrom: config.issuerKeyFrom };
    return { ...key, validFrom, ...(validTo !== undefined && { validTo }) };
  }),
  anchorKeys: anchorKey === null ? [] : [anchorKey.publicKey, ...config.retiredAnchorKeys],
});

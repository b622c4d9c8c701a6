// What a reader of our proofs has to trust, as of now.
import type { Trusted } from "../../../core/ledger/trust-document.ts";
import type { Proofs, Runtime } from "../../services.ts";

export const trustedKeys = ({ config, trustedLogs, witnessKeys, anchorKey, signer }: Runtime & Proofs): Trusted => ({
  logs: trustedLogs,
  witnessKeys,
  witnessMin: config.witnessMin,
  authorities: config.authorities,
  issuerKeys: signer.publicKeys.map((key) => ({ ...key })),
  anchorKeys: anchorKey === null ? [] : [anchorKey.publicKey, ...config.retiredAnchorKeys],
});

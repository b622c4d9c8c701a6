// Replaces a function of @simplewebauthn/server (`alias` in wrangler.toml). The original adds eight ASN.1 packages to the bundle, although
// a signature consists of only two numbers.
import { ecdsaDerToRaw } from "../../core/ledger/der.ts";

const numberBytes = 32; // the only ECDSA algorithm that webauthn.ts allows is ES256, with the curve P-256

/** Converts an authenticator's signature from DER to the form that WebCrypto verifies. Throws if it is not DER of two positive numbers. */
export const unwrapEC2Signature = (signature: Uint8Array): Uint8Array => {
  const raw = ecdsaDerToRaw(signature, numberBytes);
  if (raw === null) throw new Error("The signature is not valid DER.");
  return raw;
};

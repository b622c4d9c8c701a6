// Replaces a function of @simplewebauthn/server (`alias` in wrangler.toml). The original needs eight packages that can parse any ASN.1,
// although a signature consists of only two numbers.
import { ecdsaDerToRaw } from "../../core/ledger/der.ts";

const numberBytes = 32; // webauthn.ts allows one ECDSA algorithm, ES256, which uses the curve P-256

/** Converts an authenticator's signature from DER to the form that WebCrypto verifies. Throws if it is not DER of two positive numbers. */
export const unwrapEC2Signature = (signature: Uint8Array): Uint8Array => {
  const raw = ecdsaDerToRaw(signature, numberBytes);
  if (raw === null) throw new Error("The signature is not valid DER.");
  return raw;
};

// Verifies that a delivery is recent and was signed with the endpoint's secret. Receivers use this file: it is published without
// dependencies as dist/verify-signature.mjs, so that it runs in every JavaScript runtime.
import { concatBytes, toHex, encodeUtf8 } from "../bytes.ts";
import { hmacSha256 } from "../hash.ts";

const toleranceSeconds = 300;
const signatureHeaderPattern = /^t=(\d{1,12})((?:,v\d{1,3}=[^,\s]+)+)$/;
const signaturePattern = /^v1=([0-9a-f]{64})$/;

/** Compares in constant time. Both arguments have 64 characters. */
const isSameSignature = (a: string, b: string): boolean => {
  let difference = 0;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
};

/**
 * Returns true if `signatureHeader` (the value of `Svc-Signature`) is valid for the body and secret, and its time is within 300 seconds of
 * `nowSeconds`. Pass the raw body, before parsing. During a rotation, the header has two signatures, and one valid signature is enough.
 * Unknown schemes (`v0=`, `v2=`) are ignored. Never throws.
 */
export const verifySignature = (
  rawBody: string | Uint8Array,
  signatureHeader: string | null | undefined,
  secret: string,
  nowSeconds: number,
): boolean => {
  const [, time, signatures] = signatureHeaderPattern.exec(signatureHeader ?? "") ?? [];
  if (time === undefined || signatures === undefined || secret === "") return false;
  if (!(Math.abs(nowSeconds - Number(time)) <= toleranceSeconds)) return false;
  const body = typeof rawBody === "string" ? encodeUtf8(rawBody) : rawBody;
  const expected = toHex(hmacSha256(encodeUtf8(secret), concatBytes(encodeUtf8(`${time}.`), body)));
  let isValid = false;
  for (const part of signatures.split(",")) {
    const [, signature] = signaturePattern.exec(part) ?? [];
    isValid = (signature !== undefined && isSameSignature(expected, signature)) || isValid;
  }
  return isValid;
};

// For receivers: whether a delivery was sent by whoever holds the endpoint's secret, and just now. Published as
// dist/verify-signature.mjs, without any dependency: it runs wherever JavaScript does.
import { concatBytes, toHex, encodeUtf8 } from "../bytes.ts";
import { hmacSha256 } from "../hash.ts";

const toleranceSeconds = 300; // SPEC, Webhook signature 4
const signatureHeaderPattern = /^t=(\d{1,12})((?:,v\d{1,3}=[^,\s]+)+)$/;
const signaturePattern = /^v1=([0-9a-f]{64})$/;

/** Takes the same time wherever the first difference is. Both are 64 characters. */
const isSameSignature = (a: string, b: string): boolean => {
  let difference = 0;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
};

/**
 * True when `signatureHeader` (the value of `Svc-Signature`) signs exactly these bytes with this secret, and its time is at most
 * 300 seconds from `nowSeconds`. Pass the body as it arrived, before any parsing. During a rotation the header holds two
 * signatures; one that fits is enough, and schemes that are not known here (`v0=`, `v2=`) are passed over. Never throws.
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
  let fits = false;
  for (const part of signatures.split(",")) {
    const [, given] = signaturePattern.exec(part) ?? [];
    fits = (given !== undefined && isSameSignature(expected, given)) || fits;
  }
  return fits;
};

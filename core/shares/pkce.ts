// PKCE, RFC 7636 with S256 alone: whoever asked shows the verifier whose hash came with the request.
import { base64UrlOf, bytesOfBase64Url, utf8 } from "../bytes.ts";
import { sha256 } from "../hash.ts";

const verifierPattern = /^[A-Za-z0-9\-._~]{43,128}$/;

/** 32 bytes in base64url, in the one spelling that an encoder gives. */
export const isChallenge = (text: string): boolean => {
  const bytes = text.length === 43 ? bytesOfBase64Url(text) : null;
  return bytes !== null && base64UrlOf(bytes) === text;
};

export const isVerifier = (text: string): boolean => verifierPattern.test(text);

export const challengeOf = (verifier: string): string => base64UrlOf(sha256(utf8(verifier)));

// PKCE (RFC 7636) with S256 only: the client proves that it has the verifier whose hash was in the request.
import { toBase64Url, fromBase64Url, encodeUtf8 } from "../bytes.ts";
import { sha256 } from "../hash.ts";

const codeVerifierPattern = /^[A-Za-z0-9\-._~]{43,128}$/;

/** Returns true for 32 bytes in canonical base64url. */
export const isCodeChallenge = (text: string): boolean => text.length === 43 && fromBase64Url(text) !== null;

export const isCodeVerifier = (text: string): boolean => codeVerifierPattern.test(text);

export const computeCodeChallenge = (verifier: string): string => toBase64Url(sha256(encodeUtf8(verifier)));

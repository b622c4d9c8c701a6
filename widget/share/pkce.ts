// Proof Key for Code Exchange (RFC 7636): only the holder of the verifier can redeem the code.

/**
 * The state and PKCE pair for the next request. They are created in advance: if a digest were awaited after the click, the browser might
 * block the window.
 */
export interface PkceProof {
  state: string;
  verifier: string;
  challenge: string;
}

export async function createProof(): Promise<PkceProof> {
  const verifier = generateRandomText();
  return { state: generateRandomText(), verifier, challenge: await computeDigest(verifier) };
}

/** Computes the SHA-256 of a text as base64url without padding (43 characters). */
export async function computeDigest(text: string): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function generateRandomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=/g, "");
}

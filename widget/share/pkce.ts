// Proof Key for Code Exchange (RFC 7636): only who holds the verifier can redeem the code.

/** What the next request will be known by. Made ahead: a click that waits for a digest may open no window. */
export interface PkceProof {
  state: string;
  verifier: string;
  challenge: string;
}

export async function createProof(): Promise<PkceProof> {
  const verifier = generateRandomText();
  return { state: generateRandomText(), verifier, challenge: await computeDigest(verifier) };
}

/** SHA-256 as base64url, 43 characters: the challenge of a verifier. */
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

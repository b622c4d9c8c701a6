// The worked examples of passkeys.

export const passkeyExample = {
  id: "psk_00k3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Safari, macOS",
  created_at: "2026-11-20T10:05:00.000Z",
  last_used: "2026-11-22",
  backed_up: true,
};

const challenge = "3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

export const creationExample = {
  rp: { id: "app.svc.example", name: "app.svc.example" },
  user: { id: "MDA0Wk1TQ1JDV2xQa1hQU1dLcjJtQ2FuNmVIcWk", name: "pat@example.com", displayName: "pat@example.com" },
  challenge,
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  timeout: 300_000,
  excludeCredentials: [],
  authenticatorSelection: { residentKey: "required", userVerification: "required", requireResidentKey: true },
  attestation: "none",
};

export const requestExample = { rpId: "app.svc.example", challenge, allowCredentials: [], timeout: 300_000, userVerification: "required" };

const credential = { id: "kLmNoPqRsTuVwXyZ", rawId: "kLmNoPqRsTuVwXyZ", type: "public-key" };
const clientDataJSON = "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0";

export const madeExample = {
  ...credential,
  response: { clientDataJSON, attestationObject: "o2NmbXRkbm9uZQ", transports: ["internal", "hybrid"] },
};

export const signedExample = {
  ...credential,
  response: { clientDataJSON, authenticatorData: "SZYN5YgOjGh0NBcP", signature: "MEUCIQDK", userHandle: creationExample.user.id },
};

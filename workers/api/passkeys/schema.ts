// Schemas, examples and mapper for passkeys. Options and credentials use the WebAuthn standard's JSON format.
import { z } from "@hono/zod-openapi";
import type { Passkey } from "../../../core/access/passkey.ts";
import { parsePasskeyId } from "../../../core/ids.ts";
import { createdCredentialSchema } from "../../http/passkey-credentials.ts";
import { dayToWire, idParamSchema, timeSchema, toWire } from "../../http/wire.ts";

export const passkeyExample = {
  id: "psk_00k3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Safari, macOS",
  created_at: "2026-11-20T10:05:00.000Z",
  last_used: "2026-11-22",
  backed_up: true,
};

const exampleChallenge = "3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

export const creationOptionsExample = {
  rp: { id: "app.svc.example", name: "app.svc.example" },
  user: { id: "MDA0Wk1TQ1JDV2xQa1hQU1dLcjJtQ2FuNmVIcWk", name: "pat@example.com", displayName: "pat@example.com" },
  challenge: exampleChallenge,
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  timeout: 300_000,
  excludeCredentials: [],
  authenticatorSelection: { residentKey: "required", userVerification: "required", requireResidentKey: true },
  attestation: "none",
};

export const requestOptionsExample = {
  rpId: "app.svc.example",
  challenge: exampleChallenge,
  allowCredentials: [],
  timeout: 300_000,
  userVerification: "required",
};

const credentialExample = { id: "kLmNoPqRsTuVwXyZ", rawId: "kLmNoPqRsTuVwXyZ", type: "public-key" };
const exampleClientData = "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0";

export const attestationCredentialExample = {
  ...credentialExample,
  response: { clientDataJSON: exampleClientData, attestationObject: "o2NmbXRkbm9uZQ", transports: ["internal", "hybrid"] },
};

export const assertionCredentialExample = {
  ...credentialExample,
  response: {
    clientDataJSON: exampleClientData,
    authenticatorData: "SZYN5YgOjGh0NBcP",
    signature: "MEUCIQDK",
    userHandle: creationOptionsExample.user.id,
  },
};

export const newPasskeySchema = z
  .object({
    credential: createdCredentialSchema,
    name: z
      .string()
      .nullish()
      .meta({ description: "Label, at most 80 characters. Default: browser and operating system of the device.", example: "My phone" }),
  })
  .openapi("NewPasskey");

const webAuthnOptionsSchema = (standard: string, call: string) =>
  z.record(z.string(), z.unknown()).meta({ description: `\`${standard}\` (WebAuthn). Pass it to \`${call}\`.` });

export const creationOptionsSchema = z.object({
  options: webAuthnOptionsSchema("PublicKeyCredentialCreationOptionsJSON", "PublicKeyCredential.parseCreationOptionsFromJSON()"),
});
export const requestOptionsSchema = z.object({
  options: webAuthnOptionsSchema("PublicKeyCredentialRequestOptionsJSON", "PublicKeyCredential.parseRequestOptionsFromJSON()"),
});

export const passkeySchema = z
  .object({
    id: z.string().meta({ description: "ID of the passkey. Starts with `psk_`." }),
    name: z.string(),
    created_at: timeSchema,
    last_used: z
      .string()
      .nullable()
      .meta({ format: "date", description: "Date (UTC) on which you last signed in with the passkey; `null` if never." }),
    backed_up: z
      .boolean()
      .meta({ description: "Whether your passkey manager backs up the passkey, so that you keep it even if you lose the device." }),
  })
  .openapi("Passkey");

export const passkeyIdParamSchema = z.object({
  passkey_id: idParamSchema(parsePasskeyId, "ID of the passkey. Starts with `psk_`.", passkeyExample.id),
});

export const passkeyToWire = (passkey: Passkey): z.input<typeof passkeySchema> =>
  toWire(passkeySchema, { ...passkey, lastUsed: dayToWire(passkey.lastUsedDay) });

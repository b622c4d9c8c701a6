// The wire of passkeys. Options and credentials have the JSON of the WebAuthn standard, which browsers read and write themselves.
import { z } from "@hono/zod-openapi";
import type { Passkey } from "../../../core/access/passkey.ts";
import { passkeyIdOf } from "../../../core/ids.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { madeSchema } from "../../http/passkey-credentials.ts";
import { idParam, time } from "../../http/wire.ts";

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

export const addSchema = z
  .object({
    credential: madeSchema,
    name: z
      .string()
      .nullish()
      .openapi({ description: "What you call it, at most 80 characters; the device's browser and system otherwise.", example: "My phone" }),
  })
  .openapi("NewPasskey");

const options = (standard: string, call: string) =>
  z.record(z.string(), z.unknown()).openapi({ description: `\`${standard}\` of the WebAuthn standard, for \`${call}\`.` });

export const creationSchema = z.object({
  options: options("PublicKeyCredentialCreationOptionsJSON", "PublicKeyCredential.parseCreationOptionsFromJSON()"),
});
export const requestSchema = z.object({
  options: options("PublicKeyCredentialRequestOptionsJSON", "PublicKeyCredential.parseRequestOptionsFromJSON()"),
});

export const passkeySchema = z
  .object({
    id: z.string().openapi({ description: "`psk_…`" }),
    name: z.string(),
    created_at: time,
    last_used: z.string().nullable().openapi({ format: "date", description: "The last day it signed in, UTC." }),
    backed_up: z.boolean().openapi({ description: "It is kept by your passkey manager too, so losing the device does not lose it." }),
  })
  .openapi("Passkey");

export const passkeyParam = z.object({ passkey_id: idParam(passkeyIdOf, "Id of the passkey, prefix `psk_`.", passkeyExample.id) });

export const passkeyToWire = ({ id, name, createdAt, usedDay, backedUp }: Passkey): z.input<typeof passkeySchema> => ({
  id,
  name,
  created_at: isoOf(createdAt),
  last_used: usedDay === null ? null : isoOf(usedDay * dayMs).slice(0, 10),
  backed_up: backedUp,
});

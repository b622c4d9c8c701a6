// The wire of passkeys. Options and credentials have the JSON of the WebAuthn standard, which browsers read and write themselves.
import { z } from "@hono/zod-openapi";
import type { Passkey } from "../../../core/access/passkey.ts";
import { passkeyIdOf } from "../../../core/ids.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { passkeyExample } from "./examples.ts";

/** `max` characters of base64url without padding. */
const base64Url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, "must be base64url");

/** 1,023 bytes, the most that a credential may be called. */
const credentialId = base64Url(1_364);
/** Some hundred bytes in practice; a kilobyte or two with a key that is not elliptic. */
const part = base64Url(16_384);

const credential = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal("public-key"),
};

const madeSchema = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: part,
      attestationObject: part,
      transports: z
        .array(z.string().regex(/^[a-z-]{1,32}$/, "must be a name of the standard"))
        .max(10)
        .optional(),
    }),
  })
  .openapi({
    description: "`credential.toJSON()` of what `navigator.credentials.create()` answers (`RegistrationResponseJSON`).",
  });

export const signedSchema = z
  .object({
    ...credential,
    response: z.object({ clientDataJSON: part, authenticatorData: part, signature: part, userHandle: base64Url(128).nullish() }),
  })
  .openapi({
    description: "`credential.toJSON()` of what `navigator.credentials.get()` answers (`AuthenticationResponseJSON`).",
  });

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
    created_at: z.string().openapi({ format: "date-time" }),
    last_used: z.string().nullable().openapi({ format: "date", description: "The last day it signed in, UTC." }),
    backed_up: z.boolean().openapi({ description: "It is kept by your passkey manager too, so losing the device does not lose it." }),
  })
  .openapi("Passkey");

export const passkeyParam = z.object({
  passkey_id: z
    .string()
    .transform(passkeyIdOf)
    .openapi({ type: "string", description: "Id of the passkey, prefix `psk_`.", example: passkeyExample.id }),
});

export const passkeyToWire = ({ id, name, createdAt, usedDay, backedUp }: Passkey): z.input<typeof passkeySchema> => ({
  id,
  name,
  created_at: isoOf(createdAt),
  last_used: usedDay === null ? null : isoOf(usedDay * dayMs).slice(0, 10),
  backed_up: backedUp,
});

// What an authenticator answered, as browsers write it down by themselves (WebAuthn, `toJSON()`): in a JSON body or in a form's field.
import { z } from "@hono/zod-openapi";
import type { RegistrationResponse, AuthenticationResponse } from "../../core/access/passkey.ts";

/** `max` characters of base64url without padding. */
const base64UrlSchema = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, "must be base64url");

/** 1,023 bytes, the most that a credential may be called. */
const credentialIdSchema = base64UrlSchema(1_364);
/** Some hundred bytes in practice; a kilobyte or two with a key that is not elliptic. */
const credentialPartSchema = base64UrlSchema(16_384);

const credentialShape = {
  id: credentialIdSchema,
  rawId: credentialIdSchema,
  type: z.literal("public-key"),
};

export const createdCredentialSchema = z
  .object({
    ...credentialShape,
    response: z.object({
      clientDataJSON: credentialPartSchema,
      attestationObject: credentialPartSchema,
      transports: z
        .array(z.string().regex(/^[a-z-]{1,32}$/, "must be a name of the standard"))
        .max(10)
        .optional(),
    }),
  })
  .openapi({
    description: "`credential.toJSON()` of what `navigator.credentials.create()` answers (`RegistrationResponseJSON`).",
  });

export const signedCredentialSchema = z
  .object({
    ...credentialShape,
    response: z.object({
      clientDataJSON: credentialPartSchema,
      authenticatorData: credentialPartSchema,
      signature: credentialPartSchema,
      userHandle: base64UrlSchema(128).nullish(),
    }),
  })
  .openapi({
    description: "`credential.toJSON()` of what `navigator.credentials.get()` answers (`AuthenticationResponseJSON`).",
  });

const parseJsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Of a form's field; null for whatever is none. */
export const parseCreatedCredential = (text: string): RegistrationResponse | null =>
  createdCredentialSchema.safeParse(parseJsonOrNull(text)).data ?? null;
export const parseSignedCredential = (text: string): AuthenticationResponse | null =>
  signedCredentialSchema.safeParse(parseJsonOrNull(text)).data ?? null;

// Schemas of WebAuthn credentials in the JSON format that `PublicKeyCredential.toJSON()` returns in browsers. They are sent in a JSON body
// or a form field.
import { z } from "@hono/zod-openapi";
import type { RegistrationResponse, AuthenticationResponse } from "../../core/access/passkey.ts";
import { optionalMember } from "./wire.ts";

const base64UrlSchema = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, "must be base64url");

/** WebAuthn allows credential IDs of up to 1,023 bytes. In base64url, they have up to 1,364 characters. */
const credentialIdSchema = base64UrlSchema(1_364);
/** The parts of a credential usually have a few hundred bytes, or one to two kilobytes with an RSA key. */
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
      transports: optionalMember(z.array(z.string().regex(/^[a-z-]{1,32}$/, "must be a WebAuthn transport name")).max(10)),
    }),
  })
  .meta({
    description:
      "Result of calling `toJSON()` on the credential that `navigator.credentials.create()` returns (`RegistrationResponseJSON`).",
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
  .meta({
    description:
      "Result of calling `toJSON()` on the credential that `navigator.credentials.get()` returns (`AuthenticationResponseJSON`).",
  });

const parseJsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Parses the text of a form field. Returns null for an invalid credential. */
export const parseCreatedCredential = (text: string): RegistrationResponse | null =>
  createdCredentialSchema.safeParse(parseJsonOrNull(text)).data ?? null;
export const parseSignedCredential = (text: string): AuthenticationResponse | null =>
  signedCredentialSchema.safeParse(parseJsonOrNull(text)).data ?? null;

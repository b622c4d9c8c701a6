// What an authenticator answered, as browsers write it down by themselves (WebAuthn, `toJSON()`): in a JSON body or in a form's field.
import { z } from "@hono/zod-openapi";
import type { MadeCredential, SignedCredential } from "../../core/access/passkey.ts";

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

export const madeSchema = z
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

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Of a form's field; null for whatever is none. */
export const madeIn = (text: string): MadeCredential | null => madeSchema.safeParse(parsed(text)).data ?? null;
export const signedIn = (text: string): SignedCredential | null => signedSchema.safeParse(parsed(text)).data ?? null;

// The wire of passkeys. Options and credentials have the JSON of the WebAuthn standard, which browsers read and write themselves.
import { z } from "@hono/zod-openapi";
import type { Passkey } from "../../../core/access/passkey.ts";
import { passkeyIdOf } from "../../../core/ids.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { madeSchema } from "../../http/passkey-credentials.ts";
import { idParam } from "../../http/wire.ts";
import { passkeyExample } from "./examples.ts";

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

export const passkeyParam = z.object({ passkey_id: idParam(passkeyIdOf, "Id of the passkey, prefix `psk_`.", passkeyExample.id) });

export const passkeyToWire = ({ id, name, createdAt, usedDay, backedUp }: Passkey): z.input<typeof passkeySchema> => ({
  id,
  name,
  created_at: isoOf(createdAt),
  last_used: usedDay === null ? null : isoOf(usedDay * dayMs).slice(0, 10),
  backed_up: backedUp,
});

// The wire of removals: whom we ask to delete a person, and what came of it.
import { z } from "@hono/zod-openapi";
import { removalIdOf } from "../../../core/ids.ts";
import { removalStatuses, removalTargetNames, type Removal } from "../../../core/removals/removal.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { idParam } from "../../http/wire.ts";
import { timeOf } from "../certificates/schema.ts";
import { removalExample } from "./examples.ts";

const status = z.enum(removalStatuses);
const targetName = z.enum(removalTargetNames as [string, ...string[]]);

export const removalRequestSchema = z
  .object({
    targets: z
      .array(z.string().max(40))
      .min(1)
      .max(50)
      .nullish()
      .openapi({ description: `Whom to ask; all where it is left out. Of the list: ${removalTargetNames.join(", ")}.` }),
    authorize: z.literal(true).openapi({ description: "Must be true: you authorize us to ask them in your name." }),
    notes: z.string().max(2_000).nullish().openapi({ description: "For the people who do it, in one line of at most 500 characters." }),
  })
  .openapi("RemovalRequest");

export const removalSchema = z
  .object({
    id: z.string(),
    status,
    targets: z.array(z.object({ name: targetName, status, completed_at: timeOf("When they removed you").nullable() })),
    notes: z.string().nullable(),
    requested_at: timeOf("When you asked"),
    completed_at: timeOf("When the last of them had answered").nullable(),
    recheck_at: timeOf("When we look again").nullable(),
    affidavit_url: z.string().nullable().openapi({ description: "The affidavit, once there is one." }),
    affidavit: z
      .object({
        sha256: z.string().openapi({ description: "Of the file, hex." }),
        signed: z.string().openapi({ description: "The text that is signed." }),
        signature: z.object({ kid: z.string(), alg: z.literal("Ed25519"), value: z.string() }),
      })
      .nullable()
      .openapi({ description: "What proves the file: its hash is in your audit chain too." }),
  })
  .openapi("Removal");

export const removalToWire = (
  removal: Removal,
  { apiBase, statement }: { readonly apiBase: string; readonly statement: (sha256: string) => string },
): z.input<typeof removalSchema> => {
  const { affidavit } = removal;
  return {
    id: removal.id,
    status: removal.status,
    targets: removal.targets.map(({ name, status: of, completedAt }) => ({ name, status: of, completed_at: isoOrNull(completedAt) })),
    notes: removal.notes,
    requested_at: isoOf(removal.requestedAt),
    completed_at: isoOrNull(removal.completedAt),
    recheck_at: isoOrNull(removal.recheckAt),
    affidavit_url: affidavit === null ? null : `${apiBase}/me/removals/${removal.id}/affidavit`,
    affidavit:
      affidavit === null
        ? null
        : {
            sha256: affidavit.sha256,
            signed: statement(affidavit.sha256),
            signature: { kid: affidavit.kid, alg: "Ed25519", value: affidavit.signature },
          },
  };
};

export const removalsSchema = z
  .object({
    removals: z.array(removalSchema).openapi({ description: "The newest first, at most 200." }),
    targets: z.array(z.object({ name: targetName, title: z.string() })).openapi({ description: "Who can be asked." }),
  })
  .openapi("Removals");

export const removalParam = z.object({ removal_id: idParam(removalIdOf, "Id of the removal: `rmv_…`.", removalExample.id) });

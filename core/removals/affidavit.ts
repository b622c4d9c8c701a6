// Builds the text of a removal affidavit: which data brokers were contacted on a person's behalf, and the results. pdf.ts renders the file.
import { toCanonicalJson } from "../canonical-json.ts";
import { toIso, type Instant } from "../time.ts";
import { removalTargets, type Removal } from "./removal.ts";

export interface DocumentContent {
  readonly title: string;
  /** The date of the affidavit. It is also used as the date in the file's metadata. */
  readonly issuedAt: Instant;
  readonly paragraphs: readonly string[];
}

const formatDay = (at: Instant): string => toIso(at).slice(0, 10);

/** Builds the affidavit. `removal` must be completed. */
export const buildAffidavit = (
  removal: Removal,
  person: { readonly email: string; readonly kid: string; readonly issuer: string },
): DocumentContent => {
  const at = removal.completedAt as Instant;
  const outcome = removal.targets.map(
    ({ name, completedAt }) =>
      `${removalTargets[name]}: ${completedAt === null ? "did not remove the data" : `removed the data, as recorded on ${formatDay(completedAt)}`}.`,
  );
  return {
    title: "Affidavit of data removal",
    issuedAt: at,
    paragraphs: [
      `Data removal request ${removal.id}, made on ${toIso(removal.requestedAt)}.`,
      `The holder of account ${removal.consumerId}, who verified the email address ${person.email}, authorized ${person.issuer} to ask the data brokers below, on the holder's behalf, to delete the holder's personal data.`,
      `${person.issuer} states that it contacted each of these data brokers. These are the results as of ${toIso(at)}:`,
      ...outcome,
      `${person.issuer} will check again on ${formatDay(removal.recheckAt as Instant)}.`,
      `The SHA-256 hash of this file is recorded in the holder's audit chain and signed with the issuer key ${person.kid}, which is published at /.well-known/jwks.json.`,
    ],
  };
};

/** Returns the statement that the issuer signs about the file. */
export const formatAffidavitStatement = (removal: Pick<Removal, "id">, sha256: string): string =>
  toCanonicalJson({ type: "svc-affidavit-v1", removal_id: removal.id, sha256 });

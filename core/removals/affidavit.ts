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
      `${removalTargets[name]}: ${completedAt === null ? "asked, and did not remove the person" : `removed the person, confirmed on ${formatDay(completedAt)}`}.`,
  );
  return {
    title: "Affidavit of removal",
    issuedAt: at,
    paragraphs: [
      `Removal request ${removal.id}, made on ${toIso(removal.requestedAt)}.`,
      `The person who holds the account ${removal.consumerId} and has proved control of the address ${person.email} authorized ${person.issuer} to ask the following places, in their name, to delete what they hold about them.`,
      `${person.issuer} states that it asked each of these places, and that this is what came of it by ${toIso(at)}:`,
      ...outcome,
      `${person.issuer} looks again on ${formatDay(removal.recheckAt as Instant)}.`,
      `The SHA-256 of this file is entered in the person's audit chain and signed with the issuer key ${person.kid}, which is published at /.well-known/jwks.json.`,
    ],
  };
};

/** Returns the statement that the issuer signs about the file. */
export const formatAffidavitStatement = (removal: Pick<Removal, "id">, sha256: string): string =>
  toCanonicalJson({ type: "svc-affidavit-v1", removal_id: removal.id, sha256 });

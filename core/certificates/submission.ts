// The meaning of a submission, judged before anything is looked up: which text may be sealed and how much of it.
import { pageUrlFault } from "../access/origins.ts";
import { ok, refuse, type Result } from "../result.ts";
import { lineFault, passageFault, trimmed } from "../text.ts";
import type { Submission } from "./certificate.ts";
import { recipientsOf, type Recipients } from "./recipients.ts";
import { subjectFields, type SubjectFields } from "./subject.ts";

const maxDisclosureLength = 20_000;
const maxPurposeLength = 500;

export interface ReadSubmission {
  readonly fields: SubjectFields;
  readonly recipients: Recipients;
  readonly purpose: string;
}

/** Refuses `invalid_request`, naming the input and the rule. */
export const readSubmission = (submission: Submission): Result<ReadSubmission, "invalid_request"> => {
  const fields = subjectFields(submission.fields);
  if (!fields.ok) return fields;
  const recipients = recipientsOf({
    entities: submission.entities,
    accepted: submission.entitiesAccepted,
    rejected: submission.entitiesRejected,
  });
  if (!recipients.ok) return recipients;

  if (submission.disclosureText.length > maxDisclosureLength)
    return refuse("invalid_request", "disclosure_text: is longer than 20,000 characters.");
  const disclosureFault = passageFault(submission.disclosureText);
  if (disclosureFault !== null) return refuse("invalid_request", `disclosure_text: ${disclosureFault}.`);

  const purpose = trimmed(submission.purpose);
  if (purpose === "") return refuse("invalid_request", "purpose: must not be empty.");
  if (purpose.length > maxPurposeLength) return refuse("invalid_request", "purpose: is longer than 500 characters.");
  const purposeFault = lineFault(purpose);
  if (purposeFault !== null) return refuse("invalid_request", `purpose: ${purposeFault}.`);

  const urlFault = pageUrlFault(submission.pageUrl);
  if (urlFault !== null) return refuse("invalid_request", `page_url: ${urlFault}.`);
  return ok({ fields: fields.value, recipients: recipients.value, purpose });
};

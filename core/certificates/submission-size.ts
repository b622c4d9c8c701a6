// Limits the size of a form submission's body. The longest allowed disclosure and recipient lists always fit, in any script and even if the
// sender escapes every character.
import { isJsonObject, type Json } from "../canonical-json.ts";
import { maxEntityLength } from "./recipients.ts";
import { maxDisclosureLength, maxEntities } from "./submission.ts";

/**
 * The longest disclosure and the longest lists of recipients together have 600,000 characters. A character that is escaped as \uXXXX takes
 * six bytes.
 */
export const maxSubmissionBytes = 4 * 1_024 * 1_024;

const maxOtherLength = 64 * 1_024; // twenty fields of 500 characters, together with all evidence, take half of this
const maxBytesPerCharacter = 6;

/** Returns the length of a property that can be long. Returns 0 for other properties, and for a property that exceeds its own limit. */
const getLongLength = (key: string, value: Json): number => {
  if (key === "disclosure_text") return typeof value === "string" && value.length <= maxDisclosureLength ? value.length : 0;
  if (!["entities", "entities_accepted", "entities_rejected"].includes(key) || !Array.isArray(value) || value.length > maxEntities)
    return 0;
  const isWithinLimits = value.every((name) => typeof name === "string" && name.length <= maxEntityLength);
  return isWithinLimits ? JSON.stringify(value).length : 0;
};

/**
 * Returns whether a body of more than 256 KiB is accepted. It is accepted if only the disclosure and the recipients make it that large, and
 * each of them is within its own limit.
 */
export const isSubmissionSizeAccepted = (body: Json, bytes: number): boolean => {
  if (!isJsonObject(body)) return false;
  const members = Object.entries(body).map(([key, value]) => ({ value, longLength: getLongLength(key, value) }));
  const longLength = members.reduce((sum, member) => sum + member.longLength, 0);
  const others = members.flatMap((member) => (member.longLength === 0 ? [member.value] : []));
  return bytes <= maxOtherLength + longLength * maxBytesPerCharacter && JSON.stringify(others).length <= maxOtherLength;
};

// Whether an answer to a code, or a link, withdraws. Address and code are judged together and refused in one way: whoever
// holds neither learns nothing, not even that an address is on a certificate.
import type { CertificateStatus } from "../certificates/certificate.ts";
import { isEqualConstantTime } from "../hash.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs } from "../time.ts";
import type { WithdrawalScope } from "./withdrawal.ts";

export const authorizeByCode = (answer: {
  /** Blind index of the address on the certificate; null where it holds none. */
  readonly addressOnCertificate: string | null;
  readonly addressGiven: string;
  /** The code was one that a try was spent on. */
  readonly isCode: boolean;
  readonly status: CertificateStatus;
}): Result<true, "opt_out_failed" | "already_revoked"> => {
  const isAddress = isEqualConstantTime(answer.addressOnCertificate ?? "", answer.addressGiven);
  if (!isAddress || answer.addressOnCertificate === null || !answer.isCode) return refuse("opt_out_failed");
  return answer.status === "revoked" ? refuse("already_revoked") : ok(true);
};

/** A token is the one from the 201, or one that was mailed with a code; which of them it was is how the person withdrew. */
export const authorizeByToken = (answer: {
  /** Of the link from the 201, and whether that still works. */
  readonly expectedHash: string;
  readonly isInTime: boolean;
  /** Of the links that were mailed to the address on the certificate and still work. */
  readonly mailedHashes: readonly string[];
  readonly givenHash: string;
  readonly scope: WithdrawalScope;
  readonly status: CertificateStatus;
}): Result<"manage_link" | "email_code", "opt_out_failed" | "invalid_request" | "already_revoked"> => {
  const isManageLink = isEqualConstantTime(answer.expectedHash, answer.givenHash) && answer.isInTime;
  const wasMailed = answer.mailedHashes.some((mailed) => isEqualConstantTime(mailed, answer.givenHash));
  if (!isManageLink && !wasMailed) return refuse("opt_out_failed");
  // Anybody can submit a form in a person's name and is given this link for it. So it reaches no further than that certificate.
  if (!wasMailed && answer.scope !== "certificate")
    return refuse(
      "invalid_request",
      "scope: must be certificate with the token of manage_url; a code or link from a mail may use business.",
    );
  return answer.status === "revoked" ? refuse("already_revoked") : ok(isManageLink ? "manage_link" : "email_code");
};

/**
 * Of the link in a mail with a code: 256 random bits need no tries to be counted, so it lives as long as codes count. Whoever uses
 * up a day's codes in a person's name has sent them links that work all that day.
 */
export const linkLifetimeMs = dayMs;

const manageLinkYears = 5;

/** The manage link works for five years after the certificate was issued. */
export const isManageLinkValid = (issuedAt: number, now: number): boolean => {
  const end = new Date(issuedAt);
  return now < end.setUTCFullYear(end.getUTCFullYear() + manageLinkYears);
};

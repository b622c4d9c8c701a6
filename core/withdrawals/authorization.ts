// Decides whether a code or a link authorizes a withdrawal. A wrong email address and a wrong code are refused in the same way, so that an
// attacker cannot learn whether an address is on a certificate.
import type { CertificateStatus } from "../certificates/certificate.ts";
import { isEqualConstantTime } from "../hash.ts";
import { ok, refuse, type Result } from "../result.ts";
import { dayMs } from "../time.ts";
import type { WithdrawalScope } from "./withdrawal.ts";

export const authorizeByCode = (attempt: {
  /** True if the email address is on the certificate. */
  readonly isOnCertificate: boolean;
  /** True if the code is valid and the limits on attempts allow this one. */
  readonly isCode: boolean;
  readonly status: CertificateStatus;
}): Result<true, "opt_out_failed" | "already_revoked"> => {
  if (!attempt.isOnCertificate || !attempt.isCode) return refuse("opt_out_failed");
  return attempt.status === "revoked" ? refuse("already_revoked") : ok(true);
};

/**
 * Accepts the token of `manage_url`, which works for only one certificate, or the token of a link that was emailed with a code. Returns the
 * method of the withdrawal.
 */
export const authorizeByToken = (attempt: {
  /** The token hashes of `manage_url`: usually one, plus one for each duplicate of the certificate. */
  readonly expectedHashes: readonly string[];
  readonly isInTime: boolean;
  /** The token hashes of the unexpired links that were emailed to the address on the certificate. */
  readonly mailedHashes: readonly string[];
  readonly givenHash: string;
  readonly scope: WithdrawalScope;
  readonly status: CertificateStatus;
}): Result<"manage_link" | "email_code", "opt_out_failed" | "invalid_request" | "already_revoked"> => {
  const isManageLink = attempt.expectedHashes.some((expected) => isEqualConstantTime(expected, attempt.givenHash)) && attempt.isInTime;
  const wasMailed = attempt.mailedHashes.some((mailed) => isEqualConstantTime(mailed, attempt.givenHash));
  if (!isManageLink && !wasMailed)
    return refuse(
      "opt_out_failed",
      "token: must be a valid token for this certificate. If the certificate has your email address, request a code instead.",
    );
  // Anyone who submits a form in another person's name receives that submission's manage link, so the link must not withdraw other
  // certificates.
  if (!wasMailed && attempt.scope !== "certificate")
    return refuse(
      "invalid_request",
      "scope: must be certificate with the token in manage_url. To withdraw with scope business, use a code or link from an email.",
    );
  return attempt.status === "revoked" ? refuse("already_revoked") : ok(isManageLink ? "manage_link" : "email_code");
};

/**
 * The lifetime of the link in a code email. It is one day, the period of the limit on codes: if an attacker uses up a person's limit, the
 * links in earlier emails still work. The link's token has 256 random bits, so attempts need no limit.
 */
export const linkLifetimeMs = dayMs;

const manageLinkYears = 5;

/** Returns whether the manage link is still valid. It is valid for five years after issuance. */
export const isManageLinkValid = (issuedAt: number, now: number): boolean => {
  const end = new Date(issuedAt);
  return now < end.setUTCFullYear(end.getUTCFullYear() + manageLinkYears);
};

// Whether an answer to a code, or a link, withdraws. Address and code are judged together and refused in one way: whoever
// holds neither learns nothing, not even that an address is on a certificate.
import type { CertificateStatus } from "../certificates/certificate.ts";
import { isSameSecret } from "../hash.ts";
import { ok, refuse, type Result } from "../result.ts";

export const judgeAnswer = (answer: {
  /** Blind index of the address on the certificate; null where it holds none. */
  readonly addressOnCertificate: string | null;
  readonly addressGiven: string;
  /** Keyed hashes of the codes a try was spent on, and of the answer under each. */
  readonly compared: readonly { readonly expected: string; readonly given: string }[];
  readonly status: CertificateStatus;
}): Result<true, "opt_out_failed" | "already_revoked"> => {
  // Every comparison is made, whatever the others found.
  const isAddress = isSameSecret(answer.addressOnCertificate ?? "", answer.addressGiven);
  const codes = answer.compared.map(({ expected, given }) => isSameSecret(expected, given));
  if (!isAddress || answer.addressOnCertificate === null || !codes.includes(true)) return refuse("opt_out_failed");
  return answer.status === "revoked" ? refuse("already_revoked") : ok(true);
};

export const judgeToken = (answer: {
  readonly expectedHash: string;
  readonly givenHash: string;
  readonly isInTime: boolean;
  readonly status: CertificateStatus;
}): Result<true, "opt_out_failed" | "already_revoked"> => {
  if (!isSameSecret(answer.expectedHash, answer.givenHash) || !answer.isInTime) return refuse("opt_out_failed");
  return answer.status === "revoked" ? refuse("already_revoked") : ok(true);
};

const manageYears = 5;

/** The manage link works for five years after the certificate was issued. */
export const isManageable = (issuedAt: number, now: number): boolean => {
  const end = new Date(issuedAt);
  return now < end.setUTCFullYear(end.getUTCFullYear() + manageYears);
};

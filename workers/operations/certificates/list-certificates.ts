// GET /v1/certs.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import type { CertificateSummary } from "../../../core/certificates/published-certificate.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import type { Instant } from "../../../core/time.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { listCertificatePageInShards } from "./list-certificate-page.ts";

export interface CertificateListQuery {
  readonly page: number;
  readonly perPage: number;
  readonly status: CertificateStatus | null;
  readonly subjectEmail: string | null;
  readonly subjectPhone: string | null;
  readonly q: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

export interface CertificateList {
  readonly certificates: readonly CertificateSummary[];
  /** The number of matching certificates on all pages. It is a lower bound if `isTruncated` is true. */
  readonly total: number;
  /** True if more certificates may match than `total` says, or than the pages contain. */
  readonly isTruncated: boolean;
  readonly page: number;
  readonly perPage: number;
}

/**
 * Lists the reader's certificates, newest first, with masked subjects and the total (SPEC Certificate API). An invalid email address
 * matches nothing and takes as long as a valid one without matches.
 */
export const listCertificates = async (
  services: CertificateDependencies,
  reader: BusinessScope,
  query: CertificateListQuery,
): Promise<CertificateList> => {
  const { page, perPage, subjectEmail: email, subjectPhone: phone, q: purposePart, ...others } = query;
  const { business, environment } = reader;
  const { vault, toE164 } = services;
  const emailIndex = email === null ? null : await vault.blindIndex("email", normalizeEmailAddress(email) ?? "");
  const phoneIndex = phone === null ? null : await vault.blindIndex("phone", toE164(phone, business.country) ?? "");
  const filter = { ...others, emailIndex, phoneIndex, purposePart };
  const found = await listCertificatePageInShards(services, business, { environment, filter, page, perPage });
  return { ...found, page, perPage };
};

// Implements GET /v1/certs.
import type { BusinessScope } from "../../../core/access/principal.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import type { CertificateFilter, CertificatePage } from "../../../storage/certificate-list.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { listCertificatePageInShards } from "./list-certificate-page.ts";

export interface CertificateListQuery extends Omit<CertificateFilter, "emailIndex" | "phoneIndex" | "purposePart"> {
  readonly page: number;
  readonly perPage: number;
  readonly subjectEmail: string | null;
  readonly subjectPhone: string | null;
  readonly q: string | null;
}

export interface CertificateList extends CertificatePage {
  readonly page: number;
  readonly perPage: number;
}

/**
 * Lists the business's certificates, newest first, and their total (SPEC Certificate API). The people's details are masked. An invalid
 * email address matches nothing and takes as long as a valid one without matches.
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

// GET /v1/certs: a business's certificates, page by page.
import type { Reader } from "../../../core/access/principal.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { comparablePhone } from "../../../core/certificates/matching.ts";
import type { ListedCertificate } from "../../../core/certificates/published.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { Instant } from "../../../core/time.ts";
import { certificatePage } from "../../../storage/certificate-list.ts";
import type { Phones, Stores } from "../../services.ts";

export interface ListQuery {
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
  readonly certificates: readonly ListedCertificate[];
  /** Certificates that match, on all pages. */
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
}

/** The reader's own certificates, newest first, masked; with the exact total. */
export const listCertificates = async (services: Stores & Phones, reader: Reader, query: ListQuery): Promise<CertificateList> => {
  const email = query.subjectEmail === null ? null : comparableMailbox(query.subjectEmail);
  // An address that is none is on no certificate; a random index finds nothing and costs what a miss costs.
  const emailIndex = query.subjectEmail === null ? null : await services.vault.blindIndex("email", email ?? "");
  const phoneIndex =
    query.subjectPhone === null
      ? null
      : await services.vault.blindIndex("phone", comparablePhone(query.subjectPhone, reader.business.country, services.toE164));
  const { certificates, total } = await certificatePage(services.homes.of(reader.business.id), {
    businessId: reader.business.id,
    environment: reader.environment,
    filter: {
      status: query.status,
      emailIndex,
      phoneIndex,
      purposePart: query.q,
      originDomain: query.originDomain,
      entity: query.entity,
      from: query.from,
      to: query.to,
    },
    page: query.page,
    perPage: query.perPage,
  });
  return { certificates, total, page: query.page, perPage: query.perPage };
};

// How far the pages of a certificate list reach. A later page would read every certificate before it.

/** The newest certificates that pages reach. A filter by date reaches older ones. */
export const maxListedCertificates = 10_000;

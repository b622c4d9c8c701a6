// The maximum number of certificates that a list can show. Reading a page also reads every certificate on the earlier pages.

/** A list ends after this many certificates, newest first. Older certificates can be found with a filter by date. */
export const maxListedCertificates = 10_000;

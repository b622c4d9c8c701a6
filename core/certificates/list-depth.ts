// The maximum number of certificates that the pages of a list can contain. Reading a page also reads every certificate on the earlier
// pages.

/** The number of newest certificates that the pages contain. Older certificates can be found with a filter by date. */
export const maxListedCertificates = 10_000;

// How many certificates the pages of a list can contain. Reading a page also reads every certificate on the pages before it.

/** The number of newest certificates that pages contain. A filter by date reaches older ones. */
export const maxListedCertificates = 10_000;

// A list contains at most this many certificates, the newest ones, because reading a page also reads every certificate on the earlier
// pages. To find older certificates, filter by date.

export const maxListedCertificates = 10_000;

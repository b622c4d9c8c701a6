// The maximum number of certificates in a list, newest first. The number is limited because reading a page also reads every certificate on
// the earlier pages. A date filter finds older certificates.

export const maxListedCertificates = 10_000;

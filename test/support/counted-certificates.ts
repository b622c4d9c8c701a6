// Compares the counters of certificates with the certificates, for tests that read the database directly.

/** Starts a query with `added`, which selects the certificates that the stored counters do not include yet. */
export const newCertificates =
  "WITH added AS (SELECT * FROM certificates WHERE ord > coalesce((SELECT ord FROM counted_certificates), 0)) ";

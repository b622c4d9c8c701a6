// SQL for tests that compare the certificate counters with the certificates in the database.

/** Starts a query with `added`, which selects the certificates that the stored counters do not include yet. */
export const newCertificates =
  "WITH added AS (SELECT * FROM certificates WHERE ord > coalesce((SELECT ord FROM counted_certificates), 0)) ";

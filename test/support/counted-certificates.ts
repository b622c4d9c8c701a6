// SQL for tests that compare the certificate counters with the certificates in the database.

/** The start of a query. It defines `added`, the certificates that the stored counters do not include yet. */
export const newCertificates =
  "WITH added AS (SELECT * FROM certificates WHERE ord > coalesce((SELECT ord FROM counted_certificates), 0)) ";

// The files that a pack may contain. Other files are refused, because no check covers them and they could claim anything.

const requiredFiles: readonly string[] = [
  "MANIFEST.note",
  "MANIFEST.sha256",
  "README.txt",
  "certificate.html",
  "certificate.json",
  "fingerprint/disclosure.txt",
  "fingerprint/preimage.json",
  "manifest.json",
  "policies/index.json",
  "trust/trust.json",
  "views.json",
];

const optionalFilePatterns: readonly RegExp[] = [
  /^subject\/(?:commitments|disclosures)\.json$/,
  /^policies\/(?:privacy|terms)-[0-9a-f]{64}\.txt$/,
  /^anchors\/(?:issued|revoked|withdrawn-[1-9][0-9]{0,2})\/(?:statement\.json|receipt\.json|entry\.tlog-proof|attested\.tlog-proof|checkpoint\.txt|checkpoint\.tsr|rekor\.json)$/,
  /^withdrawals\/[1-9][0-9]{0,2}\/(?:receipt|signature)\.json$/,
  /^audit\/(?:entries\.jsonl|payloads\.json|heads\.json|heads-record\.json|heads-record\.tlog-proof)$/,
  /^audit\/[1-9][0-9]{0,18}\.tlog-proof$/,
  /^trust\/(?:issuer-[A-Za-z0-9_-]{43}|tsa-[0-9a-f]{16})\.pem$/,
];

/** Finds a missing or unexpected file. Returns null if every required file is present and every other file is allowed. */
export const findLayoutFault = (names: readonly string[]): string | null => {
  const missing = requiredFiles.find((name) => !names.includes(name));
  if (missing !== undefined) return `${missing} is missing`;
  const extra = names.find((name) => !requiredFiles.includes(name) && !optionalFilePatterns.some((pattern) => pattern.test(name)));
  return extra === undefined ? null : `${extra} does not belong in a pack`;
};

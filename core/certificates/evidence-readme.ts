// README.txt in an evidence pack: how to check the pack with common tools. The text is part of the pack format.
import type { JsonObject } from "../canonical-json.ts";

export interface VerifierRelease {
  readonly url: string;
  /** The SHA-256 of the verifier, as hex. */
  readonly sha256: string;
}

/** Returns the verifier listed in a trust document, or null if there is none. */
export const parseVerifierRelease = (trust: JsonObject): VerifierRelease | null => {
  const { url, sha256 } = (trust.verifier ?? {}) as Partial<VerifierRelease>;
  return url === undefined || sha256 === undefined ? null : { url, sha256 };
};

const buildDownloadSteps = (verifier: VerifierRelease | null): string =>
  verifier === null
    ? ""
    : `
    curl -O ${verifier.url}
    echo "${verifier.sha256}  svc-verify.mjs" | sha256sum -c
`;

export const buildReadme = ({
  certId,
  kid,
  issuerVkey,
  verifier,
}: {
  readonly certId: string;
  readonly kid: string;
  readonly issuerVkey: string;
  readonly verifier: VerifierRelease | null;
}): string =>
  `EVIDENCE OF CONSENT
certificate ${certId}

This folder proves what a person was shown, who asked, for what and when, without relying on the issuer.
certificate.html explains it in plain language. Every other file is exactly what was hashed or signed.


1. With one tool
${buildDownloadSteps(verifier)}
    node svc-verify.mjs evidence-${certId}.zip --trust trust.json

It is one JavaScript file without dependencies (Node 20 or later) and needs no network. trust.json lists the keys you trust:
take it from the issuer's /.well-known/svc-trust.json and keep your own copy. The copy in trust/ comes from the same source as
everything else here, so by itself it proves nothing. The hash above is for the verifier when this pack was made; trust.json has the current one.
Exit code 0: every check passed. 1: a check failed and is named. 2: unreadable. 3: nothing is wrong, but something that was
asked for is not there yet, or no trust of your own was given.


2. With sha256sum

    sha256sum -c MANIFEST.sha256          nothing in the folder was changed
    sha256sum fingerprint/preimage.json   is the certificate's fingerprint
    sha256sum fingerprint/disclosure.txt  is disclosure_hash in the preimage
    sha256sum subject/commitments.json    is subject_hash in the preimage
    sha256sum anchors/issued/statement.json
                                          is entry_hash in anchors/issued/receipt.json
    sha256sum policies/*.txt              are the hashes in their names

subject/disclosures.json holds [salt, key, value] for each disclosed field. Written as canonical JSON (no spaces), the SHA-256
of one such triple is the commitment of that field in subject/commitments.json.


3. With openssl

The issuer signed the preimage:

    sed -n 's/.*"signature":{"alg":"Ed25519","kid":"[^"]*","value":"\\([^"]*\\)".*/\\1/p' certificate.json | base64 -d > signature.bin
    openssl pkeyutl -verify -pubin -inkey trust/issuer-${kid}.pem -rawin -in fingerprint/preimage.json -sigfile signature.bin

Where anchors/issued/checkpoint.tsr is present, a time-stamp authority saw the ledger's checkpoint at the stated time:

    openssl ts -verify -data anchors/issued/checkpoint.txt -in anchors/issued/checkpoint.tsr -CAfile <certificate of the authority: trust/tsa-*.pem>
    openssl ts -reply -text -in anchors/issued/checkpoint.tsr


4. With Go (golang.org/x/mod/sumdb) or any C2SP tool

MANIFEST.note and every checkpoint are signed notes (c2sp.org/signed-note); files named *.tlog-proof follow
c2sp.org/tlog-proof@v1. The key of the manifest is

    ${issuerVkey}

and the keys of the logs are in trust.json under "logs". In Go, with the lines of entry.tlog-proof split
(index, hashes, and after the empty line the checkpoint: origin, size, root):

    verifier, err := note.NewVerifier(vkey)
    signed, err := note.Open(checkpoint, note.VerifierList(verifier))
    err = tlog.CheckRecord(hashes, size, root, index, tlog.RecordHash(statement))

For an entry of the audit log the record is the 32 bytes of the SHA-256 of its line in audit/entries.jsonl (without the line
break); for audit/heads-record.tlog-proof it is the 32 bytes of the SHA-256 of audit/heads-record.json.


What is in here

    manifest.json                list of files; omissions are under "redacted"
    certificate.json             the public record, and the evidence kept with it
    fingerprint/                 the text behind the fingerprint, and the disclosure as shown
    subject/                     commitments to the person's fields, and those fields that were disclosed
    policies/                    privacy policy and terms at that time
    anchors/issued, /revoked     the ledger's receipts; anchors/withdrawn-1 and so on: of withdrawals from individual recipients
    withdrawals/1 and so on      the signed receipt of each withdrawal from individual recipients
    audit/                       entries about this certificate, with proof that the audit log contains each
    views.json                   when the public page was opened
    trust/                       a copy of the public keys, for convenience
`;

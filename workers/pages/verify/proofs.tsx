// What the page checks besides the fingerprint: the issuer's signature, the ledger, and what others attested, by the verifier that
// checks evidence packs. What it checks goes along as text; client/proofs fills in the answers.
import type { FC } from "hono/jsx";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import type { Words } from "../shared/i18n/words.ts";

interface Checked {
  readonly status: CertificateStatus;
  readonly published: object;
  readonly trust: object;
  readonly words: Words;
}

export const Proofs: FC<Checked> = ({ status, published, trust, words }) => {
  const rows = [
    ["signature", words.proofSignature],
    ["ledger", words.proofLedger],
    ["others", words.proofOthers],
    ...(status === "revoked" ? [["withdrawal", words.proofWithdrawal] as const] : []),
  ] as const;
  return (
    <details
      class="record proofs"
      id="proofs"
      data-pass={words.proofPass}
      data-fail={words.proofFail}
      data-incomplete={words.proofIncomplete}
      data-skipped={words.proofSkipped}
    >
      <summary>{words.proofs}</summary>
      <p>{words.proofsIntro}</p>
      <dl>
        {rows.map(([name, label]) => (
          <div>
            <dt>{label}</dt>
            <dd data-proof={name}>{words.proofWaiting}</dd>
          </div>
        ))}
      </dl>
      <code id="published" hidden translate="no">
        {JSON.stringify(published)}
      </code>
      <code id="trust" hidden translate="no">
        {JSON.stringify(trust)}
      </code>
    </details>
  );
};

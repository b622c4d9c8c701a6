// How a certificate is checked without believing us: by the page itself, by common tools, by the verifier.
import type { FC } from "hono/jsx";
import { publishedCanonical, type PublishedCertificate } from "../../../core/certificates/published.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import { CopyButton, Hash, Row, Section, Shape, useSetting } from "../shared/parts.tsx";

interface Checked {
  readonly certificate: PublishedCertificate;
  /** What the page hands its own verifier: the public answer of verify, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

/**
 * What the page checks besides the fingerprint: the issuer's signature, the ledger, and what others attested, by the verifier that checks
 * evidence packs. What it checks goes along as text; client/proofs fills in the answers.
 */
const Proofs: FC<Checked> = ({ certificate, published, trust }) => {
  const { words } = useSetting();
  const rows = [
    ["signature", words.proofSignature],
    ["ledger", words.proofLedger],
    ["others", words.proofOthers],
    ...(certificate.status === "revoked" ? [["withdrawal", words.proofWithdrawal] as const] : []),
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

/** Where the verifier and the keys are got, and the one command: the same as the README of a pack. */
const ByTool: FC<Checked> = ({ certificate, trust }) => {
  const { words } = useSetting();
  const { url, sha256 } = trust.verifier;
  return (
    <div class="by-tool">
      <p>{words.byTool}</p>
      <dl>
        <Row name={words.byToolFile}>
          <a href={url} download="svc-verify.mjs">
            svc-verify.mjs
          </a>
          <p class="quiet">
            {words.byToolHash} <Hash value={sha256} id="verifier-sha256" />
          </p>
        </Row>
        <Row name={words.byToolKeys}>
          <a href={new URL("/.well-known/svc-trust.json", url).href} download="svc-trust.json">
            svc-trust.json
          </a>
        </Row>
      </dl>
      <pre>
        <code translate="no">{`node svc-verify.mjs evidence-${certificate.id}.zip --trust svc-trust.json`}</code>
      </pre>
    </div>
  );
};

export const Check: FC<Checked & { readonly apiBase: string }> = ({ apiBase, ...checked }) => {
  const { words, language } = useSetting();
  const { certificate } = checked;
  const json = `${apiBase}/certs/${certificate.id}/verify`;
  return (
    <Section name="check" heading={words.check}>
      <p>{words.checkIntro}</p>
      <dl>
        <Row name={words.fingerprint}>
          <div class="fingerprint">
            <Hash value={certificate.fingerprint} id="fingerprint" bound="fingerprint" />
            <CopyButton of="fingerprint" label={words.copyFingerprint} />
          </div>
        </Row>
      </dl>
      <div
        class="verdict"
        id="verdict"
        role="status"
        data-match={words.match}
        data-mismatch={words.mismatch}
        data-mismatch-fingerprint={words.mismatchFingerprint}
        data-mismatch-page={words.mismatchPage}
        data-unable={words.unable}
      >
        <Shape name="tick" />
        <Shape name="cross" />
        <Shape name="clock" />
        <p>{words.notChecked}</p>
      </div>
      <details class="record">
        <summary>{words.record}</summary>
        <pre>
          <code id="record" data-bound="record" translate="no">
            {publishedCanonical(certificate)}
          </code>
        </pre>
        <CopyButton of="record" label={words.copyRecord} />
        <dl>
          <Row name={words.certificateNumber}>
            <Hash value={certificate.id} bound="cert_id" />
          </Row>
          <Row name={words.businessNumber}>
            <Hash value={certificate.businessId} bound="business.id" />
          </Row>
          <Row name={words.disclosureHash}>
            <Hash value={certificate.disclosureHash} bound="disclosure_hash" />
          </Row>
          <Row name={words.subjectHash}>
            <Hash value={certificate.subjectHash} bound="subject_hash" />
          </Row>
        </dl>
      </details>
      <Proofs {...checked} />
      <ByTool {...checked} />
      <details class="by-hand">
        <summary>{words.byHand}</summary>
        <p>{words.byHandFile}</p>
        <pre>
          <code translate="no">sha256sum record.json</code>
        </pre>
        <p>{words.byHandFetch}</p>
        <pre>
          <code translate="no">{`curl -s ${json} | jq -j .data.canonical | sha256sum\ncurl -s ${json} | jq -j .data.disclosure_text | sha256sum`}</code>
        </pre>
      </details>
      <ul class="links">
        <li>
          <a href={`format?lang=${language}`}>{words.formatLink}</a>
        </li>
        <li>
          <a href={json}>{words.jsonLink}</a>
        </li>
      </ul>
    </Section>
  );
};

// The section that explains how to check a certificate without trusting this service: in the page, with common tools, or with the verifier.
import type { FC } from "hono/jsx";
import { canonicalPreimageFromPublished, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import { CopyButton, Hash, DescriptionRow, Section, Icon, usePageContext } from "../shared/components.tsx";

interface VerificationProps {
  readonly certificate: PublishedCertificate;
  /** Embedded for the verifier in the page: the public verification response, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

/**
 * Results of the checks besides the fingerprint: the issuer's signature, the ledger, and third-party attestations. client/proofs runs
 * the evidence pack verifier on the embedded JSON and fills in the results.
 */
const ProofResults: FC<VerificationProps> = ({ certificate, published, trust }) => {
  const { messages } = usePageContext();
  const rows = [
    ["signature", messages.proofSignature],
    ["ledger", messages.proofLedger],
    ["others", messages.proofOthers],
    ...(certificate.status === "revoked" ? [["withdrawal", messages.proofWithdrawal] as const] : []),
  ] as const;
  return (
    <details
      class="record proofs"
      id="proofs"
      data-pass={messages.proofPass}
      data-fail={messages.proofFail}
      data-incomplete={messages.proofIncomplete}
      data-skipped={messages.proofSkipped}
    >
      <summary>{messages.proofs}</summary>
      <p>{messages.proofsIntro}</p>
      <dl>
        {rows.map(([name, label]) => (
          <div>
            <dt>{label}</dt>
            <dd data-proof={name}>{messages.proofWaiting}</dd>
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

/** Download links for the verifier and the keys, and the command to run: the same as in the README of an evidence pack. */
const VerifierInstructions: FC<VerificationProps> = ({ certificate, trust }) => {
  const { messages } = usePageContext();
  const { url, sha256 } = trust.verifier;
  return (
    <div class="by-tool">
      <p>{messages.byTool}</p>
      <dl>
        <DescriptionRow name={messages.byToolFile}>
          <a href={url} download="svc-verify.mjs">
            svc-verify.mjs
          </a>
          <p class="quiet">
            {messages.byToolHash} <Hash value={sha256} id="verifier-sha256" />
          </p>
        </DescriptionRow>
        <DescriptionRow name={messages.byToolKeys}>
          <a href={new URL("/.well-known/svc-trust.json", url).href} download="svc-trust.json">
            svc-trust.json
          </a>
        </DescriptionRow>
      </dl>
      <pre>
        <code translate="no">{`node svc-verify.mjs evidence-${certificate.id}.zip --trust svc-trust.json`}</code>
      </pre>
    </div>
  );
};

export const CertificateVerification: FC<VerificationProps & { readonly apiBaseUrl: string }> = ({ apiBaseUrl, ...props }) => {
  const { messages, language } = usePageContext();
  const { certificate } = props;
  const verificationUrl = `${apiBaseUrl}/certs/${certificate.id}/verify`;
  return (
    <Section name="check" heading={messages.check}>
      <p>{messages.checkIntro}</p>
      <dl>
        <DescriptionRow name={messages.fingerprint}>
          <div class="fingerprint">
            <Hash value={certificate.fingerprint} id="fingerprint" bound="fingerprint" />
            <CopyButton of="fingerprint" label={messages.copyFingerprint} />
          </div>
        </DescriptionRow>
      </dl>
      <div
        class="verdict"
        id="verdict"
        role="status"
        data-match={messages.match}
        data-mismatch={messages.mismatch}
        data-mismatch-fingerprint={messages.mismatchFingerprint}
        data-mismatch-page={messages.mismatchPage}
        data-unable={messages.unable}
      >
        <Icon name="circle-check" />
        <Icon name="ban" />
        <Icon name="clock" />
        <p>{messages.notChecked}</p>
      </div>
      <details class="record">
        <summary>{messages.record}</summary>
        <pre>
          <code id="record" data-bound="record" translate="no">
            {canonicalPreimageFromPublished(certificate)}
          </code>
        </pre>
        <CopyButton of="record" label={messages.copyRecord} />
        <dl>
          <DescriptionRow name={messages.certificateNumber}>
            <Hash value={certificate.id} bound="cert_id" />
          </DescriptionRow>
          <DescriptionRow name={messages.businessNumber}>
            <Hash value={certificate.businessId} bound="business.id" />
          </DescriptionRow>
          <DescriptionRow name={messages.disclosureHash}>
            <Hash value={certificate.disclosureHash} bound="disclosure_hash" />
          </DescriptionRow>
          <DescriptionRow name={messages.subjectHash}>
            <Hash value={certificate.subjectHash} bound="subject_hash" />
          </DescriptionRow>
        </dl>
      </details>
      <ProofResults {...props} />
      <VerifierInstructions {...props} />
      <details class="by-hand">
        <summary>{messages.byHand}</summary>
        <p>{messages.byHandFile}</p>
        <pre>
          <code translate="no">sha256sum record.json</code>
        </pre>
        <p>{messages.byHandFetch}</p>
        <pre>
          <code translate="no">{`curl -s ${verificationUrl} | jq -j .data.canonical | sha256sum\ncurl -s ${verificationUrl} | jq -j .data.disclosure_text | sha256sum`}</code>
        </pre>
      </details>
      <ul class="links">
        <li>
          <a href={`format?lang=${language}`}>{messages.formatLink}</a>
        </li>
        <li>
          <a href={verificationUrl}>{messages.jsonLink}</a>
        </li>
      </ul>
    </Section>
  );
};

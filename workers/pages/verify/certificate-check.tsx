// How a certificate is checked without believing us: by the page itself, by common tools, by the verifier.
import type { FC } from "hono/jsx";
import { publishedCanonical, type PublishedCertificate } from "../../../core/certificates/published.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import { Row, Section, type Shown } from "./certificate-parts.tsx";
import type { Words } from "../shared/i18n/words.ts";
import { CopyButton, Hash, Shape } from "../shared/parts.tsx";
import { Proofs } from "./proofs.tsx";

/** Where the verifier and the keys are got, and the one command: the same as the README of a pack. */
const ByTool: FC<{ certificate: PublishedCertificate; trust: TrustDocument; words: Words }> = ({ certificate, trust, words }) => {
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

export const Check: FC<Shown> = ({ page: { certificate }, setting, apiBase, published, trust }) => {
  const { words } = setting;
  const json = `${apiBase}/certs/${certificate.id}/verify`;
  return (
    <Section name="check" heading={words.check}>
      <p>{words.checkIntro}</p>
      <dl>
        <Row name={words.fingerprint}>
          <div class="fingerprint">
            <Hash value={certificate.fingerprint} id="fingerprint" bound="fingerprint" />
            <CopyButton of="fingerprint" label={words.copyFingerprint} words={words} />
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
        <CopyButton of="record" label={words.copyRecord} words={words} />
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
      <Proofs status={certificate.status} published={published} trust={trust} words={words} />
      <ByTool certificate={certificate} trust={trust} words={words} />
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
          <a href={`format?lang=${setting.language}`}>{words.formatLink}</a>
        </li>
        <li>
          <a href={json}>{words.jsonLink}</a>
        </li>
      </ul>
    </Section>
  );
};

// The panel that says whether a certificate is genuine. It lists the checks that the page script runs in the visitor's browser, and
// explains how to check the certificate without trusting this page.
import type { Child, FC } from "hono/jsx";
import {
  canonicalPreimageFromPublished,
  type PublishedAnchor,
  type PublishedCertificate,
} from "../../../core/certificates/published-certificate.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import type { IconName } from "../shared/icon-names.ts";
import {
  CodeBlock,
  CopyButton,
  FormattedMessage,
  Hash,
  Icon,
  Section,
  StatusBadge,
  Timestamp,
  formatMessage,
  formatNumber,
  usePageContext,
  PropertyList,
} from "../shared/components.tsx";

interface VerificationProps {
  readonly certificate: PublishedCertificate;
  /**
   * The public verification response, which is embedded in the page with the service's keys so that the verifier in the page can check it.
   */
  readonly published: object;
  readonly trust: TrustDocument;
}

interface CheckItemProps {
  /** The name that client/proofs uses to find this check. */
  readonly name: "fingerprint" | "signature" | "ledger" | "others" | "withdrawal";
  readonly label: string;
  /** The title that replaces `label` if the check passes. */
  readonly passed: string;
  readonly passedText?: string;
  readonly incompleteText?: string;
  readonly skippedText?: string;
  /** A detail of the record, such as the ledger entry. It is shown whether or not the check ran. */
  readonly fact?: Child;
}

/** The page script replaces "Not checked in this browser" with the result of the check. */
const CheckItem: FC<CheckItemProps> = ({ name, label, passed, passedText, incompleteText, skippedText, fact }) => {
  const { messages } = usePageContext();
  return (
    <li
      class="open"
      data-proof={name}
      data-passed={passed}
      data-pass={passedText}
      data-fail={messages.doesNotMatch}
      data-incomplete={incompleteText ?? messages.incomplete}
      data-skipped={skippedText}
    >
      <Icon name="circle-dashed" />
      <div>
        <strong>{label}</strong>
        <small class="outcome">{messages.notChecked}</small>
        {fact !== undefined && <small>{fact}</small>}
      </div>
    </li>
  );
};

/** Shows the index of the statement's ledger entry and when it was recorded. Renders nothing until the statement is anchored. */
const LedgerEntry: FC<{ anchor: PublishedAnchor | null | undefined }> = ({ anchor }) => {
  const { messages, language } = usePageContext();
  if (anchor == null || anchor.receipt === null || anchor.anchoredAt === null) return null;
  const index = formatNumber(Number(anchor.receipt.leaf_index), language);
  return <FormattedMessage text={messages.ledgerText} parts={{ index, date: <Timestamp at={anchor.anchoredAt} /> }} />;
};

/** The icons for outcomes. The page script shows the one that matches a check's outcome. */
const outcomeIcons: readonly (readonly [outcome: string, icon: IconName])[] = [
  ["pass", "circle-check"],
  ["fail", "circle-x"],
  ["incomplete", "clock"],
  ["skipped", "circle-minus"],
  ["genuine", "shield-check"],
];

/**
 * Lists the checks: the fingerprint, the issuer's signature, the ledger, third-party attestations and, after a withdrawal, its proofs.
 * client/verify.ts and client/proofs run them on the text of the page and on the embedded JSON.
 */
const CheckList: FC<VerificationProps> = ({ certificate, published, trust }) => {
  const { messages, language } = usePageContext();
  const { anchor, withdrawal, signature } = certificate;
  const witnesses = anchor?.attested?.attestations.length ?? 0;
  const witnessed =
    witnesses === 1 ? messages.witnessedOne : formatMessage(messages.witnessed, { count: formatNumber(witnesses, language) });
  return (
    <>
      <ul class="checks" id="checks">
        <CheckItem name="fingerprint" label={messages.fingerprintCheck} passed={messages.unchanged} passedText={messages.unchangedText} />
        <CheckItem
          name="signature"
          label={messages.signatureCheck}
          passed={messages.signed}
          fact={formatMessage(messages.signatureText, { algorithm: signature.alg, key: `${signature.kid.slice(0, 8)}…` })}
        />
        <CheckItem
          name="ledger"
          label={messages.ledgerCheck}
          passed={messages.inLedger}
          incompleteText={messages.ledgerPending}
          fact={<LedgerEntry anchor={anchor} />}
        />
        <CheckItem
          name="others"
          label={messages.witnessCheck}
          passed={witnessed}
          passedText={witnesses === 1 ? messages.witnessTextOne : messages.witnessText}
          skippedText={messages.witnessNone}
        />
        {withdrawal !== null && (
          <CheckItem
            name="withdrawal"
            label={messages.withdrawalCheck}
            passed={messages.withdrawalCheck}
            incompleteText={messages.ledgerPending}
            fact={<LedgerEntry anchor={withdrawal.anchor} />}
          />
        )}
      </ul>
      <template id="outcome-icons">
        {outcomeIcons.map(([outcome, icon]) => (
          <span data-outcome={outcome}>
            <Icon name={icon} />
          </span>
        ))}
      </template>
      <code id="published" hidden translate="no">
        {JSON.stringify(published)}
      </code>
      <code id="trust" hidden translate="no">
        {JSON.stringify(trust)}
      </code>
    </>
  );
};

const CommandBlock: FC<{ lines: string }> = ({ lines }) => (
  <div class="code">
    <CodeBlock label={usePageContext().messages.command}>{lines}</CodeBlock>
  </div>
);

/** Explains how to get the verifier and its keys, and which command to run. The README of an evidence pack says the same. */
const VerifierInstructions: FC<VerificationProps> = ({ certificate, trust }) => {
  const { messages } = usePageContext();
  const { url, sha256 } = trust.verifier;
  return (
    <>
      <p>{messages.verifyIntro}</p>
      <CommandBlock lines={`node svc-verify.mjs evidence-${certificate.id}.zip --trust svc-trust.json`} />
      <p class="row">
        <a class="link" href={url} download="svc-verify.mjs">
          {messages.verifierFile}
        </a>
        <a class="link" href={new URL("/.well-known/svc-trust.json", url).href} download="svc-trust.json">
          {messages.verifierKeys}
        </a>
      </p>
      <p class="quiet">
        svc-verify.mjs, {messages.verifierHash} <Hash value={sha256} id="verifier-sha256" />
      </p>
    </>
  );
};

/** Shows the text that the fingerprint is computed from. The text includes members that the page does not show anywhere else. */
const RecordText: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const { messages } = usePageContext();
  return (
    <>
      <h3>{messages.record}</h3>
      <p>{messages.recordText}</p>
      <div class="code">
        <CodeBlock id="record" bound="record" label={messages.record} isWrapped>
          {canonicalPreimageFromPublished(certificate)}
        </CodeBlock>
      </div>
      <CopyButton elementId="record" label={messages.copyRecord} />
      <PropertyList
        isStacked
        lines={[
          [messages.businessId, <Hash value={certificate.businessId} bound="business.id" />],
          [messages.disclosureHash, <Hash value={certificate.disclosureHash} bound="disclosure_hash" />],
          [messages.subjectHash, <Hash value={certificate.subjectHash} bound="subject_hash" />],
        ]}
      />
    </>
  );
};

const CommonTools: FC<{ verificationUrl: string }> = ({ verificationUrl }) => {
  const { messages } = usePageContext();
  const fetchCommand = `curl -s ${verificationUrl} | jq -j .data`;
  return (
    <>
      <h3>{messages.byHand}</h3>
      <p>{messages.byHandFile}</p>
      <CommandBlock lines="sha256sum record.json" />
      <p>{messages.byHandFetch}</p>
      <CommandBlock lines={`${fetchCommand}.canonical | sha256sum\n${fetchCommand}.disclosure_text | sha256sum`} />
    </>
  );
};

export const CertificateVerification: FC<VerificationProps & { readonly apiBaseUrl: string }> = ({ apiBaseUrl, ...props }) => {
  const { messages, language } = usePageContext();
  const { certificate } = props;
  const verificationUrl = `${apiBaseUrl}/certs/${certificate.id}/verify`;
  return (
    <Section
      name="check"
      class="verify off"
      heading={messages.check}
      status={
        <span
          id="verdict"
          role="status"
          data-pass={messages.allPass}
          data-fail={messages.doesNotMatch}
          data-incomplete={messages.someIncomplete}
          data-genuine={messages.genuine}
          data-not-genuine={messages.notGenuine}
          data-mismatch-fingerprint={messages.mismatchFingerprint}
          data-mismatch-page={messages.mismatchPage}
          data-unable={messages.unable}
          data-active={certificate.status === "active" ? "" : undefined}
        >
          <StatusBadge tone="plain" icon="circle-dashed" text={messages.notChecked} />
        </span>
      }
      hint={certificate.withdrawal === null ? undefined : messages.withdrawnGenuine}
      footer={
        <>
          <a class="link" href={verificationUrl}>
            <Icon name="file-down" />
            {messages.jsonLink}
          </a>
          <button type="button" class="link" id="print" hidden>
            <Icon name="printer" />
            {messages.print}
          </button>
        </>
      }
    >
      <CheckList {...props} />
      <noscript>
        <p class="small quiet">{messages.notCheckedAdvice}</p>
      </noscript>
      <div>
        <p class="small">
          <strong>{messages.fingerprint}</strong> <span class="quiet">{messages.fingerprintText}</span>
        </p>
        <div class="copyline">
          <Hash value={certificate.fingerprint} id="fingerprint" bound="fingerprint" />
          <CopyButton elementId="fingerprint" label={messages.copyFingerprint} />
        </div>
      </div>
      <details class="more no-print" id="by-hand">
        <summary>
          <Icon name="chevron-right" />
          {messages.verifyYourself}
        </summary>
        <div class="stack small">
          <VerifierInstructions {...props} />
          <p>
            <a href={`format?lang=${language}`}>{messages.formatLink}</a>
          </p>
          <RecordText certificate={certificate} />
          <CommonTools verificationUrl={verificationUrl} />
        </div>
      </details>
    </Section>
  );
};

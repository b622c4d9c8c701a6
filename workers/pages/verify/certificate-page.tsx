// What the public page of a certificate says, in the order a reader needs it: what it is, what was shown, who may contact,
// what for, what has happened, and how to check all of it. Everything comes from the published certificate; nothing that
// only its owner may see can get here. Elements marked `data-bound` are what client/verify.ts compares with the record.
import type { Child, FC } from "hono/jsx";
import {
  isOnVerifiedDomain,
  isRefusal,
  policiesStatus,
  type PublishedCertificate,
  type PublishedPolicy,
} from "../../../core/certificates/published.ts";
import { verifyUrlOf, type ViewContext } from "../../../core/certificates/views.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { CertificatePage } from "../../operations/certificates/page.ts";
import type { Words } from "../shared/i18n/words.ts";
import type { Page } from "../shared/layout.tsx";
import {
  Exact,
  filled,
  Foreign,
  Hash,
  Moment,
  numberText,
  Points,
  Remarks,
  Row,
  Section,
  Sentence,
  Shape,
  Status,
  useSetting,
  type Setting,
} from "../shared/parts.tsx";
import { actsOf, unlessErased, WithdrawalForms, WithdrawnSummary } from "../withdrawal/parts.tsx";
import { Check } from "./certificate-check.tsx";
import { Timeline } from "./certificate-timeline.tsx";
import { QrCode } from "./qr.tsx";

type Part = FC<{ certificate: PublishedCertificate }>;

const Standing: Part = ({ certificate }) => {
  const { words } = useSetting();
  return (
    <p class="statuses">
      {certificate.status !== "active" ? (
        <Status tone="bad" shape="cross" text={words.withdrawn} />
      ) : isRefusal(certificate) ? (
        <Status tone="caution" shape="cross" text={words.refused} />
      ) : (
        <Status tone="good" shape="tick" text={words.active} />
      )}{" "}
      {certificate.environment === "sandbox" && <Status tone="caution" shape="warning" text={words.sandbox} />}
    </p>
  );
};

const Opening: Part = ({ certificate }) => {
  const { words } = useSetting();
  return (
    <header class="opening">
      <p class="kind">{isRefusal(certificate) ? words.certificateOfRefusal : words.certificate}</p>
      <h1>
        <Exact text={certificate.businessName} bound="business.name" />
      </h1>
      <Remarks text={certificate.businessName} />
      <div class="standing">
        <Standing certificate={certificate} />
        <p>
          <Sentence text={words.issuedOn} parts={{ date: <Moment at={certificate.issuedAt} bound="timestamp" /> }} />
        </p>
      </div>
      {certificate.environment === "sandbox" && <p class="notice caution">{words.summarySandbox}</p>}
      {isRefusal(certificate) && <p class="notice caution">{words.summaryRefused}</p>}
      {certificate.status === "revoked" && (
        <p class="notice bad">
          {words.summaryWithdrawn}
          {certificate.withdrawal !== null && (
            <>
              {" "}
              <WithdrawnSummary of={certificate.withdrawal} />
            </>
          )}
        </p>
      )}
      <p class="summary">
        <Sentence
          text={words.summary}
          parts={{
            domain: <Exact text={certificate.originDomain} bound="origin_domain" />,
            business: <Exact text={certificate.businessName} bound="business.name" />,
          }}
        />
      </p>
    </header>
  );
};

const Disclosure: Part = ({ certificate }) => (
  <Section name="shown" heading={useSetting().words.shown}>
    <blockquote>
      <Exact text={certificate.disclosureText} bound="disclosure" passage />
    </blockquote>
    <Remarks text={certificate.disclosureText} />
  </Section>
);

const listedAtOnce = 12; // what a reader takes in at a glance; further names are one press away, and always in print

const Names: FC<{ names: readonly string[] }> = ({ names }) => {
  const { words, language } = useSetting();
  const list = names.map((name) => <Foreign text={name} bound="entity" />);
  if (list.length <= listedAtOnce + 1) return <Points of={list} />;
  return (
    <>
      <Points of={list.slice(0, listedAtOnce)} />
      <details>
        <summary>{filled(words.furtherRecipients, { count: numberText(list.length - listedAtOnce, language) })}</summary>
        <Points of={list.slice(listedAtOnce)} />
      </details>
    </>
  );
};

/** `list` names the member of the record these names stand in; an answer that nobody gave stands there empty. */
const Answer: FC<{ shape?: "tick" | "cross"; heading: string; list: string; names: readonly string[] }> = (answer) => (
  <div class="answer" data-list={answer.list}>
    <h3>
      {answer.shape !== undefined && (
        <>
          <Shape name={answer.shape} />{" "}
        </>
      )}
      {answer.heading}
    </h3>
    {answer.names.length === 0 ? <p class="quiet">{useSetting().words.nobody}</p> : <Names names={answer.names} />}
  </div>
);

/** Those the person has withdrawn from, act by act. In the record they stand among the accepted ones where each was asked about. */
const Withdrawn: Part = ({ certificate }) => (
  <>
    {actsOf(certificate).map((act) => (
      <div class="answer" {...(certificate.answered !== null && { "data-list": "entities_accepted" })}>
        <h3>
          <Shape name="cross" /> {useSetting().words.withdrawnFrom}
        </h3>
        <p class="quiet">
          <WithdrawnSummary of={act} />
        </p>
        <Names names={act.entities} />
      </div>
    ))}
  </>
);

const Recipients: Part = ({ certificate }) => {
  const { entities, answered, entitiesWithdrawn, status } = certificate;
  const { words } = useSetting();
  const isWithdrawn = status === "revoked";
  const heading = isRefusal(certificate) ? words.recipientsNamed : isWithdrawn ? words.recipientsWithdrawn : words.recipients;
  const isSome = entitiesWithdrawn.length > 0;
  const deadline = certificate.withdrawal !== null && (
    <p>
      <Sentence text={words.recipientsDeadline} parts={{ deadline: <Moment at={certificate.withdrawal.ceaseBy} /> }} />
    </p>
  );
  const standing = standingEntities(certificate);
  if (answered === null) {
    return (
      <Section name="recipients" heading={heading}>
        {deadline}
        <p>{entities.length === 1 ? words.namedOne : words.namedTogether}</p>
        <Names names={standing} />
        {isSome && (
          <div class="answers">
            <Withdrawn certificate={certificate} />
          </div>
        )}
      </Section>
    );
  }
  const told = new Set([...answered.accepted, ...answered.rejected]);
  const notAsked = entities.filter((name) => !told.has(name));
  return (
    <Section name="recipients" heading={heading}>
      {deadline}
      <p>{words.askedEach}</p>
      <div class="answers">
        <Answer
          shape={isWithdrawn ? "cross" : "tick"}
          heading={isWithdrawn ? words.withdrawnFrom : words.accepted}
          list="entities_accepted"
          names={standing}
        />
        {isSome && <Withdrawn certificate={certificate} />}
        <Answer shape="cross" heading={words.declined} list="entities_rejected" names={answered.rejected} />
        {notAsked.length > 0 && <Answer heading={words.notAsked} list="entities" names={notAsked} />}
      </div>
    </Section>
  );
};

const fieldName = (key: string, words: Words): Child =>
  Object.hasOwn(words.fields, key) ? words.fields[key as keyof Words["fields"]] : <Exact text={key} />;

const Person: Part = ({ certificate }) => {
  const { words } = useSetting();
  if (certificate.subjectErasedAt !== null) return <p class="quiet">{words.erased}</p>;
  return (
    <>
      <ul class="person">
        {Object.entries(certificate.subjectMasked).map(([key, value]) => (
          <li>
            <span class="field">{fieldName(key, words)}</span>{" "}
            {value === "" ? <span class="quiet">{words.leftEmpty}</span> : <Foreign text={value} />}
          </li>
        ))}
      </ul>
      <p class="quiet">
        {words.masked} {words.checks.subject}
      </p>
    </>
  );
};

const Details: Part = ({ certificate }) => {
  const { words } = useSetting();
  const { checks } = words;
  const [origin, domain] = isOnVerifiedDomain(certificate)
    ? [certificate.capturedVia === "browser" ? checks.origin_browser : checks.origin_server, checks.domain]
    : [checks.origin_unverified, checks.domain_unverified];
  return (
    <Section name="details" heading={words.details}>
      <dl>
        <Row name={words.purpose}>
          <Foreign text={certificate.purpose} bound="purpose" />
        </Row>
        <Row name={words.website}>
          <Exact text={certificate.originDomain} bound="origin_domain" />
          <p class="quiet">
            {origin} {domain}
          </p>
        </Row>
        <Row name={words.person}>
          <Person certificate={certificate} />
        </Row>
        {certificate.gpc && <Row name={words.signal}>{words.signalGpc}</Row>}
      </dl>
    </Section>
  );
};

/** A link only where following it can do nothing but open a web page. */
const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const Policy: FC<{ policy: PublishedPolicy }> = ({ policy }) => {
  const { words } = useSetting();
  const address = <Foreign text={policy.sourceUrl} />;
  return (
    <Row name={policy.kind === "privacy" ? words.privacy : words.terms}>
      {isWebAddress(policy.sourceUrl) ? (
        <a href={policy.sourceUrl} rel="nofollow noopener noreferrer external">
          {address}
        </a>
      ) : (
        address
      )}
      <p class="quiet">
        <Sentence text={words.policySaved} parts={{ date: <Moment at={policy.capturedAt} /> }} />
      </p>
      <p class="quiet">
        {words.policyHash} <Hash value={policy.contentHash} />
      </p>
    </Row>
  );
};

const Policies: Part = ({ certificate }) => {
  const { words } = useSetting();
  const status = policiesStatus(certificate);
  return (
    <Section name="policies" heading={words.policies}>
      {status === "captured" ? (
        <dl>
          {certificate.policies.map((policy) => (
            <Policy policy={policy} />
          ))}
        </dl>
      ) : (
        <p class="quiet">{status === "pending" ? words.policiesPending : words.policiesUnavailable}</p>
      )}
    </Section>
  );
};

const Address: FC<{ url: string }> = ({ url }) => {
  const { words } = useSetting();
  return (
    <div class="address">
      <QrCode text={url} label={words.qr} />
      <p>
        {words.address}
        <br />
        <span class="url">{url}</span>
      </p>
    </div>
  );
};

interface Shown extends ViewContext {
  readonly page: CertificatePage;
  /** What the page hands its own verifier: the public answer of verify, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

export const certificatePage = ({ words }: Setting, { page, apiBase, verifyBase, now, published, trust }: Shown): Page => {
  const { certificate, reach } = page;
  return {
    title: `${certificate.businessName} · ${words.certificate}`,
    script: "verify.js",
    footer: words.footer,
    content: (
      <article class="certificate">
        <Opening certificate={certificate} />
        <Disclosure certificate={certificate} />
        <Recipients certificate={certificate} />
        <Details certificate={certificate} />
        <Timeline page={page} apiBase={apiBase} now={now} />
        <Check certificate={certificate} apiBase={apiBase} published={published} trust={trust} />
        <Policies certificate={certificate} />
        {certificate.status === "active" && (
          <Section name="withdrawal" heading={words.isThisYou}>
            <WithdrawalForms certificate={unlessErased(certificate)} reach={reach} />
          </Section>
        )}
        <Address url={verifyUrlOf(verifyBase, certificate.id)} />
      </article>
    ),
  };
};

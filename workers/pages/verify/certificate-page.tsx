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
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { CertificatePage } from "../../operations/certificates/page.ts";
import { Check } from "./certificate-check.tsx";
import { Row, Section, type Shown } from "./certificate-parts.tsx";
import { Timeline } from "./certificate-timeline.tsx";
import type { Words } from "../shared/i18n/words.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Foreign, Hash, Moment, numberText, Remarks, Sentence, Shape, type Setting } from "../shared/parts.tsx";
import { QrCode } from "./qr.tsx";
import { actsOf, SomeWithdrawn, unlessErased, WithdrawalForms, type LanguageChoice } from "../withdrawal/withdrawal-parts.tsx";

type Part = FC<{ certificate: PublishedCertificate; setting: Setting }>;

const Status: Part = ({ certificate, setting: { words } }) => (
  <p class="statuses">
    {certificate.status === "active" && isRefusal(certificate) ? (
      <span class="status caution">
        <Shape name="cross" />
        {words.refused}
      </span>
    ) : certificate.status === "active" ? (
      <span class="status good">
        <Shape name="tick" />
        {words.active}
      </span>
    ) : (
      <span class="status bad">
        <Shape name="cross" />
        {words.withdrawn}
      </span>
    )}{" "}
    {certificate.environment === "sandbox" && (
      <span class="status caution">
        <Shape name="warning" />
        {words.sandbox}
      </span>
    )}
  </p>
);

const Opening: Part = ({ certificate, setting }) => {
  const { words } = setting;
  return (
    <header class="opening">
      <p class="kind">{isRefusal(certificate) ? words.certificateOfRefusal : words.certificate}</p>
      <h1>
        <Exact text={certificate.businessName} bound="business.name" />
      </h1>
      <Remarks text={certificate.businessName} setting={setting} />
      <div class="standing">
        <Status certificate={certificate} setting={setting} />
        <p>
          <Sentence text={words.issuedOn} parts={{ date: <Moment at={certificate.issuedAt} bound="timestamp" setting={setting} /> }} />
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
              <Sentence
                text={words.withdraw.summary}
                parts={{
                  date: <Moment at={certificate.withdrawal.withdrawnAt} setting={setting} />,
                  deadline: <Moment at={certificate.withdrawal.ceaseBy} setting={setting} />,
                }}
              />
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

const Disclosure: Part = ({ certificate, setting }) => (
  <Section name="shown" heading={setting.words.shown}>
    <blockquote>
      <Exact text={certificate.disclosureText} bound="disclosure" passage />
    </blockquote>
    <Remarks text={certificate.disclosureText} setting={setting} />
  </Section>
);

const listedAtOnce = 12; // what a reader takes in at a glance; further names are one press away, and always in print

const Names: FC<{ names: readonly string[]; setting: Setting }> = ({ names, setting }) => {
  const list = (some: readonly string[]): Child => (
    <ul class="names">
      {some.map((name) => (
        <li>
          <Foreign text={name} bound="entity" setting={setting} />
        </li>
      ))}
    </ul>
  );
  if (names.length <= listedAtOnce + 1) return <>{list(names)}</>;
  const further = names.length - listedAtOnce;
  return (
    <>
      {list(names.slice(0, listedAtOnce))}
      <details>
        <summary>{filled(setting.words.furtherRecipients, { count: numberText(further, setting.language) })}</summary>
        {list(names.slice(listedAtOnce))}
      </details>
    </>
  );
};

/** `list` names the member of the record these names stand in; an answer that nobody gave stands there empty. */
const Answer: FC<{ heading: Child; list: string; names: readonly string[]; setting: Setting }> = ({ heading, list, names, setting }) => (
  <div class="answer" data-list={list}>
    <h3>{heading}</h3>
    {names.length === 0 ? <p class="quiet">{setting.words.nobody}</p> : <Names names={names} setting={setting} />}
  </div>
);

/** Those the person has withdrawn from, act by act. In the record they stand among the accepted ones where each was asked about. */
const Withdrawn: Part = ({ certificate, setting }) => (
  <>
    {actsOf(certificate).map((act) => (
      <div class="answer" {...(certificate.answered !== null && { "data-list": "entities_accepted" })}>
        <h3>
          <Shape name="cross" /> {setting.words.withdrawnFrom}
        </h3>
        <p class="quiet">
          <SomeWithdrawn act={act} setting={setting} />
        </p>
        <Names names={act.map(({ entity }) => entity)} setting={setting} />
      </div>
    ))}
  </>
);

const Recipients: Part = ({ certificate, setting }) => {
  const { entities, answered, entitiesWithdrawn, status } = certificate;
  const { words } = setting;
  const heading = isRefusal(certificate) ? words.recipientsNamed : status === "revoked" ? words.recipientsWithdrawn : words.recipients;
  const isSome = entitiesWithdrawn.length > 0;
  const isWithdrawn = status === "revoked";
  const deadline = certificate.withdrawal !== null && (
    <p>
      <Sentence text={words.recipientsDeadline} parts={{ deadline: <Moment at={certificate.withdrawal.ceaseBy} setting={setting} /> }} />
    </p>
  );
  const standing = standingEntities(certificate);
  if (answered === null) {
    return (
      <Section name="recipients" heading={heading}>
        {deadline}
        <p>{entities.length === 1 ? words.namedOne : words.namedTogether}</p>
        <Names names={standing} setting={setting} />
        {isSome && (
          <div class="answers">
            <Withdrawn certificate={certificate} setting={setting} />
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
          heading={
            <>
              <Shape name={isWithdrawn ? "cross" : "tick"} /> {isWithdrawn ? words.withdrawnFrom : words.accepted}
            </>
          }
          list="entities_accepted"
          names={standing}
          setting={setting}
        />
        {isSome && <Withdrawn certificate={certificate} setting={setting} />}
        <Answer
          heading={
            <>
              <Shape name="cross" /> {words.declined}
            </>
          }
          list="entities_rejected"
          names={answered.rejected}
          setting={setting}
        />
        {notAsked.length > 0 && <Answer heading={words.notAsked} list="entities" names={notAsked} setting={setting} />}
      </div>
    </Section>
  );
};

const fieldName = (key: string, words: Words): Child =>
  Object.hasOwn(words.fields, key) ? words.fields[key as keyof Words["fields"]] : <Exact text={key} />;

const Person: Part = ({ certificate, setting }) => {
  const { words } = setting;
  if (certificate.subjectErasedAt !== null) return <p class="quiet">{words.erased}</p>;
  return (
    <>
      <ul class="person">
        {Object.entries(certificate.subjectMasked).map(([key, value]) => (
          <li>
            <span class="field">{fieldName(key, words)}</span>{" "}
            {value === "" ? <span class="quiet">{words.leftEmpty}</span> : <Foreign text={value} setting={setting} />}
          </li>
        ))}
      </ul>
      <p class="quiet">
        {words.masked} {words.checks.subject}
      </p>
    </>
  );
};

const Details: Part = ({ certificate, setting }) => {
  const { words } = setting;
  return (
    <Section name="details" heading={words.details}>
      <dl>
        <Row name={words.purpose}>
          <Foreign text={certificate.purpose} bound="purpose" setting={setting} />
        </Row>
        <Row name={words.website}>
          <Exact text={certificate.originDomain} bound="origin_domain" />
          <p class="quiet">
            {isOnVerifiedDomain(certificate) ? (
              <>
                {words.checks[certificate.capturedVia === "browser" ? "origin_browser" : "origin_server"]} {words.checks.domain}
              </>
            ) : (
              <>
                {words.checks.origin_unverified} {words.checks.domain_unverified}
              </>
            )}
          </p>
        </Row>
        <Row name={words.person}>
          <Person certificate={certificate} setting={setting} />
        </Row>
        {certificate.gpc && <Row name={words.signal}>{words.signalGpc}</Row>}
      </dl>
    </Section>
  );
};

/** A link only where following it can do nothing but open a web page. */
const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const Policy: FC<{ policy: PublishedPolicy; setting: Setting }> = ({ policy, setting }) => {
  const { words } = setting;
  const address = <Foreign text={policy.sourceUrl} setting={setting} />;
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
        <Sentence text={words.policySaved} parts={{ date: <Moment at={policy.capturedAt} setting={setting} /> }} />
      </p>
      <p class="quiet">
        {words.policyHash} <Hash value={policy.contentHash} />
      </p>
    </Row>
  );
};

const Policies: Part = ({ certificate, setting }) => {
  const { words } = setting;
  const status = policiesStatus(certificate);
  return (
    <Section name="policies" heading={words.policies}>
      {status === "captured" ? (
        <dl>
          {certificate.policies.map((policy) => (
            <Policy policy={policy} setting={setting} />
          ))}
        </dl>
      ) : (
        <p class="quiet">{status === "pending" ? words.policiesPending : words.policiesUnavailable}</p>
      )}
    </Section>
  );
};

const Withdrawal: FC<{ page: CertificatePage; setting: Setting; choice: LanguageChoice }> = ({
  page: { certificate, reach },
  setting,
  choice,
}) => (
  <Section name="withdrawal" heading={setting.words.isThisYou}>
    <WithdrawalForms certificate={unlessErased(certificate)} reach={reach} setting={setting} choice={choice} />
  </Section>
);

const Address: FC<{ url: string; words: Words }> = ({ url, words }) => (
  <div class="address">
    <QrCode text={url} label={words.qr} />
    <p>
      {words.address}
      <br />
      <span class="url">{url}</span>
    </p>
  </div>
);

export const certificatePage = (shown: Shown): Page => {
  const { page, setting } = shown;
  const { certificate } = page;
  const { words } = setting;
  return {
    title: `${certificate.businessName} · ${words.certificate}`,
    script: "verify.js",
    footer: words.footer,
    content: (
      <article class="certificate">
        <Opening certificate={certificate} setting={setting} />
        <Disclosure certificate={certificate} setting={setting} />
        <Recipients certificate={certificate} setting={setting} />
        <Details certificate={certificate} setting={setting} />
        <Timeline page={page} setting={setting} apiBase={shown.apiBase} now={shown.now} />
        <Check {...shown} />
        <Policies certificate={certificate} setting={setting} />
        {certificate.status === "active" && <Withdrawal page={page} setting={setting} choice={shown.choice} />}
        <Address url={verifyUrlOf(shown.verifyBase, certificate.id)} words={words} />
      </article>
    ),
  };
};

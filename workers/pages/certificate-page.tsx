// What the public page of a certificate says, in the order a reader needs it: what it is, what was shown, who may contact,
// what for, what has happened, and how to check all of it. Everything comes from the published certificate; nothing that
// only its owner may see can get here. Elements marked `data-bound` are what client/verify.ts compares with the record.
import type { Child, FC } from "hono/jsx";
import {
  isOnVerifiedDomain,
  isRefusal,
  policiesStatus,
  publishedCanonical,
  type PublishedAnchor,
  type PublishedCertificate,
  type PublishedPolicy,
} from "../../core/certificates/published.ts";
import { receiptUrlOf, verifyUrlOf, type ViewContext } from "../../core/certificates/views.ts";
import type { TrustDocument } from "../../core/ledger/trust-document.ts";
import type { Instant } from "../../core/time.ts";
import { isOverdue } from "../../core/withdrawals/acknowledge.ts";
import { standingEntities } from "../../core/withdrawals/entities.ts";
import type { CertificatePage } from "../operations/certificates/page.ts";
import type { Words } from "./i18n/words.ts";
import type { Page } from "./layout.tsx";
import { CopyButton, Exact, filled, Foreign, Hash, Moment, numberText, Remarks, Sentence, Shape, type Setting } from "./parts.tsx";
import { Proofs } from "./proofs.tsx";
import { QrCode } from "./qr.tsx";
import { actsOf, EntityReceipt, SomeWithdrawn, unlessErased, WithdrawalForms, type LanguageChoice } from "./withdrawal-parts.tsx";

interface Shown extends ViewContext {
  readonly page: CertificatePage;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
  /** What the page hands its own verifier: the public answer of verify, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

type Part = FC<{ certificate: PublishedCertificate; setting: Setting }>;

const Section: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class={name} aria-labelledby={`${name}-heading`}>
    <h2 id={`${name}-heading`}>{heading}</h2>
    {children}
  </section>
);

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

const Row: FC<{ name: Child; children?: Child }> = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

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

const eventShapes = { done: "tick", pending: "clock", counted: "dot" } as const;

const Event: FC<{ kind: keyof typeof eventShapes; children?: Child }> = ({ kind, children }) => (
  <li class={kind}>
    <Shape name={eventShapes[kind]} />
    <div>{children}</div>
  </li>
);

const openedText = (count: number, { words, language }: Setting): string => {
  if (count === 0) return words.openedNever;
  return count === 1 ? words.openedOnce : filled(words.openedTimes, { count: numberText(count, language) });
};

/** One line of the timeline; `at` null is still to come. */
interface Happened {
  readonly at: Instant | null;
  readonly line: Child;
}

const anchoredLine = (anchor: PublishedAnchor, [done, pending]: readonly [string, string], setting: Setting, note?: string): Happened => {
  const isAnchored = anchor.status === "anchored" && anchor.anchoredAt !== null;
  return {
    at: isAnchored ? anchor.anchoredAt : null,
    line: (
      <Event kind={isAnchored ? "done" : "pending"}>
        <span>
          <Sentence text={isAnchored ? done : pending} parts={{ ledger: <Exact text={anchor.ledgerId} /> }} />
        </span>
        {isAnchored && (
          <>
            {" "}
            <Moment at={anchor.anchoredAt ?? 0} setting={setting} />
          </>
        )}
        {!isAnchored && note !== undefined && <p class="quiet">{note}</p>}
      </Event>
    ),
  };
};

/** The withdrawal, its place in the ledger, the deadline and what the business has said. */
const withdrawnEvents = (
  { id, withdrawal }: PublishedCertificate,
  { setting, apiBase, now }: { readonly setting: Setting; readonly apiBase: string; readonly now: Instant },
): Happened[] => {
  if (withdrawal === null) return [];
  const { words } = setting;
  const { anchor, acknowledgedAt, ceaseBy, withdrawnAt } = withdrawal;
  const told: Happened[] = [
    {
      at: withdrawnAt,
      line: (
        <Event kind="done">
          {withdrawal.method === "business_recorded" ? words.withdraw.recordedByBusiness : words.withdrawnByPerson}{" "}
          <Moment at={withdrawnAt} setting={setting} />
          <p class="quiet">
            <a href={receiptUrlOf(apiBase, id)} download={`withdrawal-${id}.json`}>
              {words.withdraw.receipt}
            </a>
          </p>
        </Event>
      ),
    },
    {
      at: ceaseBy,
      line: (
        <Event kind="pending">
          {words.withdraw.deadline} <Moment at={ceaseBy} setting={setting} />
        </Event>
      ),
    },
  ];
  if (anchor !== null) told.push(anchoredLine(anchor, [words.withdraw.revocationAnchored, words.withdraw.revocationPending], setting));
  if (acknowledgedAt !== null) {
    told.push({
      at: acknowledgedAt,
      line: (
        <Event kind="done">
          {words.withdraw.acknowledged} <Moment at={acknowledgedAt} setting={setting} />
        </Event>
      ),
    });
  }
  if (isOverdue(ceaseBy, acknowledgedAt, now)) told.push({ at: now, line: <Event kind="counted">{words.withdraw.overdue}</Event> });
  return told;
};

/** Names in one line; those of strangers are set apart each. */
const listedNames = (recipients: readonly { readonly entity: string }[]): Child =>
  recipients.map(({ entity }, at) => (
    <>
      {at > 0 && ", "}
      <Exact text={entity} />
    </>
  ));

/** Withdrawals from single recipients, while the certificate stood. */
const entityEvents = (
  certificate: PublishedCertificate,
  { setting, apiBase, now }: { readonly setting: Setting; readonly apiBase: string; readonly now: Instant },
): Happened[] => {
  const { words } = setting;
  const acts = actsOf(certificate).map((act) => ({
    at: act[0]?.withdrawnAt ?? 0,
    line: (
      <Event kind="done">
        {act[0]?.method === "business_recorded" && <>{words.withdraw.recordedByBusiness}: </>}
        {filled(act.length === 1 ? setting.words.withdraw.someEventOne : setting.words.withdraw.someEvent, {
          count: numberText(act.length, setting.language),
        })}{" "}
        <Moment at={act[0]?.withdrawnAt ?? 0} setting={setting} />
        <p class="quiet">
          <EntityReceipt certificate={certificate} act={act} apiBase={apiBase} setting={setting} />
        </p>
      </Event>
    ),
  }));
  // Recipients of which the business said so at one moment are one line.
  const ceased = Map.groupBy(certificate.entitiesWithdrawn, ({ acknowledgedAt }) => acknowledgedAt);
  const acknowledged = [...ceased].flatMap(([at, those]): Happened[] =>
    at === null
      ? []
      : [
          {
            at,
            line: (
              <Event kind="done">
                {words.withdraw.someAcknowledged} <Moment at={at} setting={setting} />
                <p class="quiet">{listedNames(those)}</p>
              </Event>
            ),
          },
        ],
  );
  const whole = certificate.withdrawal?.acknowledgedAt ?? null;
  const late = certificate.entitiesWithdrawn.filter(({ ceaseBy, acknowledgedAt }) => isOverdue(ceaseBy, acknowledgedAt ?? whole, now));
  const overdue: Happened = {
    at: now,
    line: (
      <Event kind="counted">
        {words.withdraw.someOverdue}
        <p class="quiet">{listedNames(late)}</p>
      </Event>
    ),
  };
  return [...acts, ...acknowledged, ...(late.length > 0 ? [overdue] : [])];
};

/** In the order of what happened; behind it what is still to come, said to be waiting, with what it is waiting for. */
const Timeline: FC<{ page: CertificatePage; setting: Setting; apiBase: string; now: Instant }> = ({
  page: { certificate, loggedAt },
  setting,
  apiBase,
  now,
}) => {
  const { words } = setting;
  const { anchor } = certificate;
  const all: readonly Happened[] = [
    {
      at: certificate.issuedAt,
      line: (
        <Event kind="done">
          {words.issued} <Moment at={certificate.issuedAt} bound="timestamp" setting={setting} />
        </Event>
      ),
    },
    {
      at: loggedAt,
      line:
        loggedAt === null ? (
          <Event kind="pending">{words.loggedPending}</Event>
        ) : (
          <Event kind="done">
            {words.logged} <Moment at={loggedAt} setting={setting} />
          </Event>
        ),
    },
    ...(anchor === null ? [] : [anchoredLine(anchor, [words.anchored, words.anchoredPending], setting, words.anchoredPendingNote)]),
    ...entityEvents(certificate, { setting, apiBase, now }),
    ...withdrawnEvents(certificate, { setting, apiBase, now }),
    ...(certificate.subjectErasedAt === null
      ? []
      : [
          {
            at: certificate.subjectErasedAt,
            line: (
              <Event kind="done">
                {words.erasedAt} <Moment at={certificate.subjectErasedAt} setting={setting} />
              </Event>
            ),
          },
        ]),
  ];
  const inOrder = all.toSorted((one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE));
  return (
    <Section name="timeline" heading={words.timeline}>
      <ol>
        {inOrder.map(({ line }) => line)}
        <Event kind="counted">{openedText(certificate.viewCount, setting)}</Event>
      </ol>
    </Section>
  );
};

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

const Check: FC<Shown> = ({ page: { certificate }, setting, apiBase, published, trust }) => {
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

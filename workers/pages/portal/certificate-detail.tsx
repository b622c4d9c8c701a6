// One certificate of the business. The person's details are masked until a member reveals them. The audit log records each time they are
// revealed.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { buildEvidenceHtml, buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { hasVerifiedDomain, isConsentRefused, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { parseCertId, type CertId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { AppEnv } from "../../http/context.ts";
import { exportEvidence } from "../../operations/certificates/export-evidence.ts";
import type { CertificateDetail } from "../../operations/certificates/get-certificate.ts";
import { getBusinessCertificate } from "../../operations/portal/get-business-certificate.ts";
import { listCertificateViews, type CertificateViewPage } from "../../operations/portal/list-certificate-views.ts";
import { revealCertificate } from "../../operations/portal/reveal-certificate.ts";
import {
  Hash,
  FormattedMessage,
  Icon,
  Notice,
  TimelineEntry,
  Timestamp,
  UntrustedText,
  VerbatimText,
  formatDay,
  formatMessage,
  PropertyList,
} from "../shared/components.tsx";
import { publicMessages } from "../i18n/public.ts";
import { CopyLine, Table } from "../shared/signed-in-components.tsx";
import { evidencePageScript } from "../verifier.gen.ts";
import {
  ActionButton,
  Card,
  CheckboxField,
  FormCard,
  Link,
  RadioFields,
  ShortId,
  ShortTime,
  StatusLabel,
  formatCopyLabel,
  LabeledCopyButton,
  formatCount,
  formatDeadline,
  MaskedPersonName,
  language,
  messages,
  usePortalRequest,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathInEnvironment } from "./paths.ts";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toReader, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const certificateMessages = messages.certificates;
const certificatesPath = "/portal/certificates";

type Standing = Pick<PublishedCertificate, "status" | "answered" | "entitiesWithdrawn">;

/** The certificate's status: active, partly withdrawn, withdrawn, or declined by the person for every recipient. */
export const CertificateStatusLabel: FC<{ standing: Standing }> = ({ standing }) => {
  const { states } = certificateMessages;
  if (standing.status === "revoked") return <StatusLabel tone="bad" icon="ban" text={states.revoked} />;
  if (isConsentRefused(standing)) return <StatusLabel tone="plain" icon="circle-slash" text={states.declinedAll} />;
  if (standing.entitiesWithdrawn.length > 0) return <StatusLabel tone="caution" icon="circle-minus" text={states.partly} />;
  return <StatusLabel tone="good" text={states.active} />;
};

/** Describes one recipient's status, with the time of issuance or, after a withdrawal, when contact ended or must end. */
const describeRecipient = (
  certificate: PublishedCertificate,
  name: string,
  now: Instant,
): { readonly status: Child; readonly details: Child } => {
  const { states, agreed, declined, notAsked, contactEndsBy, contactEnded } = certificateMessages;
  const issued = <ShortTime at={certificate.issuedAt} />;
  const withdrawn = certificate.entitiesWithdrawn.find(({ entity }) => entity === name);
  if (certificate.answered?.rejected.includes(name))
    return { status: <StatusLabel tone="plain" icon="circle-slash" text={declined} />, details: issued };
  if (certificate.answered?.accepted.includes(name) === false)
    return { status: <StatusLabel tone="plain" text={notAsked} />, details: issued };
  const end = withdrawn ?? certificate.withdrawal;
  if (end == null) return { status: <StatusLabel tone="good" text={agreed} />, details: issued };
  if (end.acknowledgedAt !== null)
    return {
      status: <StatusLabel tone="plain" icon="ban" text={states.revoked} />,
      details: (
        <>
          {contactEnded} <ShortTime at={end.acknowledgedAt} />
        </>
      ),
    };
  const isLate = isOverdue(end.ceaseBy, null, now);
  return {
    status: <StatusLabel tone={isLate ? "bad" : "caution"} icon={isLate ? "circle-alert" : "clock-alert"} text={states.revoked} />,
    details: formatMessage(contactEndsBy, { date: formatDay(language, end.ceaseBy) }),
  };
};

const RecipientsCard: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const { now } = usePortalRequest();
  return (
    <Card
      id="recipients"
      title={messages.recipients}
      note={certificate.answered === null ? undefined : certificateMessages.askedEach}
      isFlush
    >
      <Table
        label={messages.recipients}
        rows={certificate.entities}
        columns={[
          [certificateMessages.recipient, (name) => <UntrustedText text={name} />],
          [messages.state, (name) => describeRecipient(certificate, name, now).status, "corner"],
          [messages.details, (name) => describeRecipient(certificate, name, now).details],
        ]}
      />
    </Card>
  );
};

/**
 * Says what the business must do about a withdrawal. If recipients have different deadlines, covers those with the earliest one. Renders
 * nothing if the business has confirmed everything.
 */
const WithdrawalNotice: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, withdrawal, entitiesWithdrawn } }) => {
  const { now } = usePortalRequest();
  const openRecipients = withdrawal === null ? entitiesWithdrawn.filter(({ acknowledgedAt }) => acknowledgedAt === null) : [];
  const open = withdrawal?.acknowledgedAt === null ? [withdrawal] : openRecipients;
  const next = open.reduce<(typeof open)[number] | undefined>(
    (first, one) => (first && first.ceaseBy <= one.ceaseBy ? first : one),
    undefined,
  );
  if (next === undefined) return null;
  const { notice } = certificateMessages;
  const isLate = isOverdue(next.ceaseBy, null, now);
  const names = openRecipients.filter(({ ceaseBy }) => ceaseBy === next.ceaseBy).map(({ entity }) => entity);
  const date = formatDay(language, next.ceaseBy);
  return (
    <Notice
      tone={isLate ? "bad" : "caution"}
      icon={isLate ? "circle-alert" : "clock-alert"}
      title={
        names.length === 1 ? (
          <FormattedMessage
            text={isLate ? notice.lateOne : notice.dueOne}
            parts={{ name: <VerbatimText text={names[0] as string} />, date }}
          />
        ) : (
          formatMessage(names.length === 0 ? (isLate ? notice.late : notice.due) : isLate ? notice.lateSome : notice.dueSome, {
            date,
            count: formatCount(names.length),
          })
        )
      }
      action={<Link class="btn" to={`/portal/deadlines/${id}`} text={messages.deadlines.acknowledge} />}
    >
      <p>{formatMessage(names.length === 0 ? notice.whole : notice.some, { date: formatDay(language, next.withdrawnAt) })}</p>
    </Notice>
  );
};

/** The same field names as on the certificate's public page. A key that is not listed is shown as the form sent it. */
const certificateFieldNames: Readonly<Record<string, string | undefined>> = Object.assign(
  Object.create(null),
  publicMessages[language].fields,
);
const fieldName = (key: string): Child => certificateFieldNames[key] ?? <VerbatimText text={key} />;

/**
 * Says which fields have a value that the service did not recognize, whether fields were left out, and whether characters were replaced.
 */
const CaptureNotes: FC<{ certificate: PublishedCertificate }> = ({ certificate: { notes } }) => {
  const { unrecognized, truncated, replaced } = certificateMessages.notes;
  const lines = [
    notes?.fields_unrecognized !== undefined &&
      formatMessage(unrecognized, { fields: notes.fields_unrecognized.map((key) => certificateFieldNames[key] ?? key).join(", ") }),
    notes?.fields_truncated === true && truncated,
    notes?.text_replaced === true && replaced,
  ].filter((line) => line !== false);
  return (
    <>
      {lines.map((line) => (
        <p class="small quiet">
          <VerbatimText text={line} />
        </p>
      ))}
    </>
  );
};

const MaskedPerson: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const { id, subjectMasked, subjectErasedAt } = certificate;
  return (
    <Card
      id="person"
      title={certificateMessages.person}
      end={subjectErasedAt === null && <StatusLabel tone="plain" icon="eye-off" text={certificateMessages.masked} />}
      footer={
        subjectErasedAt === null ? (
          <>
            <span>{certificateMessages.revealHint}</span>
            <ActionButton icon="eye" action={`${certificatesPath}/${id}/reveal`} label={certificateMessages.reveal} />
          </>
        ) : undefined
      }
    >
      {subjectErasedAt === null ? (
        <PropertyList
          lines={Object.entries(subjectMasked).map(([key, value]) => [
            fieldName(key),
            <span class="mono">
              <VerbatimText text={value} />
            </span>,
          ])}
        />
      ) : (
        <p>{certificateMessages.erased}</p>
      )}
      <CaptureNotes certificate={certificate} />
    </Card>
  );
};

const RevealedPerson: FC<{ detail: CertificateDetail }> = ({ detail: { opened } }) => (
  <Card
    id="person"
    title={certificateMessages.person}
    end={<StatusLabel tone="caution" icon="eye" text={certificateMessages.revealed} />}
    footer={certificateMessages.revealHint}
  >
    {opened.subject === null ? (
      <p>{certificateMessages.erased}</p>
    ) : (
      <PropertyList lines={[...opened.subject.fields].map(([key, value]) => [fieldName(key), <UntrustedText text={String(value)} />])} />
    )}
    {opened.evidence !== null && (
      <>
        <h3>{certificateMessages.circumstances}</h3>
        <PropertyList
          lines={Object.entries(opened.evidence).map(([key, value]) => [
            <code translate="no">{key}</code>,
            typeof value === "string" ? (
              <VerbatimText text={value} />
            ) : (
              <code>
                <VerbatimText text={JSON.stringify(value)} />
              </code>
            ),
          ])}
        />
      </>
    )}
  </Card>
);

const DisclosureCard: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => (
  <Card id="what" title={certificateMessages.what}>
    <blockquote class="words">
      <VerbatimText text={certificate.disclosureText} passage />
    </blockquote>
  </Card>
);

const EvidenceCard: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => (
  <FormCard
    id="evidence"
    title={certificateMessages.packs}
    note={certificateMessages.packsHint}
    action={`${certificatesPath}/${certificate.id}/evidence`}
    submitIcon="download"
    submitLabel={certificateMessages.download}
    footnote={certificateMessages.packsFootnote}
    isPrimary
  >
    <RadioFields
      name="format"
      legend={certificateMessages.format}
      value="zip"
      options={{ zip: certificateMessages.zip, html: certificateMessages.html }}
      isSideBySide
    />
    {certificate.subjectErasedAt === null && <CheckboxField name="redact" label={certificateMessages.redact} />}
  </FormCard>
);

const DetailsCard: FC<{ certificate: PublishedCertificate; retentionUntil: Instant }> = ({ certificate, retentionUntil }) => (
  <Card id="facts" title={messages.details}>
    <PropertyList
      isStacked
      lines={[
        [certificateMessages.id, <CopyLine id="cert-id" value={certificate.id} copyLabel={formatCopyLabel(certificateMessages.id)} />],
        [
          certificateMessages.website,
          <>
            {certificate.originDomain}
            {hasVerifiedDomain(certificate) && (
              <small class="quiet">
                <Icon name="badge-check" class="good-i" />
                {certificateMessages.verifiedWhenIssued}
              </small>
            )}
          </>,
        ],
        [certificateMessages.capturedBy, certificateMessages.capturedVia[certificate.capturedVia]],
        [certificateMessages.keptUntil, certificate.subjectErasedAt === null && formatDay(language, retentionUntil)],
        [
          certificateMessages.fingerprint,
          <div class="copyline">
            <Hash id="fingerprint" value={certificate.fingerprint} />
            <LabeledCopyButton elementId="fingerprint" label={certificateMessages.fingerprint} />
          </div>,
        ],
      ]}
    />
  </Card>
);

const History: FC<{ certificate: PublishedCertificate; loggedAt: Instant | null }> = ({ certificate, loggedAt }) => {
  const { history } = certificateMessages;
  const { anchor, withdrawal, entitiesWithdrawn, subjectErasedAt } = certificate;
  const ends = [
    ...entitiesWithdrawn.map((end) => ({ ...end, name: <VerbatimText text={end.entity} /> })),
    ...(withdrawal === null ? [] : [{ ...withdrawal, name: null }]),
  ];
  const done = (at: Instant | null, text: string, more: Child = null) =>
    at === null ? [] : [{ at, kind: "done" as const, text: <strong>{text}</strong>, more }];
  const past = [
    ...done(certificate.issuedAt, history.issued),
    ...done(loggedAt, history.logged),
    ...done(anchor?.status === "anchored" ? anchor.anchoredAt : null, history.anchored),
    ...[...new Set(ends.map(({ receivedAt }) => receivedAt))].flatMap((at) => done(at, history.received)),
    ...ends.map(({ name, withdrawnAt, method }) => ({
      at: withdrawnAt,
      kind: "withdrawn" as const,
      text: <strong>{name === null ? history.withdrawn : <FormattedMessage text={history.withdrawnFor} parts={{ name }} />}</strong>,
      more: history.methods[method],
    })),
    ...ends.flatMap(({ acknowledgedAt, name }) => done(acknowledgedAt, history.confirmed, name)),
    ...done(subjectErasedAt, history.erased),
  ].sort((a, b) => a.at - b.at);
  const due = ends.filter(({ acknowledgedAt }) => acknowledgedAt === null).map(({ ceaseBy }) => ceaseBy);
  return (
    <Card id="history" title={history.title}>
      <ol class="timeline">
        {past.map(({ at, kind, text, more }) => (
          <TimelineEntry kind={kind} text={text} at={at}>
            {more !== null && <small>{more}</small>}
          </TimelineEntry>
        ))}
        {anchor !== null && anchor.status !== "anchored" && (
          <TimelineEntry kind="pending" text={<strong>{history.anchoring}</strong>} at={null} />
        )}
        {due.length > 0 && (
          <TimelineEntry kind="pending" text={<strong>{messages.deadlines.due}</strong>} at={null}>
            <small>{formatDeadline(Math.min(...due))}</small>
          </TimelineEntry>
        )}
      </ol>
    </Card>
  );
};

const maxViewsShown = 25;

/**
 * Describes the number of views, for example "2 views, 1 bot". If not all are listed, bots are not counted, and the text says how many
 * entries are listed, for example "26 views. Newest 25 entries listed".
 */
const describeOpenCounts = ({ certificate, views, total }: CertificateViewPage): string => {
  const programs = views.length < total ? 0 : views.filter(({ bot }) => bot).length;
  const counts = Object.entries({ views: certificate.viewCount, programs })
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => {
      const { one, many } = certificateMessages.openCounts[kind as "views" | "programs"];
      return count === 1 ? one : formatMessage(many, { count: formatCount(count) });
    })
    .join(", ");
  if (views.length === total) return counts;
  const listed = formatMessage(certificateMessages.newestOpens, { shown: formatCount(views.length) });
  return counts === "" ? listed : `${counts}. ${listed}`;
};

const ViewsCard: FC<{ page: CertificateViewPage }> = ({ page }) => (
  <Card id="opens" title={certificateMessages.opens} end={<span class="small quiet">{describeOpenCounts(page)}</span>} isFlush>
    <Table
      label={certificateMessages.opens}
      rows={page.views}
      emptyMessage={page.certificate.subjectErasedAt === null ? certificateMessages.noOpens : certificateMessages.noOpensErased}
      columns={[
        [messages.timeUtc, (row) => <ShortTime at={row.at} />],
        [certificateMessages.ip, (row) => <code>{row.ip}</code>],
        [certificateMessages.system, (row) => row.os ?? certificateMessages.noSystem],
        [
          certificateMessages.browser,
          (row) => (row.bot ? <span class="quiet">{certificateMessages.bot}</span> : <VerbatimText text={row.userAgent} />),
        ],
      ]}
    />
  </Card>
);

const renderCertificate = async (request: PortalRequest, id: CertId, detail?: CertificateDetail): Promise<Response> => {
  const { c, services, member, environment } = request;
  const found = await listCertificateViews(services, member, id, { page: 1, perPage: maxViewsShown });
  if (!found.ok) return notFoundPage(request);
  const { certificate, retentionUntil, loggedAt } = found.value;
  // Live and test certificates must never appear on the same pages, so this redirects to the page in the certificate's own environment.
  if (certificate.environment !== environment)
    return c.redirect(pathInEnvironment(certificate.environment, `${certificatesPath}/${id}`), 303);
  const publicUrl = buildVerifyUrl(services.config.verifyUrl, id);
  return renderMemberPage(request, {
    tab: "certificates",
    title: certificateMessages.one,
    parent: { path: certificatesPath, text: messages.tabs.certificates },
    crumb: <ShortId id={id} />,
    heading: <MaskedPersonName masked={certificate.subjectMasked} />,
    status: <CertificateStatusLabel standing={certificate} />,
    intro: (
      <FormattedMessage
        text={certificateMessages.summary}
        parts={{ purpose: <UntrustedText text={certificate.purpose} />, time: <Timestamp at={certificate.issuedAt} /> }}
      />
    ),
    actions: (
      <>
        <a class="btn" href={publicUrl}>
          <Icon name="external-link" />
          {certificateMessages.public}
        </a>
        <a class="btn" href="#evidence">
          <Icon name="download" />
          {certificateMessages.evidence}
        </a>
      </>
    ),
    content: (
      <>
        <WithdrawalNotice certificate={certificate} />
        <div class="cols main">
          <div class="stack">
            {detail === undefined ? <MaskedPerson certificate={certificate} /> : <RevealedPerson detail={detail} />}
            <DisclosureCard certificate={certificate} />
            <RecipientsCard certificate={certificate} />
            <EvidenceCard certificate={certificate} />
            <ViewsCard page={found.value} />
          </div>
          <div class="stack">
            <DetailsCard certificate={certificate} retentionUntil={retentionUntil} />
            <History certificate={certificate} loggedAt={loggedAt} />
          </div>
        </div>
      </>
    ),
  });
};

/**
 * Returns whether the business has this certificate in this environment. The check is needed because the operations find certificates of
 * both environments.
 */
const hasCertificate = async ({ services, member, environment }: PortalRequest, id: CertId): Promise<boolean> => {
  const found = await getBusinessCertificate(services, member, id);
  return found.ok && found.value.environment === environment;
};

const handleRevealPerson = async (request: PortalFormRequest, id: CertId): Promise<Response> => {
  if (!(await hasCertificate(request, id))) return notFoundPage(request);
  const detail = await revealCertificate(request.services, request.member, id);
  return detail.ok ? renderCertificate(request, id, detail.value) : notFoundPage(request);
};

const handleDownloadEvidence = async (request: PortalFormRequest, id: CertId): Promise<Response> => {
  const { c, services, member, form } = request;
  if (!(await hasCertificate(request, id))) return notFoundPage(request);
  const actor = { kind: "member", id: member.userId } as const;
  const parts = await exportEvidence(services, toReader(request), actor, id, { disclose: null, redacted: form.has("redact") });
  if (!parts.ok) return notFoundPage(request);
  const format = form.get("format") === "html" ? "html" : "zip";
  c.header("Content-Disposition", `attachment; filename="evidence-${id}.${format}"`);
  return format === "zip"
    ? c.body(await buildEvidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await buildEvidenceHtml(parts.value, await services.readTextAsset(evidencePageScript)), 200, {
        "Content-Type": "text/html; charset=utf-8",
      });
};

export const registerCertificateDetailRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates/:id", authenticatedPage(withId(parseCertId, renderCertificate)));
  pages.post("/certificates/:id/reveal", authenticatedAction({ isReadOnly: true }, withId(parseCertId, handleRevealPerson)));
  pages.post("/certificates/:id/evidence", authenticatedAction({ isReadOnly: true }, withId(parseCertId, handleDownloadEvidence)));
};

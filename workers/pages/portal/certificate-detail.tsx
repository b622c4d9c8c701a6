// One certificate of the business. The person's details are masked until a member reveals them, which is recorded in the audit log.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { buildEvidenceHtml, buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { parseCertId, type CertId } from "../../../core/ids.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { AppEnv } from "../../http/context.ts";
import { exportEvidence } from "../../operations/certificates/export-evidence.ts";
import type { CertificateDetail } from "../../operations/certificates/get-certificate.ts";
import { getBusinessCertificate } from "../../operations/portal/get-business-certificate.ts";
import { listCertificateViews } from "../../operations/portal/list-certificate-views.ts";
import { revealCertificate } from "../../operations/portal/reveal-certificate.ts";
import { VerbatimText, UntrustedText, Hash, Timestamp } from "../shared/components.tsx";
import { verifierSource } from "../verifier.gen.ts";
import {
  SelectField,
  LinkList,
  PostForm,
  ActionButton,
  PropertyList,
  Section,
  StatusLabel,
  Table,
  CheckboxField,
  usePortalRequest,
  messages,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathInEnvironment } from "./paths.ts";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toReader, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const certificateMessages = messages.certificates;
const certificatesPath = "/portal/certificates";

export const CertificateStatusLabel: FC<{ of: Pick<PublishedCertificate, "status"> }> = ({ of: { status } }) => (
  <StatusLabel tone={status === "active" ? "good" : "bad"} text={certificateMessages.states[status]} />
);

const RecipientStatus: FC<{ certificate: PublishedCertificate; name: string }> = ({ certificate, name }) => {
  const { now } = usePortalRequest();
  const withdrawn = certificate.entitiesWithdrawn.find(({ entity }) => entity === name);
  if (certificate.answered?.rejected.includes(name)) return <StatusLabel tone="plain" text={certificateMessages.declined} />;
  if (certificate.answered?.accepted.includes(name) === false) return <StatusLabel tone="plain" text={certificateMessages.notAsked} />;
  if (certificate.withdrawal !== null) return <StatusLabel tone="plain" text={certificateMessages.states.revoked} />;
  if (withdrawn === undefined) return <StatusLabel tone="good" text={certificateMessages.agreed} />;
  if (withdrawn.acknowledgedAt !== null) return <StatusLabel tone="plain" text={messages.deadlines.acknowledged} />;
  return (
    <>
      <StatusLabel tone={isOverdue(withdrawn.ceaseBy, null, now) ? "bad" : "caution"} text={certificateMessages.states.revoked} />{" "}
      {messages.deadlines.due} <Timestamp at={withdrawn.ceaseBy} />
    </>
  );
};

const WithdrawalSection: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, withdrawal, entitiesWithdrawn } }) => {
  const { now } = usePortalRequest();
  const { deadlines } = messages;
  if (withdrawal === null && entitiesWithdrawn.length === 0) return null;
  const withdrawn = withdrawal === null ? entitiesWithdrawn : [withdrawal];
  return (
    <Section id="withdrawal" title={certificateMessages.withdrawal}>
      {withdrawal !== null && (
        <PropertyList
          lines={[
            [deadlines.withdrawn, <Timestamp at={withdrawal.withdrawnAt} />],
            [
              deadlines.due,
              <>
                <Timestamp at={withdrawal.ceaseBy} />{" "}
                {isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now) && <StatusLabel tone="bad" text={deadlines.overdue} />}
              </>,
            ],
            [deadlines.acknowledged, withdrawal.acknowledgedAt === null ? deadlines.notYet : <Timestamp at={withdrawal.acknowledgedAt} />],
          ]}
        />
      )}
      {withdrawn.some(({ acknowledgedAt }) => acknowledgedAt === null) && (
        <LinkList class="btn" to={`/portal/deadlines/${id}`} text={deadlines.acknowledge} />
      )}
    </Section>
  );
};

const toNoteLines = ({ notes }: PublishedCertificate): [string, string][] => [
  ...(notes?.fields_unrecognized === undefined
    ? []
    : [[certificateMessages.notes.fields_unrecognized, notes.fields_unrecognized.join(", ")] as [string, string]]),
  ...(notes?.fields_truncated ? [[certificateMessages.notes.fields_truncated, certificateMessages.someLeftOut] as [string, string]] : []),
  ...(notes?.text_replaced ? [[certificateMessages.notes.text_replaced, certificateMessages.yes] as [string, string]] : []),
];

const MaskedPerson: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const { id, subjectMasked, subjectErasedAt } = certificate;
  return (
    <>
      <PropertyList
        lines={[
          ...Object.entries(subjectMasked).map(([key, value]) => [key, <VerbatimText text={value} />] as const),
          ...toNoteLines(certificate),
        ]}
      />
      {subjectErasedAt === null ? (
        <>
          <p class="quiet">{certificateMessages.revealHint}</p>
          <ActionButton action={`${certificatesPath}/${id}/reveal`} label={certificateMessages.reveal} />
        </>
      ) : (
        <p>{certificateMessages.erased}</p>
      )}
    </>
  );
};

const RevealedPerson: FC<{ detail: CertificateDetail }> = ({ detail: { opened } }) => (
  <>
    {opened.subject === null ? (
      <p>{certificateMessages.erased}</p>
    ) : (
      <PropertyList lines={[...opened.subject.fields].map(([key, value]) => [key, <UntrustedText text={String(value)} />])} />
    )}
    {opened.evidence !== null && (
      <>
        <h3>{certificateMessages.circumstances}</h3>
        <PropertyList
          lines={Object.entries(opened.evidence).map(([key, value]) => [
            key,
            <VerbatimText text={typeof value === "string" ? value : JSON.stringify(value)} />,
          ])}
        />
      </>
    )}
  </>
);

const maxViewsShown = 25;

const renderCertificate = async (request: PortalRequest, id: CertId, detail?: CertificateDetail): Promise<Response> => {
  const { c, services, member, environment } = request;
  const found = await listCertificateViews(services, member, id, { page: 1, perPage: maxViewsShown });
  if (!found.ok) return notFoundPage(request);
  const { certificate, views } = found.value;
  // A test certificate must not appear among the live ones, or vice versa: redirect to the page in its own environment.
  if (certificate.environment !== environment)
    return c.redirect(pathInEnvironment(certificate.environment, `${certificatesPath}/${id}`), 303);
  const publicUrl = buildVerifyUrl(services.config.verifyUrl, id);
  return renderMemberPage(request, {
    tab: "certificates",
    title: certificateMessages.one,
    content: (
      <>
        <p>
          <CertificateStatusLabel of={certificate} /> <Hash value={id} />
        </p>
        <PropertyList
          lines={[
            [certificateMessages.issued, <Timestamp at={certificate.issuedAt} />],
            [certificateMessages.purpose, <UntrustedText text={certificate.purpose} />],
            [certificateMessages.website, certificate.originDomain],
            [certificateMessages.public, <a href={publicUrl}>{publicUrl}</a>],
          ]}
        />
        <WithdrawalSection certificate={certificate} />
        <Section id="what" title={certificateMessages.what}>
          <blockquote>
            <VerbatimText text={certificate.disclosureText} passage />
          </blockquote>
        </Section>
        <Section id="recipients" title={certificateMessages.recipients}>
          <Table
            label={certificateMessages.recipients}
            rows={certificate.entities}
            columns={[
              [certificateMessages.recipient, (name) => <UntrustedText text={name} />],
              [messages.state, (name) => <RecipientStatus certificate={certificate} name={name} />],
            ]}
          />
        </Section>
        <Section id="person" title={certificateMessages.person}>
          {detail === undefined ? <MaskedPerson certificate={certificate} /> : <RevealedPerson detail={detail} />}
        </Section>
        <Section id="packs" title={certificateMessages.packs}>
          <p class="quiet">{certificateMessages.packsHint}</p>
          <PostForm action={`${certificatesPath}/${id}/evidence`}>
            <SelectField
              name="format"
              label={certificateMessages.format}
              options={{ zip: certificateMessages.zip, html: certificateMessages.html }}
            />
            <p class="choice">
              <CheckboxField name="redact" label={certificateMessages.redact} />
            </p>
            <button type="submit">{certificateMessages.download}</button>
          </PostForm>
        </Section>
        <Section id="opens" title={certificateMessages.opens}>
          <Table
            label={certificateMessages.opens}
            rows={views}
            emptyMessage={certificateMessages.noOpens}
            columns={[
              [certificateMessages.at, (row) => <Timestamp at={row.at} />],
              [certificateMessages.ip, (row) => <code>{row.ip}</code>],
              [certificateMessages.system, (row) => row.os ?? ""],
              [certificateMessages.browser, (row) => (row.bot ? certificateMessages.bot : <VerbatimText text={row.userAgent} />)],
            ]}
          />
        </Section>
      </>
    ),
  });
};

const handleRevealPerson = async (request: PortalFormRequest, id: CertId): Promise<Response> => {
  const detail = await revealCertificate(request.services, request.member, id);
  return detail.ok ? renderCertificate(request, id, detail.value) : notFoundPage(request);
};

const handleDownloadEvidence = async (request: PortalFormRequest, id: CertId): Promise<Response> => {
  const { c, services, member, form } = request;
  const found = await getBusinessCertificate(services, member, id);
  if (!found.ok || found.value.environment !== request.environment) return notFoundPage(request);
  const actor = { kind: "member", id: member.userId } as const;
  const parts = await exportEvidence(services, toReader(request), actor, id, { disclose: null, redacted: form.has("redact") });
  if (!parts.ok) return notFoundPage(request);
  const format = form.get("format") === "html" ? "html" : "zip";
  c.header("Content-Disposition", `attachment; filename="evidence-${id}.${format}"`);
  return format === "zip"
    ? c.body(await buildEvidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await buildEvidenceHtml(parts.value, verifierSource), 200, { "Content-Type": "text/html; charset=utf-8" });
};

export const registerCertificateDetailRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates/:id", authenticatedPage(withId(parseCertId, renderCertificate)));
  pages.post("/certificates/:id/reveal", authenticatedAction({ isReadOnly: true }, withId(parseCertId, handleRevealPerson)));
  pages.post("/certificates/:id/evidence", authenticatedAction({ isReadOnly: true }, withId(parseCertId, handleDownloadEvidence)));
};

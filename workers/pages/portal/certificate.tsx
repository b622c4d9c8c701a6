// One certificate as the people of its business read it: masked until somebody asks for the person, which is entered in the audit chain.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { evidenceHtml, evidenceZip } from "../../../core/certificates/evidence-pack.ts";
import type { PublishedCertificate } from "../../../core/certificates/published.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { certIdOf, type CertId } from "../../../core/ids.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import type { Api } from "../../http/context.ts";
import { gatherEvidence } from "../../operations/certificates/evidence.ts";
import type { CertificateDetail } from "../../operations/certificates/read.ts";
import { ownCertificate, revealCertificate, viewsOfCertificate } from "../../operations/portal/certificates.ts";
import { Exact, Foreign, Hash, Moment } from "../shared/parts.tsx";
import { verifierSource } from "../verifier.gen.ts";
import { Choice, LinkLine, PostForm, Press, Properties, Section, Status, Table, Tick, useVisit, words } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { addressIn } from "./paths.ts";
import { acting, reading, readerOf, withId, type Posted, type Visit } from "./visit.ts";

const said = words.certificates;
const path = "/portal/certificates";

export const CertificateState: FC<{ of: Pick<PublishedCertificate, "status"> }> = ({ of: { status } }) => (
  <Status tone={status === "active" ? "good" : "bad"} text={said.states[status]} />
);

const RecipientState: FC<{ certificate: PublishedCertificate; name: string }> = ({ certificate, name }) => {
  const { now } = useVisit();
  const one = certificate.entitiesWithdrawn.find(({ entity }) => entity === name);
  if (certificate.answered?.rejected.includes(name)) return <Status tone="plain" text={said.declined} />;
  if (certificate.answered?.accepted.includes(name) === false) return <Status tone="plain" text={said.notAsked} />;
  if (certificate.withdrawal !== null) return <Status tone="plain" text={said.states.revoked} />;
  if (one === undefined) return <Status tone="good" text={said.agreed} />;
  if (one.acknowledgedAt !== null) return <Status tone="plain" text={words.deadlines.acknowledged} />;
  return (
    <>
      <Status tone={isOverdue(one.ceaseBy, null, now) ? "bad" : "caution"} text={said.states.revoked} /> {words.deadlines.due}{" "}
      <Moment at={one.ceaseBy} />
    </>
  );
};

const Withdrawn: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, withdrawal, entitiesWithdrawn } }) => {
  const { now } = useVisit();
  const { deadlines } = words;
  if (withdrawal === null && entitiesWithdrawn.length === 0) return null;
  const withdrawn = withdrawal === null ? entitiesWithdrawn : [withdrawal];
  return (
    <Section id="withdrawal" title={said.withdrawal}>
      {withdrawal !== null && (
        <Properties
          lines={[
            [deadlines.withdrawn, <Moment at={withdrawal.withdrawnAt} />],
            [
              deadlines.due,
              <>
                <Moment at={withdrawal.ceaseBy} />{" "}
                {isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now) && <Status tone="bad" text={deadlines.overdue} />}
              </>,
            ],
            [deadlines.acknowledged, withdrawal.acknowledgedAt === null ? deadlines.notYet : <Moment at={withdrawal.acknowledgedAt} />],
          ]}
        />
      )}
      {withdrawn.some(({ acknowledgedAt }) => acknowledgedAt === null) && (
        <LinkLine class="button" to={`/portal/deadlines/${id}`} text={deadlines.acknowledge} />
      )}
    </Section>
  );
};

const Masked: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, subjectMasked, subjectErasedAt } }) => (
  <>
    <Properties lines={Object.entries(subjectMasked).map(([key, value]) => [key, <Exact text={value} />])} />
    {subjectErasedAt === null ? (
      <>
        <p class="quiet">{said.revealHint}</p>
        <Press action={`${path}/${id}/reveal`} label={said.reveal} />
      </>
    ) : (
      <p>{said.erased}</p>
    )}
  </>
);

const Opened: FC<{ detail: CertificateDetail }> = ({ detail: { opened } }) => (
  <>
    {opened.subject === null ? (
      <p>{said.erased}</p>
    ) : (
      <Properties lines={[...opened.subject.fields].map(([key, value]) => [key, <Foreign text={String(value)} />])} />
    )}
    {opened.evidence !== null && (
      <>
        <h3>{said.circumstances}</h3>
        <Properties
          lines={Object.entries(opened.evidence).map(([key, value]) => [
            key,
            <Exact text={typeof value === "string" ? value : JSON.stringify(value)} />,
          ])}
        />
      </>
    )}
  </>
);

const shownOpens = 25;

const show = async (visit: Visit, id: CertId, detail?: CertificateDetail): Promise<Response> => {
  const { c, services, member, environment } = visit;
  const own = await viewsOfCertificate(services, member, id, { page: 1, perPage: shownOpens });
  if (!own.ok) return nothing(visit);
  const { certificate, views } = own.value;
  // A test record is not shown among the live ones, nor a live one as a test: to the same page in its own mode.
  if (certificate.environment !== environment) return c.redirect(addressIn(certificate.environment, `${path}/${id}`), 303);
  const publicUrl = verifyUrlOf(services.config.verifyUrl, id);
  return showPage(visit, {
    tab: "certificates",
    title: said.one,
    content: (
      <>
        <p>
          <CertificateState of={certificate} /> <Hash value={id} />
        </p>
        <Properties
          lines={[
            [said.issued, <Moment at={certificate.issuedAt} />],
            [said.purpose, <Foreign text={certificate.purpose} />],
            [said.website, certificate.originDomain],
            [said.public, <a href={publicUrl}>{publicUrl}</a>],
          ]}
        />
        <Withdrawn certificate={certificate} />
        <Section id="what" title={said.what}>
          <blockquote>
            <Exact text={certificate.disclosureText} passage />
          </blockquote>
        </Section>
        <Section id="recipients" title={said.recipients}>
          <Table
            label={said.recipients}
            rows={certificate.entities}
            columns={[
              [said.recipient, (name) => <Foreign text={name} />],
              [words.state, (name) => <RecipientState certificate={certificate} name={name} />],
            ]}
          />
        </Section>
        <Section id="person" title={said.person}>
          {detail === undefined ? <Masked certificate={certificate} /> : <Opened detail={detail} />}
        </Section>
        <Section id="packs" title={said.packs}>
          <p class="quiet">{said.packsHint}</p>
          <PostForm action={`${path}/${id}/evidence`}>
            <Choice name="format" label={said.format} options={{ zip: said.zip, html: said.html }} />
            <p class="choice">
              <Tick name="redact" label={said.redact} />
            </p>
            <button type="submit">{said.download}</button>
          </PostForm>
        </Section>
        <Section id="opens" title={said.opens}>
          <Table
            label={said.opens}
            rows={views}
            empty={said.noOpens}
            columns={[
              [said.at, (row) => <Moment at={row.at} />],
              [said.ip, (row) => <code>{row.ip}</code>],
              [said.system, (row) => row.os ?? ""],
              [said.browser, (row) => (row.bot ? said.bot : <Exact text={row.userAgent} />)],
            ]}
          />
        </Section>
      </>
    ),
  });
};

const reveal = async (visit: Posted, id: CertId): Promise<Response> => {
  const detail = await revealCertificate(visit.services, visit.member, id);
  return detail.ok ? show(visit, id, detail.value) : nothing(visit);
};

const evidence = async (visit: Posted, id: CertId): Promise<Response> => {
  const { c, services, member, form } = visit;
  const own = await ownCertificate(services, member, id);
  if (!own.ok || own.value.environment !== visit.environment) return nothing(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const parts = await gatherEvidence(services, readerOf(visit), actor, id, { disclose: null, redacted: form.has("redact") });
  if (!parts.ok) return nothing(visit);
  const format = form.get("format") === "html" ? "html" : "zip";
  c.header("Content-Disposition", `attachment; filename="evidence-${id}.${format}"`);
  return format === "zip"
    ? c.body(await evidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await evidenceHtml(parts.value, verifierSource), 200, { "Content-Type": "text/html; charset=utf-8" });
};

export const mountCertificate = (pages: Hono<Api>): void => {
  pages.get("/certificates/:id", reading(withId(certIdOf, show)));
  pages.post("/certificates/:id/reveal", acting({ reads: true }, withId(certIdOf, reveal)));
  pages.post("/certificates/:id/evidence", acting({ reads: true }, withId(certIdOf, evidence)));
};

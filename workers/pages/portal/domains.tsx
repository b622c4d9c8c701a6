// Domains: claimed, proved by one of three ways, removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { buildDomainChallenges } from "../../../core/accounts/domain-claim.ts";
import { parseDomainId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { Domain } from "../../../storage/domains.ts";
import { claimDomain } from "../../operations/portal/claim-domain.ts";
import { listDomains } from "../../operations/portal/list-domains.ts";
import { releaseDomain } from "../../operations/portal/release-domain.ts";
import { verifyDomain } from "../../operations/portal/verify-domain.ts";
import { formatMessage, UntrustedText, Timestamp } from "../shared/components.tsx";
import {
  RoleGate,
  ConfirmButton,
  LabeledCopyButton,
  Field,
  Link,
  LinkList,
  PlainList,
  PostForm,
  ActionButton,
  PropertyList,
  Section,
  StatusLabel,
  SubmitButton,
  Table,
  messages,
  FormErrorMessage,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import {
  authenticatedAction,
  toFormError,
  authenticatedPage,
  redirectTo,
  withId,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const domainMessages = messages.domains;
const domainTones: Readonly<Record<Domain["status"], Tone>> = { verified: "good", pending: "caution", lapsed: "bad" };

const DomainStatus: FC<{ domain: Domain }> = ({ domain: { status, lapsesAt } }) => (
  <>
    <StatusLabel tone={lapsesAt === null ? domainTones[status] : "caution"} text={domainMessages.states[status]} />
    {lapsesAt !== null && (
      <>
        {" "}
        {domainMessages.lapses} <Timestamp at={lapsesAt} />
      </>
    )}
  </>
);

const renderDomainList = async (visit: PortalRequest, fault?: FormError): Promise<Response> =>
  renderMemberPage(visit, {
    tab: "domains",
    error: fault,
    content: (
      <>
        <Table
          label={messages.tabs.domains}
          rows={await listDomains(visit.services, visit.member)}
          emptyMessage={domainMessages.empty}
          columns={[
            [domainMessages.domain, (row) => <Link to={`/portal/domains/${row.id}`} text={row.domain} />],
            [messages.state, (row) => <DomainStatus domain={row} />],
            [domainMessages.how, (row) => (row.method === null ? domainMessages.notYet : domainMessages.methods[row.method])],
            [domainMessages.checked, (row) => (row.checkedAt === null ? domainMessages.notYet : <Timestamp at={row.checkedAt} />)],
          ]}
        />
        <Section id="claim" title={domainMessages.add}>
          <PostForm requiredRole="owner" action="/portal/domains">
            <FormErrorMessage fields={["domain"]} />
            <Field name="domain" label={domainMessages.domain} hint={domainMessages.hint} required maxlength={300} />
            <SubmitButton label={domainMessages.add} />
          </PostForm>
        </Section>
      </>
    ),
  });

const VerificationMethod: FC<{ id: string; label: string; lines: Readonly<Record<string, string>> }> = ({ id, label, lines }) => (
  <section aria-labelledby={id}>
    <h3 id={id}>{label}</h3>
    <PropertyList
      lines={Object.entries(lines).map(([name, value], at) => [
        name,
        <>
          <code class="whole" id={`${id}-${at}`} translate="no">
            {value}
          </code>{" "}
          <LabeledCopyButton of={`${id}-${at}`} label={`${label}, ${name}`} />
        </>,
      ])}
    />
  </section>
);

const VerificationOptions: FC<{ domain: string; token: string }> = ({ domain, token }) => {
  const { dns, wellKnown, meta } = buildDomainChallenges(domain, token);
  const { txtName, txtValue, address, line, tag, methods } = domainMessages;
  return (
    <Section id="ways" title={domainMessages.ways}>
      <p>{domainMessages.oneIsEnough}</p>
      <VerificationMethod id="dns" label={methods.dns} lines={{ [txtName]: dns.name, [txtValue]: dns.value }} />
      <VerificationMethod id="file" label={methods.well_known} lines={{ [address]: wellKnown.url, [line]: wellKnown.body }} />
      <VerificationMethod id="tag" label={methods.meta} lines={{ [address]: meta.url, [tag]: meta.tag }} />
    </Section>
  );
};

const renderDomain = async (visit: PortalRequest, id: string, fault?: FormError, otherTexts: readonly string[] = []): Promise<Response> => {
  const found = (await listDomains(visit.services, visit.member)).find((one) => one.id === id);
  if (found === undefined) return notFoundPage(visit);
  const { domain, status, method, expiresAt, token } = found;
  return renderMemberPage(visit, {
    tab: "domains",
    title: domain,
    error: fault,
    content: (
      <>
        <p>
          <DomainStatus domain={found} />
        </p>
        <FormErrorMessage />
        {otherTexts.length > 0 && (
          <>
            <p>{domainMessages.otherTexts}</p>
            <PlainList items={otherTexts.map((text) => <UntrustedText text={text} />)} />
          </>
        )}
        {status === "verified" && method !== null && (
          <p>{formatMessage(method === "dns" ? domainMessages.coversAll : domainMessages.coversHost, { domain })}</p>
        )}
        {status === "pending" && expiresAt !== null && (
          <p>
            {domainMessages.until} <Timestamp at={expiresAt} />.
          </p>
        )}
        {token !== null && <VerificationOptions domain={domain} token={token} />}
        <RoleGate to="owner">
          <div class="actions">
            {token !== null && <ActionButton action={`/portal/domains/${id}/verify`} label={domainMessages.check} />}
            <ConfirmButton
              action={`/portal/domains/${id}/remove`}
              label={domainMessages.remove}
              of={domain}
              consequence={domainMessages.removal}
            />
          </div>
        </RoleGate>
        <LinkList to="/portal/domains" text={domainMessages.all} />
      </>
    ),
  });
};

const handleAddDomain = async (visit: PortalFormRequest): Promise<Response> => {
  const domain = (visit.form.get("domain") ?? "").trim();
  const claimed = await claimDomain(visit.services, visit.member, { domain, idempotencyKey: null });
  return claimed.ok
    ? redirectTo(visit, `/portal/domains/${claimed.value.value.id}`, "added")
    : renderDomainList(visit, toFormError(claimed));
};

const handleVerifyDomain = async (visit: PortalFormRequest, id: string): Promise<Response> => {
  const proved = await verifyDomain(visit.services, visit.member, id, null);
  if (proved.ok) return redirectTo(visit, `/portal/domains/${id}`, "proved");
  if (proved.code === "not_found") return notFoundPage(visit);
  const fault = { code: proved.code, field: null, text: proved.detail ?? domainMessages.unproved };
  return renderDomain(visit, id, fault, proved.otherTexts);
};

const handleRemoveDomain = async (visit: PortalFormRequest, id: string): Promise<Response> => {
  const dropped = await releaseDomain(visit.services, visit.member, id);
  return dropped.ok ? redirectTo(visit, "/portal/domains", "removed") : notFoundPage(visit);
};

export const registerDomainRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/domains", authenticatedPage(renderDomainList));
  pages.post("/domains", authenticatedAction({ ownerOnly: true }, handleAddDomain));
  pages.get("/domains/:id", authenticatedPage(withId(parseDomainId, renderDomain)));
  pages.post(
    "/domains/:id/verify",
    authenticatedAction({ ownerOnly: true, businessLimit: "DOMAIN_CHECKS_PER_BUSINESS" }, withId(parseDomainId, handleVerifyDomain)),
  );
  pages.post("/domains/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseDomainId, handleRemoveDomain)));
};

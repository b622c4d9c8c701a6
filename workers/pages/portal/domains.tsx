// Domains: adding them, verifying them by one of three methods, and removing them.
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
import { SubmitButton } from "../shared/form-fields.tsx";
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
  Table,
  messages,
  FormErrorMessage,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

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

const renderDomainList = async (request: PortalRequest, error?: FormError): Promise<Response> =>
  renderMemberPage(request, {
    tab: "domains",
    error,
    content: (
      <>
        <Table
          label={messages.tabs.domains}
          rows={await listDomains(request.services, request.member)}
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
            <SubmitButton>{domainMessages.add}</SubmitButton>
          </PostForm>
        </Section>
      </>
    ),
  });

const VerificationMethod: FC<{ id: string; label: string; lines: Readonly<Record<string, string>> }> = ({ id, label, lines }) => (
  <section aria-labelledby={id}>
    <h3 id={id}>{label}</h3>
    <PropertyList
      lines={Object.entries(lines).map(([name, value], index) => [
        name,
        <>
          <code class="whole" id={`${id}-${index}`} translate="no">
            {value}
          </code>{" "}
          <LabeledCopyButton of={`${id}-${index}`} label={`${label}, ${name}`} />
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

const renderDomain = async (
  request: PortalRequest,
  id: string,
  error?: FormError,
  otherTexts: readonly string[] = [],
): Promise<Response> => {
  const found = (await listDomains(request.services, request.member)).find((listed) => listed.id === id);
  if (found === undefined) return notFoundPage(request);
  const { domain, status, method, expiresAt, token } = found;
  return renderMemberPage(request, {
    tab: "domains",
    title: domain,
    error,
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

const handleAddDomain = async (request: PortalFormRequest): Promise<Response> => {
  const domain = (request.form.get("domain") ?? "").trim();
  const added = await claimDomain(request.services, request.member, { domain, idempotencyKey: null });
  return added.ok ? redirectTo(request, `/portal/domains/${added.value.value.id}`, "added") : renderDomainList(request, toFormError(added));
};

const handleVerifyDomain = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const verified = await verifyDomain(request.services, request.member, id, null);
  if (verified.ok) return redirectTo(request, `/portal/domains/${id}`, "proved");
  if (verified.code === "not_found") return notFoundPage(request);
  const error = { code: verified.code, field: null, text: verified.detail ?? domainMessages.unproved };
  return renderDomain(request, id, error, verified.otherTexts);
};

const handleRemoveDomain = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const released = await releaseDomain(request.services, request.member, id);
  return released.ok ? redirectTo(request, "/portal/domains", "removed") : notFoundPage(request);
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

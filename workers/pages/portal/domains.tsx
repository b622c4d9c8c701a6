// Adds, verifies and removes domains.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { buildDomainChallenges, getHostWithoutWww } from "../../../core/accounts/domain-claim.ts";
import { parseDomainId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { Domain } from "../../../storage/domains.ts";
import { addDomain } from "../../operations/portal/add-domain.ts";
import { listWebsites } from "../../operations/portal/list-websites.ts";
import { listDomains } from "../../operations/portal/list-domains.ts";
import { removeDomain } from "../../operations/portal/remove-domain.ts";
import { verifyDomain } from "../../operations/portal/verify-domain.ts";
import { EmptyState, formatDay, formatMessage, Notice, Timestamp, UntrustedText, PropertyList } from "../shared/components.tsx";
import { CopyLine, Table } from "../shared/signed-in-components.tsx";
import {
  ActionButton,
  Card,
  Field,
  FormCard,
  FormErrorMessage,
  formatCopyLabel,
  language,
  Link,
  messages,
  PlainList,
  RoleGate,
  ShortTime,
  StatusLabel,
  type Tone,
  PanelTabs,
} from "./components.tsx";
import { confirmationPage, renderConfirmation } from "./confirmation.tsx";
import { pathWithQuery } from "./paths.ts";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const domainMessages = messages.domains;
const domainsPath = "/portal/domains";
const domainTones: Readonly<Record<Domain["status"], Tone>> = { verified: "good", pending: "caution", lapsed: "bad" };

const DomainStatus: FC<{ domain: Domain }> = ({ domain: { status, lapsesAt } }) =>
  lapsesAt === null ? (
    <StatusLabel tone={domainTones[status]} text={domainMessages.states[status]} />
  ) : (
    <StatusLabel tone="caution" text={domainMessages.lapsesTitle} />
  );

const DomainsCard: FC<{ domains: readonly Domain[] }> = ({ domains }) => (
  <div class="card">
    {domains.length === 0 ? (
      <EmptyState icon="globe" title={domainMessages.emptyTitle} advice={domainMessages.empty} />
    ) : (
      <Table
        label={messages.tabs.domains}
        rows={domains}
        columns={[
          [domainMessages.domain, (row) => <Link to={`${domainsPath}/${row.id}`} text={row.domain} />],
          [messages.state, (row) => <DomainStatus domain={row} />, "corner"],
          [domainMessages.how, (row) => (row.method === null ? domainMessages.noRecord : domainMessages.methods[row.method])],
          [
            domainMessages.checkedUtc,
            (row) => (row.checkedAt === null ? domainMessages.notYet : <ShortTime at={row.checkedAt} />),
            "minor",
          ],
        ]}
      />
    )}
  </div>
);

const renderDomainList = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const domains = await listDomains(request.services, request.member);
  return renderMemberPage(request, {
    tab: "domains",
    intro: domainMessages.intro,
    error,
    content: (
      <>
        <DomainsCard domains={domains} />
        <FormCard
          id="claim"
          title={domainMessages.add}
          action={domainsPath}
          requiredRole="owner"
          submitLabel={domainMessages.add}
          footnote={domainMessages.addNext}
          isPrimary
        >
          <FormErrorMessage fields={["domain"]} />
          <Field name="domain" label={domainMessages.domain} hint={domainMessages.hint} required maxlength={300} />
        </FormCard>
      </>
    ),
  });
};

const VerificationMethod: FC<{ id: string; panel: string; label: string; text: string; lines: Readonly<Record<string, string>> }> = ({
  id,
  panel,
  label,
  text,
  lines,
}) => (
  <section class={`panel ${panel} stack`} aria-label={label}>
    <p>{text}</p>
    <PropertyList
      isStacked
      lines={Object.entries(lines).map(([name, value], index) => [
        name,
        <CopyLine id={`${id}-${index}`} value={value} copyLabel={formatCopyLabel(`${label}, ${name}`)} />,
      ])}
    />
  </section>
);

/** Shows the three ways to verify a domain, as tabs that work without a script. */
const VerificationCard: FC<{ domain: Domain; token: string; otherTexts: readonly string[] }> = ({
  domain: { id, domain, status },
  token,
  otherTexts,
}) => {
  const { dns, wellKnown, meta } = buildDomainChallenges(domain, token);
  const { txtName, txtValue, address, line, tag, methods, how_to: howTo } = domainMessages;
  return (
    <Card
      id="ways"
      title={domainMessages.ways}
      note={domainMessages.oneIsEnough}
      footer={
        <>
          <span>{domainMessages.checkHint}</span>
          <RoleGate requiredRole="owner">
            <ActionButton
              look={status === "verified" ? "secondary" : "primary"}
              action={`${domainsPath}/${id}/verify`}
              label={status === "verified" ? domainMessages.checkAgain : domainMessages.check}
            />
          </RoleGate>
        </>
      }
    >
      <FormErrorMessage />
      {otherTexts.length > 0 && (
        <div>
          <p>{domainMessages.otherTexts}</p>
          <PlainList items={otherTexts.map((text) => <UntrustedText text={text} />)} />
        </div>
      )}
      <div class="panels stack">
        <PanelTabs name="way" legend={domainMessages.how} labels={Object.values(methods)} />
        <VerificationMethod
          id="dns"
          panel="p1"
          label={methods.dns}
          text={howTo.dns}
          lines={{ [txtName]: dns.name, [txtValue]: dns.value }}
        />
        <VerificationMethod
          id="file"
          panel="p2"
          label={methods.well_known}
          text={howTo.well_known}
          lines={{ [address]: wellKnown.url, [line]: wellKnown.body }}
        />
        <VerificationMethod id="tag" panel="p3" label={methods.meta} text={howTo.meta} lines={{ [address]: meta.url, [tag]: meta.tag }} />
      </div>
    </Card>
  );
};

const DomainNotice: FC<{ domain: Domain }> = ({ domain: { status, lapsesAt } }) => {
  if (status === "lapsed")
    return (
      <Notice tone="bad" icon="circle-alert" title={domainMessages.lapsedTitle}>
        <p>{domainMessages.lapsed}</p>
      </Notice>
    );
  return lapsesAt === null ? null : (
    <Notice tone="caution" icon="triangle-alert" title={domainMessages.lapsesTitle}>
      <p>{formatMessage(domainMessages.lapses, { date: formatDay(language, lapsesAt) })}</p>
    </Notice>
  );
};

/** Describes what a verified domain covers, or the deadline for verifying a pending domain. */
const describeDomain = ({ domain, status, method, expiresAt }: Domain): string | undefined => {
  if (status === "verified" && method !== null)
    return formatMessage(method === "dns" ? domainMessages.coversAll : domainMessages.coversHost, { domain });
  return status === "pending" && expiresAt !== null
    ? formatMessage(domainMessages.until, { date: formatDay(language, expiresAt) })
    : undefined;
};

const renderDomain = async (
  request: PortalRequest,
  id: string,
  error?: FormError,
  otherTexts: readonly string[] = [],
): Promise<Response> => {
  const { services, member, environment } = request;
  const found = (await listDomains(services, member)).find((listed) => listed.id === id);
  if (found === undefined) return notFoundPage(request);
  const { domain, method, checkedAt, token } = found;
  const websites = await listWebsites(services, member, environment, domain);
  const description = describeDomain(found);
  return renderMemberPage(request, {
    tab: "domains",
    title: domain,
    parent: { path: domainsPath, text: messages.tabs.domains },
    status: <DomainStatus domain={found} />,
    ...(description !== undefined && { intro: description }),
    error,
    actions: (
      <RoleGate requiredRole="owner">
        <Link class="btn" to={`${domainsPath}/${id}/remove`} text={domainMessages.remove} />
      </RoleGate>
    ),
    content: (
      <>
        <DomainNotice domain={found} />
        {token === null ? <FormErrorMessage /> : <VerificationCard domain={found} token={token} otherTexts={otherTexts} />}
        <Card id="details" title={messages.details}>
          <PropertyList
            lines={[
              [domainMessages.how, method === null ? domainMessages.notYet : domainMessages.methods[method]],
              [domainMessages.checked, checkedAt !== null && <Timestamp at={checkedAt} />],
              [
                domainMessages.websites,
                websites.length === 0 ? (
                  domainMessages.noWebsites
                ) : (
                  <PlainList
                    items={websites.map((host) => <Link to={pathWithQuery("/portal/certificates", { website: host })} text={host} />)}
                  />
                ),
              ],
            ]}
          />
        </Card>
      </>
    ),
  });
};

const renderRemoveDomain = async (request: PortalRequest, id: string): Promise<Response> => {
  const found = (await listDomains(request.services, request.member)).find((listed) => listed.id === id);
  if (found === undefined) return notFoundPage(request);
  const { forms, issued, again } = domainMessages.removeFollows;
  return renderConfirmation(request, {
    tab: "domains",
    parent: { path: `${domainsPath}/${id}`, text: found.domain },
    question: formatMessage(domainMessages.removeQuestion, { domain: found.domain }),
    consequences: [
      ["ban", forms],
      ["file-badge", issued],
      ["rotate-cw", again],
    ],
    action: `${domainsPath}/${id}/remove`,
    confirmLabel: domainMessages.remove,
    cancelLabel: domainMessages.keep,
  });
};

/** Reduces a pasted URL to its host, as sign-up does. Other text stays as it is. */
const toTypedDomain = (text: string): string => (/^https?:\/\//i.test(text) && URL.canParse(text) ? getHostWithoutWww(text) : text);

const handleAddDomain = async (request: PortalFormRequest): Promise<Response> => {
  const domain = toTypedDomain((request.form.get("domain") ?? "").trim());
  const added = await addDomain(request.services, request.member, { domain, idempotencyKey: null });
  if (added.ok) return redirectTo(request, `${domainsPath}/${added.value.value.id}`, "added");
  const error = toFormError(added);
  return renderDomainList(request, error.field === "domain" ? { ...error, text: domainMessages.invalid } : error);
};

const handleVerifyDomain = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const verified = await verifyDomain(request.services, request.member, id, null);
  if (verified.ok) return redirectTo(request, `${domainsPath}/${id}`, "verified");
  if (verified.code === "not_found") return notFoundPage(request);
  const error = { code: verified.code, field: null, text: verified.detail ?? domainMessages.recordNotFound };
  return renderDomain(request, id, error, verified.otherTexts);
};

const handleRemoveDomain = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const removed = await removeDomain(request.services, request.member, id);
  return removed.ok ? redirectTo(request, domainsPath, "removed") : notFoundPage(request);
};

export const registerDomainRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/domains", authenticatedPage(renderDomainList));
  pages.post("/domains", authenticatedAction({ ownerOnly: true }, handleAddDomain));
  pages.get("/domains/:id", authenticatedPage(withId(parseDomainId, renderDomain)));
  pages.post(
    "/domains/:id/verify",
    authenticatedAction({ ownerOnly: true, businessLimit: "DOMAIN_CHECKS_PER_BUSINESS" }, withId(parseDomainId, handleVerifyDomain)),
  );
  pages.get("/domains/:id/remove", confirmationPage("owner", withId(parseDomainId, renderRemoveDomain)));
  pages.post("/domains/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseDomainId, handleRemoveDomain)));
};

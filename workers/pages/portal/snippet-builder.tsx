// The snippet builder: fetches a public page of the business, maps its form and shows the tag to add.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import type { Refusal } from "../../../core/result.ts";
import type { AppEnv } from "../../http/context.ts";
import { mapPage, type MappedPage, type ScriptTagState } from "../../operations/integration/map-page.ts";
import { planIntegration, type IntegrationInput } from "../../operations/integration/plan-integration.ts";
import { listDomains } from "../../operations/portal/list-domains.ts";
import {
  FormattedMessage,
  formatMessage,
  Icon,
  Notice,
  usePageContext,
  VerbatimText,
  UrlText,
  PropertyList,
} from "../shared/components.tsx";
import type { IconName } from "../shared/icon-names.ts";
import {
  ActionButton,
  Card,
  Field,
  FormCard,
  FormErrorMessage,
  Link,
  messages,
  PlainList,
  RadioFields,
  StatusLabel,
  usePortalRequest,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { checkAccountLimit } from "../shared/form-handlers.ts";
import { Table } from "../shared/signed-in-components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import { InstallCode } from "./install-code.tsx";

const snippetMessages = messages.snippet;
const builderPath = "/portal/snippet";

const WrappedCode: FC<{ text: string }> = ({ text }) => (
  <code class="wraps">
    <VerbatimText text={text} />
  </code>
);

/** Converts the input back into form values, so that the form can be submitted again. */
const toFormValues = ({ mode, url, purpose, entities }: IntegrationInput) => ({ mode, url, purpose, entities: entities.join("\n") });

/** Says what to check before using the tag: how certain the mapping is, which fields it leaves out, and what the page lacks. */
const MappingNotice: FC<{ built: MappedPage }> = ({ built: { confidence, unmapped, warnings } }) => {
  const { leftOut } = snippetMessages;
  const names = unmapped.join(", ");
  const percent = Math.round(confidence * 100);
  return (
    <Notice tone="caution" icon="triangle-alert" title={snippetMessages.compare}>
      <p>
        {percent === 100 ? snippetMessages.certain : formatMessage(snippetMessages.confidence, { percent: String(percent) })}
        {unmapped.length > 0 && (
          <>
            {" "}
            <FormattedMessage
              text={unmapped.length === 1 ? leftOut.one : leftOut.many}
              parts={{ count: String(unmapped.length), fields: <VerbatimText text={names} /> }}
            />
          </>
        )}
      </p>
      {warnings.length > 0 && <PlainList items={warnings} />}
    </Notice>
  );
};

const TagCard: FC<{ built: MappedPage; input: IntegrationInput }> = ({ built, input }) => {
  const { copied } = usePageContext().messages;
  return (
    <Card
      id="built"
      title={snippetMessages.add}
      note={<FormattedMessage text={snippetMessages.addText} parts={{ tag: <code>{"</body>"}</code> }} />}
      footer={
        <>
          <span>{snippetMessages.noSecrets}</span>
          <button type="button" class="btn primary sm" hidden data-copy="tag" data-copied={copied}>
            <Icon name="copy" />
            <span>{snippetMessages.copyTag}</span>
          </button>
        </>
      }
    >
      <InstallCode built={built} input={input} />
    </Card>
  );
};

const MappingCard: FC<{ built: MappedPage }> = ({ built }) => (
  <Card id="mapping" title={snippetMessages.mapping} note={snippetMessages.mappingText} isFlush>
    <Table
      label={snippetMessages.mapping}
      rows={[
        ...built.fieldMap.map(([selector, key]) => ({ selector, key })),
        ...built.unmapped.map((selector) => ({ selector, key: null })),
      ]}
      emptyMessage={snippetMessages.noFields}
      columns={[
        [snippetMessages.selector, ({ selector }) => <WrappedCode text={selector} />],
        [
          messages.state,
          ({ key }) =>
            key === null ? (
              <StatusLabel tone="plain" icon="minus" text={snippetMessages.unmapped} />
            ) : (
              <StatusLabel tone="good" icon="check" text={snippetMessages.mapped} />
            ),
          "corner",
        ],
        [
          snippetMessages.becomes,
          ({ key }) => (key === null ? <span class="quiet">{snippetMessages.unmappedText}</span> : <span class="tag">{key}</span>),
        ],
      ]}
    />
  </Card>
);

const CheckItem: FC<{ isGood: boolean; icon?: IconName; title: string; children?: Child }> = ({
  isGood,
  icon = isGood ? "circle-check" : "triangle-alert",
  title,
  children,
}) => (
  <li class={isGood ? undefined : "wait"}>
    <Icon name={icon} />
    <div>
      <strong>{title}</strong>
      <small class="quiet">{children}</small>
    </div>
  </li>
);

const tagIcons: Readonly<Record<ScriptTagState, IconName>> = {
  none: "circle-dashed",
  own: "circle-check",
  other: "triangle-alert",
  several: "triangle-alert",
};

const PageChecks: FC<{ built: MappedPage }> = ({ built: { pageUrl, formSelector, fieldMap, tagOnPage, blocked } }) => {
  const { origin } = new URL(usePortalRequest().services.config.cdnUrl);
  const { fields, onPage } = snippetMessages;
  const count = formatMessage(fieldMap.length === 1 ? fields.one : fields.many, { count: String(fieldMap.length) });
  return (
    <Card id="now" title={snippetMessages.now}>
      <ul class="checks">
        <CheckItem isGood title={snippetMessages.verified}>
          <UrlText text={new URL(pageUrl).host} />
        </CheckItem>
        <CheckItem isGood title={snippetMessages.found}>
          {formSelector !== null && (
            <>
              <VerbatimText text={formSelector} />,{" "}
            </>
          )}
          {count}
        </CheckItem>
        <CheckItem isGood={tagOnPage === "own"} icon={tagIcons[tagOnPage]} title={onPage[tagOnPage].title}>
          {onPage[tagOnPage].text}
        </CheckItem>
        {blocked.length === 0 ? (
          <CheckItem isGood title={snippetMessages.allowed}>
            {snippetMessages.allowedText}
          </CheckItem>
        ) : (
          <CheckItem isGood={false} title={snippetMessages.blocked}>
            {blocked.map((name) => (
              <span class="line">
                <code>{name}</code>: {formatMessage(snippetMessages.unblock[name], { origin })}
              </span>
            ))}
          </CheckItem>
        )}
      </ul>
    </Card>
  );
};

const RequestCard: FC<{ input: IntegrationInput }> = ({ input }) => (
  <Card
    id="asked"
    title={snippetMessages.asked}
    footer={
      <ActionButton look="link" action={builderPath} label={snippetMessages.change} hiddenValues={{ ...toFormValues(input), edit: "1" }} />
    }
  >
    <PropertyList
      isStacked
      lines={[
        [snippetMessages.does, snippetMessages.modes[input.mode].label],
        [messages.purpose, <VerbatimText text={input.purpose} />],
        [
          messages.recipients,
          input.entities.length > 0 &&
            input.entities.map((name) => (
              <span class="line">
                <VerbatimText text={name} />
              </span>
            )),
        ],
      ]}
    />
  </Card>
);

const renderResult = (request: PortalRequest, input: IntegrationInput, built: MappedPage): Promise<Response> =>
  renderMemberPage(request, {
    tab: "snippet",
    title: snippetMessages.built,
    parent: { path: builderPath, text: messages.tabs.snippet },
    intro: (
      <FormattedMessage
        text={snippetMessages.builtFor}
        parts={{
          url: (
            <span class="mono">
              <UrlText text={built.pageUrl} />
            </span>
          ),
        }}
      />
    ),
    actions: (
      <>
        <ActionButton
          look="secondary"
          icon="refresh-cw"
          action={builderPath}
          label={snippetMessages.check}
          hiddenValues={toFormValues(input)}
        />
        <Link class="btn" to={builderPath} text={snippetMessages.startOver} />
      </>
    ),
    content: (
      <>
        <MappingNotice built={built} />
        <div class="cols main">
          <div class="stack">
            <TagCard built={built} input={input} />
            <MappingCard built={built} />
          </div>
          <div class="stack">
            <PageChecks built={built} />
            <RequestCard input={input} />
          </div>
        </div>
      </>
    ),
  });

const renderSnippetBuilder = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { noDomain, byHand } = snippetMessages;
  const domains = await listDomains(request.services, request.member);
  return renderMemberPage(request, {
    tab: "snippet",
    intro: snippetMessages.intro,
    error,
    content: (
      <>
        {!domains.some(({ status }) => status === "verified") && (
          <Notice icon="globe" title={noDomain.title} action={<Link class="btn" to="/portal/domains" text={noDomain.action} />}>
            <p>{noDomain.text}</p>
          </Notice>
        )}
        <div class="cols main">
          <FormCard
            id="form"
            title={snippetMessages.form}
            action={builderPath}
            requiredRole="member"
            submitLabel={snippetMessages.map}
            footnote={snippetMessages.reads}
            isPrimary
          >
            <FormErrorMessage fields={["url", "purpose", "entities"]} />
            <RadioFields name="mode" legend={snippetMessages.mode} value="consent" options={snippetMessages.modes} />
            <Field name="url" label={snippetMessages.url} hint={snippetMessages.urlHint} type="url" required maxlength={2_048} />
            <Field name="purpose" label={messages.purpose} hint={snippetMessages.purposeHint} required maxlength={500} />
            <Field name="entities" label={messages.recipients} hint={snippetMessages.entitiesHint} rows={4} />
          </FormCard>
          <Card
            id="by-hand"
            title={byHand.title}
            footer={
              <a class="link" href="/docs/widget">
                {byHand.link} <Icon name="arrow-right" />
              </a>
            }
          >
            <p>{byHand.text}</p>
          </Card>
        </div>
      </>
    ),
  });
};

const parseInput = (form: PortalFormRequest["form"]): IntegrationInput => ({
  mode: form.get("mode") === "share" ? "share" : "consent",
  url: (form.get("url") ?? "").trim(),
  purpose: form.get("purpose") ?? "",
  entities: (form.get("entities") ?? "")
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== ""),
});

/** The response to the form contains the result, because the result is not stored. */
const handleBuildSnippet = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form, environment } = request;
  if (form.has("edit")) return renderSnippetBuilder(request);
  const renderRefused = (refusal: Refusal): Promise<Response> => {
    const error = toFormError(refusal);
    return renderSnippetBuilder(request, error.code === "page_url_not_verified" ? { ...error, field: "url" } : error);
  };
  const input = parseInput(form);
  const plan = await planIntegration(services, member, input, environment);
  if (!plan.ok) return renderRefused(plan);
  const limitResponse = plan.value.isFetchable ? await checkAccountLimit(c, "INTEGRATE", member.business.id) : null;
  if (limitResponse !== null) return limitResponse;
  const mapped = await mapPage(services, plan.value);
  return mapped.ok ? renderResult(request, { ...input, ...plan.value.request }, mapped.value) : renderRefused(mapped);
};

export const registerSnippetRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/snippet", authenticatedPage(renderSnippetBuilder));
  pages.post("/snippet", authenticatedAction({}, handleBuildSnippet));
};

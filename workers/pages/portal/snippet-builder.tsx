// The snippet builder: fetches a public page of the business, maps its form and shows the tag to add.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Refusal } from "../../../core/result.ts";
import type { AppEnv } from "../../http/context.ts";
import { mapPage, type MappedPage } from "../../operations/integration/map-page.ts";
import { planIntegration } from "../../operations/integration/plan-integration.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText, formatMessage } from "../shared/components.tsx";
import {
  SelectField,
  LabeledCopyButton,
  Field,
  PlainList,
  PostForm,
  Section,
  StatusLabel,
  Table,
  usePortalRequest,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { checkAccountLimit } from "../shared/form-handlers.ts";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const snippetMessages = messages.snippet;

const WrappedCode: FC<{ text: string }> = ({ text }) => (
  <code class="wraps">
    <VerbatimText text={text} />
  </code>
);

const SnippetResult: FC<{ built: MappedPage }> = ({ built }) => {
  const { origin } = new URL(usePortalRequest().services.config.cdnUrl);
  return (
    <Section id="built" title={snippetMessages.built}>
      <p>{formatMessage(snippetMessages.confidence, { percent: String(Math.round(built.confidence * 100)) })}</p>
      {built.warnings.length > 0 && (
        <>
          <h3>{snippetMessages.warnings}</h3>
          <PlainList items={built.warnings} />
        </>
      )}
      {built.fieldMap.length > 0 && (
        <Table
          label={snippetMessages.fields}
          rows={built.fieldMap}
          columns={[
            [snippetMessages.selector, ([selector]) => <WrappedCode text={selector} />],
            [snippetMessages.becomes, ([, key]) => <code>{key}</code>],
          ]}
        />
      )}
      {built.unmapped.length > 0 && (
        <>
          <h3>{snippetMessages.unmapped}</h3>
          <PlainList items={built.unmapped.map((name) => <WrappedCode text={name} />)} />
        </>
      )}
      <h3>{snippetMessages.tag}</h3>
      <p>{snippetMessages.tagText}</p>
      <pre>
        <code id="tag" translate="no">
          {built.snippet}
        </code>
      </pre>
      <LabeledCopyButton of="tag" label={snippetMessages.tag} />
      <h3>{snippetMessages.now}</h3>
      <p>
        <StatusLabel tone={built.tagOnPage === "own" ? "good" : "caution"} text={snippetMessages.onPage[built.tagOnPage]} />
      </p>
      <p>
        <StatusLabel
          tone={built.blocked.length === 0 ? "good" : "bad"}
          text={built.blocked.length === 0 ? snippetMessages.allowed : snippetMessages.blocked}
        />
      </p>
      {built.blocked.length > 0 && (
        <PlainList
          items={built.blocked.map((name) => (
            <>
              <code>{name}</code>: {formatMessage(snippetMessages.unblock[name], { origin })}
            </>
          ))}
        />
      )}
      <p class="quiet">{snippetMessages.again}</p>
    </Section>
  );
};

const renderSnippetBuilder = (request: PortalRequest, error?: FormError, built?: MappedPage): Promise<Response> =>
  renderMemberPage(request, {
    tab: "snippet",
    error,
    content: (
      <>
        <p>{snippetMessages.intro}</p>
        <PostForm requiredRole="member" action="/portal/snippet">
          <FormErrorMessage fields={["url", "purpose", "entities"]} />
          <SelectField name="mode" label={snippetMessages.mode} options={snippetMessages.modes} />
          <Field name="url" label={snippetMessages.url} hint={snippetMessages.urlHint} type="url" required maxlength={2_048} />
          <Field name="purpose" label={messages.certificates.purpose} hint={snippetMessages.purposeHint} required maxlength={500} />
          <Field name="entities" label={messages.certificates.recipients} hint={snippetMessages.entitiesHint} rows={4} />
          <SubmitButton>{snippetMessages.map}</SubmitButton>
        </PostForm>
        {built !== undefined && <SnippetResult built={built} />}
      </>
    ),
  });

/** Shows the result in the response to the form, because nothing is stored that a redirect could lead to. */
const handleBuildSnippet = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form, environment } = request;
  const renderRefused = (refusal: Refusal): Promise<Response> => {
    const error = toFormError(refusal);
    return renderSnippetBuilder(request, error.code === "page_url_not_verified" ? { ...error, field: "url" } : error);
  };
  const input = {
    mode: form.get("mode") === "share" ? "share" : "consent",
    url: (form.get("url") ?? "").trim(),
    purpose: form.get("purpose") ?? "",
    entities: (form.get("entities") ?? "")
      .split("\n")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  } as const;
  const plan = await planIntegration(services, member, input, environment);
  if (!plan.ok) return renderRefused(plan);
  const limitResponse = plan.value.isFetchable ? await checkAccountLimit(c, "INTEGRATE", member.business.id) : null;
  if (limitResponse !== null) return limitResponse;
  const mapped = await mapPage(services, plan.value);
  return mapped.ok ? renderSnippetBuilder(request, undefined, mapped.value) : renderRefused(mapped);
};

export const registerSnippetRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/snippet", authenticatedPage(renderSnippetBuilder));
  pages.post("/snippet", authenticatedAction({}, handleBuildSnippet));
};

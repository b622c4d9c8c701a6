// The settings of a client: the URLs that share requests can return to, and whether share codes can be redeemed without an Origin header.
import type { Hono } from "hono";
import { parseClientId, type ClientId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { maxReturnUrls, updateClient } from "../../operations/portal/update-client.ts";
import { formatMessage, VerbatimText, PropertyList } from "../shared/components.tsx";
import { CopyLine } from "../shared/signed-in-components.tsx";
import { Card, CheckboxField, Field, FormCard, FormErrorMessage, formatCopyLabel, messages } from "./components.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { redirectTo, toFormError, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const keyMessages = messages.keys;
const keysPath = "/portal/keys";
const returnUrlsField = "return_urls";
const requireOriginField = "require_origin";
const pagePath = (id: ClientId): string => `/portal/clients/${id}`;

const renderClient = async (request: PortalRequest, id: ClientId, error?: FormError): Promise<Response> => {
  const { services, member, environment } = request;
  const client = (await listClients(services, member)).find((listed) => listed.id === id && listed.environment === environment);
  if (client === undefined) return notFoundPage(request);
  const { clientSettings: settings } = keyMessages;
  return renderMemberPage(request, {
    tab: "keys",
    title: keyMessages.client,
    heading: <VerbatimText text={client.name} />,
    parent: { path: keysPath, text: messages.tabs.keys },
    error,
    content: (
      <div class="cols main">
        <FormCard
          id="sharing"
          title={settings.title}
          action={pagePath(id)}
          requiredRole="owner"
          submitLabel={settings.save}
          footnote={settings.footnote}
          isPrimary
        >
          <FormErrorMessage fields={[returnUrlsField]} />
          <Field
            name={returnUrlsField}
            label={settings.returnUrls}
            hint={formatMessage(settings.returnUrlsHint, { max: String(maxReturnUrls) })}
            value={client.returnUrls.join("\n")}
            rows={5}
            isOptional
          />
          <CheckboxField
            name={requireOriginField}
            label={settings.requireOrigin}
            hint={settings.requireOriginHint}
            checked={client.requireOrigin}
          />
        </FormCard>
        <Card id="client" title={keyMessages.client}>
          <PropertyList
            isStacked
            lines={[[keyMessages.clientId, <CopyLine id={id} value={id} copyLabel={formatCopyLabel(keyMessages.clientId)} />]]}
          />
        </Card>
      </div>
    ),
  });
};

/** Reads one URL per line. Empty lines are left out. */
const parseUrls = (form: PortalFormRequest["form"]): readonly string[] =>
  (form.get(returnUrlsField) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const handleSaveClient = async (request: PortalFormRequest, id: ClientId): Promise<Response> => {
  const { services, member, environment, form } = request;
  const isListed = (await listClients(services, member)).some((client) => client.id === id && client.environment === environment);
  if (!isListed) return notFoundPage(request);
  const saved = await updateClient(services, member, id, { returnUrls: parseUrls(form), requireOrigin: form.has(requireOriginField) });
  if (saved.ok) return redirectTo(request, pagePath(id), "saved");
  return saved.code === "not_found" ? notFoundPage(request) : renderClient(request, id, toFormError(saved));
};

export const registerClientRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/clients/:id", authenticatedPage(withId(parseClientId, renderClient)));
  pages.post("/clients/:id", authenticatedAction({ ownerOnly: true }, withId(parseClientId, handleSaveClient)));
};

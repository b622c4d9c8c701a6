// API keys for servers and public clients for tags. A key is shown once, in the response to the form that created it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseApiKeyId } from "../../../core/ids.ts";
import type { Refusal } from "../../../core/result.ts";
import type { AppEnv } from "../../http/context.ts";
import type { Client } from "../../../storage/clients.ts";
import { createApiKey } from "../../operations/portal/create-api-key.ts";
import { createClient } from "../../operations/portal/create-client.ts";
import { listApiKeys } from "../../operations/portal/list-api-keys.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { revokeApiKey } from "../../operations/portal/revoke-api-key.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import {
  ConfirmButton,
  Field,
  IdempotencyField,
  PostForm,
  Section,
  StatusLabel,
  Table,
  usePortalRequest,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const keyMessages = messages.keys;

type CredentialKind = "key" | "client";

/** The name of the input shows which of the two forms was posted. */
const NewCredentialForm: FC<{ kind: CredentialKind; label: string }> = ({ kind, label }) => (
  <PostForm requiredRole="owner" action={`/portal/${kind}s`}>
    <h3>{label}</h3>
    {usePortalRequest().form?.has(`${kind}_name`) && <FormErrorMessage fields={[`${kind}_name`]} />}
    <IdempotencyField />
    <Field name={`${kind}_name`} label={keyMessages.name} hint={keyMessages.nameHint} required maxlength={80} />
    <SubmitButton>{label}</SubmitButton>
  </PostForm>
);

const renderKeys = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { services, member } = request;
  const [keys, clients] = await Promise.all([listApiKeys(services, member), listClients(services, member)]);
  const isInEnvironment = ({ environment }: Pick<Client, "environment">): boolean => environment === request.environment;
  return renderMemberPage(request, {
    tab: "keys",
    error,
    content: (
      <>
        <Section id="keys" title={keyMessages.keys}>
          <Table
            label={keyMessages.keys}
            rows={keys.filter(isInEnvironment)}
            emptyMessage={keyMessages.noKeys}
            columns={[
              [keyMessages.name, (row) => <VerbatimText text={row.name} />],
              [
                keyMessages.key,
                (row) => (
                  <code translate="no">
                    {row.environment === "live" ? "sk_live_" : "sk_test_"}…{row.last4}
                  </code>
                ),
              ],
              [keyMessages.made, (row) => <Timestamp at={row.createdAt} />],
              [keyMessages.used, (row) => (row.lastUsedAt === null ? keyMessages.never : <Timestamp at={row.lastUsedAt} />)],
              [
                messages.state,
                (row) =>
                  row.revokedAt === null ? (
                    <StatusLabel tone="good" text={keyMessages.works} />
                  ) : (
                    <StatusLabel tone="plain" text={keyMessages.ended} />
                  ),
              ],
              [
                messages.action,
                (row) =>
                  row.revokedAt === null && (
                    <ConfirmButton
                      requiredRole="owner"
                      action={`/portal/keys/${row.id}/remove`}
                      label={keyMessages.remove}
                      of={row.name}
                      consequence={row.lastUsedAt === null ? keyMessages.removalUnused : keyMessages.removal}
                    />
                  ),
              ],
            ]}
          />
          <NewCredentialForm kind="key" label={keyMessages.newKey} />
        </Section>
        <Section id="clients" title={keyMessages.clients}>
          <p>{keyMessages.clientsText}</p>
          <Table
            label={keyMessages.clients}
            rows={clients.filter(isInEnvironment)}
            columns={[
              [keyMessages.name, (row) => <VerbatimText text={row.name} />],
              [
                keyMessages.clientId,
                (row) => (
                  <code class="whole" translate="no">
                    {row.id}
                  </code>
                ),
              ],
              [keyMessages.made, (row) => <Timestamp at={row.createdAt} />],
            ]}
          />
          <NewCredentialForm kind="client" label={keyMessages.newClient} />
        </Section>
      </>
    ),
  });
};

const parseCreateRequest = ({ form, environment }: PortalFormRequest, kind: CredentialKind) => ({
  name: form.get(`${kind}_name`) ?? "",
  environment,
  idempotencyKey: form.get("once")?.slice(0, 64) || null,
});

const renderCreateError = (request: PortalFormRequest, kind: CredentialKind, refusal: Refusal): Promise<Response> => {
  const error = toFormError(refusal);
  return renderKeys(request, error.field === "name" ? { ...error, field: `${kind}_name` } : error);
};

const handleCreateKey = async (request: PortalFormRequest): Promise<Response> => {
  const created = await createApiKey(request.services, request.member, parseCreateRequest(request, "key"));
  if (!created.ok) return renderCreateError(request, "key", created);
  const { value, isReplayed } = created.value;
  return renderSecretPage(request, {
    tab: "keys",
    title: keyMessages.madeTitle,
    label: keyMessages.secretLabel,
    value: isReplayed ? null : value.key,
    backPath: "/portal/keys",
  });
};

const handleCreateClient = async (request: PortalFormRequest): Promise<Response> => {
  const created = await createClient(request.services, request.member, parseCreateRequest(request, "client"));
  return created.ok ? redirectTo(request, "/portal/keys", "added") : renderCreateError(request, "client", created);
};

const handleRevokeKey = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const revoked = await revokeApiKey(request.services, request.member, id);
  return revoked.ok ? redirectTo(request, "/portal/keys", "removed") : notFoundPage(request);
};

export const registerKeyRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/keys", authenticatedPage(renderKeys));
  pages.post("/keys", authenticatedAction({ ownerOnly: true }, handleCreateKey));
  pages.post("/clients", authenticatedAction({ ownerOnly: true }, handleCreateClient));
  pages.post("/keys/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseApiKeyId, handleRevokeKey)));
};

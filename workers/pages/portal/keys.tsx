// Manages API keys, which servers use, and clients, whose public IDs are in script tags. A key is shown once, in the response to the form
// that created it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseApiKeyId } from "../../../core/ids.ts";
import type { Refusal } from "../../../core/result.ts";
import type { AppEnv } from "../../http/context.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import type { Client } from "../../../storage/clients.ts";
import { createApiKey } from "../../operations/portal/create-api-key.ts";
import { createClient } from "../../operations/portal/create-client.ts";
import { listApiKeys } from "../../operations/portal/list-api-keys.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { revokeApiKey } from "../../operations/portal/revoke-api-key.ts";
import { EmptyCard, VerbatimText } from "../shared/components.tsx";
import { CopyLine, Table } from "../shared/signed-in-components.tsx";
import {
  Card,
  Field,
  FormCard,
  FormErrorMessage,
  formatCopyLabel,
  formatCount,
  formatKeyEnding,
  getFormRestriction,
  IdempotencyField,
  Link,
  messages,
  ShortDay,
  ShortTime,
  StatusLabel,
  usePortalRequest,
} from "./components.tsx";
import { confirmationPage, renderConfirmation } from "./confirmation.tsx";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const keyMessages = messages.keys;
const { clientSettings: settings } = keyMessages;
const keysPath = "/portal/keys";

type CredentialKind = "key" | "client";

const formTexts = {
  key: { title: keyMessages.newKey, footnote: keyMessages.newKeyNote },
  client: { title: keyMessages.newClient, footnote: keyMessages.newClientNote },
} as const;

/** The name of the input indicates which of the two forms was posted. */
const NewCredentialForm: FC<{ kind: CredentialKind }> = ({ kind }) => {
  const { title, footnote } = formTexts[kind];
  return (
    <FormCard
      id={`new-${kind}`}
      title={title}
      action={`/portal/${kind}s`}
      requiredRole="owner"
      submitLabel={title}
      footnote={footnote}
      isPrimary={kind === "key"}
    >
      {usePortalRequest().form?.has(`${kind}_name`) && <FormErrorMessage fields={[`${kind}_name`]} />}
      <IdempotencyField />
      <Field name={`${kind}_name`} label={keyMessages.name} hint={keyMessages.nameHint} required maxlength={80} />
    </FormCard>
  );
};

const KeyEnding: FC<{ apiKey: ApiKey }> = ({ apiKey }) => (
  <code class="whole" translate="no">
    {formatKeyEnding(apiKey)}
  </code>
);

const RevokeLink: FC<{ apiKey: ApiKey }> = ({ apiKey: { id, name } }) => (
  <Link class="btn sm" to={`${keysPath}/${id}/remove`} text={keyMessages.remove} label={`${keyMessages.remove}: ${name}`} />
);

const KeysCard: FC<{ keys: readonly ApiKey[] }> = ({ keys }) => {
  const canRevoke = getFormRestriction(usePortalRequest().member, "owner") === null;
  return keys.length === 0 ? (
    <EmptyCard icon="key-round" title={keyMessages.noKeys} advice={keyMessages.noKeysAdvice} />
  ) : (
    <Card id="keys" title={keyMessages.keys} isFlush>
      <Table
        label={keyMessages.keys}
        rows={keys}
        columns={[
          [
            keyMessages.name,
            (row) => (
              <>
                <VerbatimText text={row.name} />
                <small>
                  <KeyEnding apiKey={row} />
                </small>
              </>
            ),
          ],
          [
            messages.state,
            (row) =>
              row.revokedAt === null ? (
                <StatusLabel tone="good" text={keyMessages.works} />
              ) : (
                <StatusLabel tone="plain" text={keyMessages.ended} />
              ),
            "corner",
          ],
          [messages.createdUtc, (row) => <ShortTime at={row.createdAt} />, "minor"],
          [keyMessages.used, (row) => (row.lastUsedAt === null ? messages.never : <ShortDay at={row.lastUsedAt} />)],
          ...(canRevoke
            ? ([[messages.action, (row: ApiKey) => row.revokedAt === null && <RevokeLink apiKey={row} />, "plain"]] as const)
            : []),
        ]}
      />
    </Card>
  );
};

const ClientsCard: FC<{ clients: readonly Client[] }> = ({ clients }) => (
  <Card id="clients" title={keyMessages.clients} note={keyMessages.clientsText} isFlush>
    <Table
      label={keyMessages.clients}
      rows={clients}
      columns={[
        [keyMessages.name, (row) => <VerbatimText text={row.name} />],
        [keyMessages.clientId, (row) => <CopyLine id={row.id} value={row.id} copyLabel={formatCopyLabel(row.name)} />],
        [settings.returnUrls, (row) => (row.returnUrls.length === 0 ? settings.noReturnUrls : formatCount(row.returnUrls.length))],
        [messages.createdUtc, (row) => <ShortTime at={row.createdAt} />, "minor"],
        [
          messages.action,
          (row) => <Link class="btn sm" to={`/portal/clients/${row.id}`} text={settings.edit} label={`${settings.edit}: ${row.name}`} />,
          "plain",
        ],
      ]}
    />
  </Card>
);

const renderKeys = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { services, member, environment } = request;
  const [keys, clients] = await Promise.all([listApiKeys(services, member), listClients(services, member)]);
  return renderMemberPage(request, {
    tab: "keys",
    intro: keyMessages.intro,
    error,
    content: (
      <>
        <KeysCard keys={keys.filter((key) => key.environment === environment)} />
        <NewCredentialForm kind="key" />
        <ClientsCard clients={clients.filter((client) => client.environment === environment)} />
        <NewCredentialForm kind="client" />
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
    backPath: keysPath,
  });
};

const handleCreateClient = async (request: PortalFormRequest): Promise<Response> => {
  const created = await createClient(request.services, request.member, parseCreateRequest(request, "client"));
  return created.ok ? redirectTo(request, keysPath, "added") : renderCreateError(request, "client", created);
};

/** Finds a key of this environment. The list contains the keys of both environments. */
const findKey = async ({ services, member, environment }: PortalRequest, id: string): Promise<ApiKey | undefined> =>
  (await listApiKeys(services, member)).find((key) => key.id === id && key.environment === environment);

const renderRevokeKey = async (request: PortalRequest, id: string): Promise<Response> => {
  const key = await findKey(request, id);
  if (key === undefined || key.revokedAt !== null) return notFoundPage(request);
  const { used, unused, final } = keyMessages.removeFollows;
  return renderConfirmation(request, {
    tab: "keys",
    parent: { path: keysPath, text: messages.tabs.keys },
    question: keyMessages.removeQuestion,
    subject: (
      <>
        <strong>
          <VerbatimText text={key.name} />
        </strong>{" "}
        <KeyEnding apiKey={key} />
      </>
    ),
    consequences: [
      ["ban", key.lastUsedAt === null ? unused : used],
      ["key-round", final],
    ],
    action: `${keysPath}/${id}/remove`,
    confirmLabel: keyMessages.revoke,
    cancelLabel: keyMessages.keep,
  });
};

const handleRevokeKey = async (request: PortalFormRequest, id: string): Promise<Response> => {
  if ((await findKey(request, id)) === undefined) return notFoundPage(request);
  const revoked = await revokeApiKey(request.services, request.member, id);
  return revoked.ok ? redirectTo(request, keysPath, "removed") : notFoundPage(request);
};

export const registerKeyRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/keys", authenticatedPage(renderKeys));
  pages.post("/keys", authenticatedAction({ ownerOnly: true }, handleCreateKey));
  pages.post("/clients", authenticatedAction({ ownerOnly: true }, handleCreateClient));
  pages.get("/keys/:id/remove", confirmationPage("owner", withId(parseApiKeyId, renderRevokeKey)));
  pages.post("/keys/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseApiKeyId, handleRevokeKey)));
};

// Lists the devices and passkeys of a signed-in person, and handles the forms that end a session, add a passkey or remove one. The app and
// the portal share this code.
import type { FC } from "hono/jsx";
import { formatDeviceName } from "../../../core/access/device.ts";
import type { Passkey } from "../../../core/access/passkey.ts";
import type { Session } from "../../../core/access/session.ts";
import { parsePasskeyId, parseSessionId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { dayMs } from "../../../core/time.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { parseCreatedCredential } from "../../http/passkey-credentials.ts";
import type { ListedSession } from "../../operations/access/list-sessions.ts";
import { registerPasskey } from "../../operations/access/register-passkey.ts";
import { removePasskey } from "../../operations/access/remove-passkey.ts";
import { revokeSession } from "../../operations/access/revoke-session.ts";
import { appMessages, type AppMessages } from "../i18n/app.ts";
import { formatDay, formatMessage, Icon, StatusBadge, usePageContext, VerbatimText } from "./components.tsx";
import type { FormFields } from "./form-handlers.ts";
import type { PostFormProps } from "./signed-in-components.tsx";
import type { SignedInRequest } from "./signed-in-handlers.ts";

interface ItemFormProps {
  /** The path that the form of each item is posted to. A hidden field contains the item's ID. */
  readonly action: string;
  /** The form component to use on the page that shows the list. */
  readonly Form: FC<PostFormProps>;
}

/** A button that submits the ID of one list item. `label` names the item for screen readers. */
export const ItemForm: FC<ItemFormProps & { id: string; text: string; label: string }> = ({ action, Form, id, text, label }) => (
  <Form action={action} hiddenValues={{ id }}>
    <button type="submit" class="btn sm" aria-label={label}>
      {text}
    </button>
  </Form>
);

const getDeviceName = ({ device }: ListedSession, messages: AppMessages): string =>
  (device === null ? null : formatDeviceName(device)) ?? messages.unknownDevice;

export const DeviceList: FC<ItemFormProps & { sessions: readonly ListedSession[] }> = ({ sessions, ...form }) => {
  const { language } = usePageContext();
  const messages = appMessages[language];
  return (
    <ul class="lines">
      {sessions.map((session) => {
        const name = getDeviceName(session, messages);
        const { id, seenDay, isCurrent } = session;
        return (
          <li>
            <Icon name="laptop" />
            <div>
              <VerbatimText text={name} />
              {seenDay !== null && (
                <small class="quiet">{formatMessage(messages.lastSeen, { date: formatDay(language, seenDay * dayMs) })}</small>
              )}
            </div>
            {isCurrent ? (
              <StatusBadge tone="good" icon="circle-check" text={messages.thisDevice} />
            ) : (
              <ItemForm {...form} id={id} text={messages.signOut} label={formatMessage(messages.signOutNamed, { name })} />
            )}
          </li>
        );
      })}
    </ul>
  );
};

export const PasskeyList: FC<ItemFormProps & { passkeys: readonly Passkey[] }> = ({ passkeys, ...form }) => {
  const { language } = usePageContext();
  const messages = appMessages[language];
  if (passkeys.length === 0) return <p class="body quiet">{messages.noPasskeys}</p>;
  return (
    <ul class="lines">
      {passkeys.map(({ id, name, createdAt, lastUsedDay }) => {
        const createdOn = formatDay(language, createdAt);
        const date = lastUsedDay === null ? "" : formatDay(language, lastUsedDay * dayMs);
        return (
          <li>
            <Icon name="key-round" />
            <div>
              <VerbatimText text={name} />
              <small class="quiet">
                {formatMessage(lastUsedDay === null ? messages.passkeyUnused : messages.passkeyUsed, { made: createdOn, date })}
              </small>
            </div>
            <ItemForm {...form} id={id} text={messages.remove} label={formatMessage(messages.removeNamed, { name })} />
          </li>
        );
      })}
    </ul>
  );
};

type SignedInForm = Pick<SignedInRequest, "c" | "services"> & { readonly form: FormFields };

/** Ends the session whose ID is in the form. Returns false if it is not an active session of this person. */
export const endNamedSession = async ({ services, form }: SignedInForm, session: Session): Promise<boolean> => {
  const id = parseSessionId(form.get("id") ?? "");
  return id !== null && (await revokeSession(services, session, id)).ok;
};

/** Removes the passkey whose ID is in the form. Returns false if it is not a passkey of this person. */
export const removeNamedPasskey = async ({ services, form }: SignedInForm, session: Session): Promise<boolean> => {
  const id = parsePasskeyId(form.get("id") ?? "");
  return id !== null && (await removePasskey(services, session, id)).ok;
};

/** Adds the passkey that the browser created. Returns `passkey_limit` if the account already has the maximum number of passkeys. */
export const addCreatedPasskey = async (
  { c, services, form }: SignedInForm,
  session: Session,
  language: Language,
): Promise<"added" | "passkey_refused" | "passkey_limit"> => {
  const registration = parseCreatedCredential(form.get("credential") ?? "");
  if (registration === null) return "passkey_refused";
  const request = { registration, name: null, userAgent: c.req.header("user-agent"), language };
  const added = await registerPasskey(services, session, getRelyingParty(c), request);
  if (added.ok) return "added";
  return added.code === "passkey_limit" ? added.code : "passkey_refused";
};

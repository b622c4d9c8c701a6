// Serves /app/details: a person's contact details. Before a change is saved, a review page shows it together with the businesses that will
// receive it. The person can undo a change for ten minutes. During that time, a sealed cookie keeps the previous values.
import type { Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { FC } from "hono/jsx";
import { findChangeRecipients } from "../../../core/shares/change-recipients.ts";
import {
  contactKeys,
  fieldGroups,
  fieldGroupNames,
  formatPhoneInFields,
  isContactKey,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import type { Share } from "../../../core/shares/share.ts";
import { minuteMs, secondMs, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { cookieOptions, findCookie } from "../../http/cookies.ts";
import { previewContactFields } from "../../operations/consumers/preview-contact-fields.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { getPersonDetails } from "../../operations/consumers/get-person-details.ts";
import { listOwnShares } from "../../operations/consumers/list-own-shares.ts";
import { openNote, sealNote, type NoteScope, type OpenedNote } from "../../operations/access/sealed-notes.ts";
import { getCountryName } from "../shared/country-names.ts";
import { ContactField, SubmitButton } from "../shared/form-fields.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import { renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { VerbatimText, formatMessage, Timestamp, formatNumber, PropertyList, FormattedMessage, Notice } from "../shared/components.tsx";
import { checkPersonLimit, setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { NameList, PostForm, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage, redirectToForm } from "./handlers.ts";
import { renderAppPage, renderConfirmPage } from "./page.tsx";

/** An empty string clears the field. */
type TypedValues = ReadonlyMap<ContactKey, string>;

/** The values of a form that was refused, and the field to correct. */
interface RefusedDetails {
  readonly typed: TypedValues;
  readonly invalidField: ContactKey;
}

const describeInvalidValue = ({ language }: AppRequest, key: ContactKey): string => {
  const { badEmail, badPhone, badCountry, badText } = sheetMessages[language];
  return key === "email" ? badEmail : key === "phone" ? badPhone : key === "country" ? badCountry : badText;
};

interface FieldGroupInputsProps {
  readonly group: FieldGroup;
  readonly fields: ContactFields;
  readonly shares: readonly Share[];
  readonly refused: RefusedDetails | undefined;
}

/** Shows the inputs of a field group, and the businesses that would receive the changes. */
const FieldGroupInputs: FC<FieldGroupInputsProps> = ({ group, fields, shares, refused }) => {
  const request = useAppRequest();
  const { messages, language } = request;
  const keys: readonly ContactKey[] = fieldGroups[group];
  const { notified } = findChangeRecipients(shares, keys);
  const id = `${group}-recipients`;
  const recipients =
    notified.length === 0 ? (
      messages.sharedWithNone
    ) : (
      <FormattedMessage text={messages.sharedWith} parts={{ businesses: <NameList names={notified} /> }} />
    );
  const inputProps = (key: ContactKey) => ({
    id: key,
    contactKey: key,
    value: refused?.typed.get(key) ?? fields[key]?.value ?? "",
    error: refused?.invalidField === key ? describeInvalidValue(request, key) : undefined,
    errorId: `${key}-fault`,
  });
  const [first, ...more] = keys;
  if (first !== undefined && more.length === 0)
    return <ContactField label={messages.groups[group]} hint={recipients} hintId={id} {...inputProps(first)} />;
  return (
    <fieldset aria-describedby={id}>
      <legend>{messages.groups[group]}</legend>
      <p class="hint" id={id}>
        {recipients}
      </p>
      <div class="pair">
        {keys.map((key) => (
          <ContactField label={fieldLabels[language][key]} {...inputProps(key)} />
        ))}
      </div>
    </fieldset>
  );
};

const UndoNotice: FC<{ until: Instant }> = ({ until }) => {
  const { messages } = useAppRequest();
  return (
    <Notice
      icon="undo-2"
      title={<FormattedMessage text={messages.undoTitle} parts={{ time: <Timestamp at={until} /> }} />}
      action={
        <PostForm action="/app/details/undo">
          <SubmitButton class="btn sm">{messages.undo}</SubmitButton>
        </PostForm>
      }
    >
      {messages.undoAdvice}
    </Notice>
  );
};

const undoCookie = "svc_undo";
const undoWindowMs = 10 * minuteMs;
const maxCookieLength = 3_500; // browsers limit a cookie, including its name and attributes, to 4,096 bytes

type PreviousValues = Readonly<Partial<Record<ContactKey, string | null>>>;

const undoNoteScope = ({ person }: AppRequest): NoteScope => ({ name: "undo", owner: person.id });

const openUndoNote = (request: AppRequest): Promise<OpenedNote<PreviousValues> | null> =>
  openNote<PreviousValues>(request.services, undoNoteScope(request), findCookie(request.c, undoCookie));

const savePreviousValues = async (request: AppRequest, before: ContactFields, changed: readonly ContactKey[]): Promise<void> => {
  const values: PreviousValues = Object.fromEntries(changed.map((key) => [key, before[key]?.value ?? null]));
  const sealed = await sealNote(request.services, undoNoteScope(request), values as Record<string, string | null>, undoWindowMs);
  if (sealed.length <= maxCookieLength)
    setCookie(request.c, undoCookie, sealed, { ...cookieOptions(request.c), maxAge: undoWindowMs / secondMs });
  else deleteCookie(request.c, undoCookie, cookieOptions(request.c));
};

const renderDetails = async (request: AppRequest, refused?: RefusedDetails): Promise<Response> => {
  const { services, person, messages } = request;
  const [{ fields, shares }, undo] = await Promise.all([getPersonDetails(services, person), openUndoNote(request)]);
  return renderAppPage(
    request,
    {
      tab: "details",
      title: messages.detailsTitle,
      error: refused && describeInvalidValue(request, refused.invalidField),
      lede: Object.keys(fields).length === 0 ? messages.detailsEmpty : messages.detailsIntro,
    },
    <>
      {undo !== null && <UndoNotice until={undo.until} />}
      <PostForm action="/app/details" class="card">
        <div class="body stack">
          {fieldGroupNames.map((group) => (
            <FieldGroupInputs group={group} fields={fields} shares={shares} refused={refused} />
          ))}
          <SubmitButton>{messages.review}</SubmitButton>
        </div>
      </PostForm>
    </>,
  );
};

const parseTypedValues = (form: ReadonlyMap<string, string>): TypedValues =>
  new Map([...form].filter((entry): entry is [ContactKey, string] => isContactKey(entry[0])));

const toFieldChanges = (typed: TypedValues): ReadonlyMap<ContactKey, string | null> =>
  new Map([...typed].map(([key, value]) => [key, value || null]));

/** Shows the error next to the field at the start of the refusal's detail (`field: rule`), or next to `email` if there is no such field. */
const renderInvalidDetails = (request: AppFormRequest, detail: string | undefined): Promise<Response> => {
  const invalidField = contactKeys.find((key) => detail?.startsWith(`${key}:`)) ?? "email";
  return renderDetails(request, { typed: parseTypedValues(request.form), invalidField });
};

/** Shows the changes before they are saved, and the businesses that will be notified. */
const renderReview = async (request: AppFormRequest): Promise<Response> => {
  const { services, person, c, messages, language } = request;
  const preview = await previewContactFields(services, person, toFieldChanges(parseTypedValues(request.form)));
  if (!preview.ok)
    return preview.code === "invalid_request" ? renderInvalidDetails(request, preview.detail) : c.redirect("/app/details", 303);
  const { before, after, changed } = preview.value;
  if (changed.length === 0) {
    await setFlash(request, { key: "nothingChanged" });
    return c.redirect("/app/details", 303);
  }
  const { shares } = await listOwnShares(services, person);
  const { notified, notNotified } = findChangeRecipients(shares, changed);
  const format = (fields: ContactFields): ContactFields => formatPhoneInFields(fields, services.formatPhone);
  // If the formatted numbers are equal, only the spelling of the phone number changed. Then show the values as typed, so that the change is
  // visible.
  const isSameNumber = format(before).phone?.value === format(after).phone?.value;
  const valueIn = (fields: ContactFields, key: ContactKey) => {
    const value = (isSameNumber ? fields : format(fields))[key]?.value;
    if (value === undefined) return <span class="quiet">{messages.emptyValue}</span>;
    return <VerbatimText text={key === "country" ? getCountryName(language, value) : value} />;
  };
  const saveAndNotify =
    notified.length === 1
      ? messages.saveAndNotifyOne
      : formatMessage(messages.saveAndNotify, { count: formatNumber(notified.length, language) });
  const nameList = (text: string, names: readonly string[]) => (
    <FormattedMessage text={text} parts={{ businesses: <NameList names={names} /> }} />
  );
  return renderConfirmPage(
    request,
    {
      tab: "details",
      title: messages.reviewTitle,
      action: "/app/details/save",
      consequences: [
        notified.length === 0 ? ["info", messages.notifiesNone] : ["send", nameList(messages.notifies, notified)],
        ...(notNotified.length > 0 ? [["circle-minus", nameList(messages.notNotified, notNotified)] as const] : []),
      ],
      buttons: { back: "/app/details", keep: messages.keepEditing, go: notified.length === 0 ? messages.save : saveAndNotify },
    },
    <>
      <PropertyList
        lines={changed.map((key) => [
          fieldLabels[language][key],
          <>
            <p>
              <span class="quiet">{messages.before}:</span> <del>{valueIn(before, key)}</del>
            </p>
            <p>
              <span class="quiet">{messages.after}:</span> <ins>{valueIn(after, key)}</ins>
            </p>
          </>,
        ])}
      />
      {changed.map((key) => (
        <input type="hidden" name={key} value={after[key]?.value ?? ""} />
      ))}
    </>,
  );
};

/**
 * Saves the changes, and returns what changed and how many businesses are notified. If they cannot be saved, returns the response to send
 * instead.
 */
const applyFieldChanges = async (
  request: AppFormRequest,
  changes: ReadonlyMap<ContactKey, string | null>,
): Promise<Response | { readonly before: ContactFields; readonly changed: readonly ContactKey[]; readonly notifiedCount: number }> => {
  const { services, person, c } = request;
  const limitResponse = await checkPersonLimit(request, "FIELD_CHANGES");
  if (limitResponse !== null) return limitResponse;
  const [preview, { shares }] = await Promise.all([previewContactFields(services, person, changes), listOwnShares(services, person)]);
  const saved = preview.ok ? await updateContactFields(services, person, changes) : preview;
  if (!saved.ok) {
    if (saved.code === "invalid_request") return renderInvalidDetails(request, saved.detail);
    return saved.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/details", 303);
  }
  if (!preview.ok) throw new Error("details: a refused change was saved");
  const { before, changed } = preview.value;
  return { before, changed, notifiedCount: findChangeRecipients(shares, changed).notified.length };
};

const handleSave = async (request: AppFormRequest): Promise<Response> => {
  const applied = await applyFieldChanges(request, toFieldChanges(parseTypedValues(request.form)));
  if (applied instanceof Response) return applied;
  const { before, changed, notifiedCount } = applied;
  if (changed.length > 0) {
    await savePreviousValues(request, before, changed);
    const key = notifiedCount === 1 ? "savedAndNotifiedOne" : "savedAndNotified";
    await setFlash(request, notifiedCount === 0 ? { key: "saved" } : { key, count: notifiedCount });
  }
  return request.c.redirect("/app/details", 303);
};

const handleUndo = async (request: AppFormRequest): Promise<Response> => {
  const { c } = request;
  const note = await openUndoNote(request);
  if (note === null) return c.redirect("/app/details", 303);
  const applied = await applyFieldChanges(request, new Map(Object.entries(note.content) as [ContactKey, string | null][]));
  if (applied instanceof Response) return applied; // keep the undo cookie, so that the person can try again
  deleteCookie(c, undoCookie, cookieOptions(c));
  await setFlash(request, { key: "undone" });
  return c.redirect("/app/details", 303);
};

export const registerDetailsRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/details", authenticatedPage(renderDetails));
  pages.post("/details", authenticatedAction(renderReview));
  pages.get("/details/:step", redirectToForm("/app/details"));
  pages.post("/details/save", authenticatedAction(handleSave));
  pages.post("/details/undo", authenticatedAction(handleUndo));
};

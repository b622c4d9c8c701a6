// /app/details: what a person keeps to share, ten fields in four groups. What is typed comes back as a page that says who would hear of it;
// only that page saves. For ten minutes a change can be taken back: the values before it are sealed in a cookie of this browser, for this person.
import type { Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { FC } from "hono/jsx";
import { findChangeRecipients } from "../../../core/shares/change-recipients.ts";
import {
  contactKeys,
  fieldGroups,
  fieldGroupNames,
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
import { previewContactFields, type FieldsPreview } from "../../operations/consumers/preview-contact-fields.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { getPersonDetails } from "../../operations/consumers/get-person-details.ts";
import { listOwnShares } from "../../operations/consumers/list-own-shares.ts";
import { openNote, sealNote, type NoteScope, type OpenedNote } from "../../operations/access/sealed-notes.ts";
import { ConfirmActions, getContactInputProps, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { VerbatimText, formatMessage, Timestamp, formatNumber, DescriptionRow, FormattedMessage } from "../shared/components.tsx";
import { appPage, NameList, PostForm, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  checkPersonLimit,
  setFlash,
  redirectToForm,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

/** What was typed, by field; empty clears. */
type TypedValues = ReadonlyMap<ContactKey, string>;

interface DetailsPageData {
  readonly fields: ContactFields;
  readonly shares: readonly Share[];
  /** Where the page comes back with what was typed. */
  readonly typed?: TypedValues;
  /** The field whose value was refused. */
  readonly wrong?: string;
  readonly undo: { readonly until: Instant } | null;
}

/** The fields that are told together, and to whom they go. */
const FieldGroupInputs: FC<{ group: FieldGroup; details: DetailsPageData }> = ({ group, details: { fields, shares, typed, wrong } }) => {
  const { messages, language } = useAppView();
  const keys: readonly ContactKey[] = fieldGroups[group];
  const { notified } = findChangeRecipients(shares, keys);
  const id = `${group}-goes`;
  const goes =
    notified.length === 0 ? (
      messages.goesToNobody
    ) : (
      <FormattedMessage text={messages.goesTo} parts={{ businesses: <NameList names={notified} /> }} />
    );
  const field = (key: ContactKey) => ({
    id: key,
    ...getContactInputProps(key),
    value: typed?.get(key) ?? fields[key]?.value ?? "",
    error: wrong === key ? messages.badValue : undefined,
    faultId: `${key}-fault`,
  });
  const [first, ...more] = keys;
  if (first !== undefined && more.length === 0)
    return (
      <div class="group">
        <TextField label={messages.groups[group]} hint={goes} hintId={id} {...field(first)} />
      </div>
    );
  return (
    <fieldset class="group" aria-describedby={id}>
      <legend>{messages.groups[group]}</legend>
      <p class="quiet" id={id}>
        {goes}
      </p>
      {keys.map((key) => (
        <TextField label={fieldLabels[language][key]} {...field(key)} />
      ))}
    </fieldset>
  );
};

const detailsPage = (view: AppView, details: DetailsPageData): Page => {
  const { messages } = view;
  const { fields, wrong, undo } = details;
  return appPage(
    view,
    { tab: "details", title: messages.detailsTitle, isFaulty: wrong !== undefined },
    <>
      <p>{Object.keys(fields).length === 0 ? messages.detailsEmpty : messages.detailsIntro}</p>
      {undo !== null && (
        <section class="card" aria-labelledby="undo">
          <h2 id="undo">{messages.undoTitle}</h2>
          <p>
            <FormattedMessage text={messages.undoIntro} parts={{ time: <Timestamp at={undo.until} /> }} />
          </p>
          <PostForm action="/app/details/undo">
            <button type="submit">{messages.undo}</button>
          </PostForm>
        </section>
      )}
      <PostForm action="/app/details" class="form details">
        {fieldGroupNames.map((group) => (
          <FieldGroupInputs group={group} details={details} />
        ))}
        <SubmitButton>{messages.review}</SubmitButton>
      </PostForm>
    </>,
  );
};

/** What changes, and who hears of it. Nothing is saved yet. */
const reviewPage = (view: AppView, { before, after, changed }: FieldsPreview, shares: readonly Share[]): Page => {
  const { messages, language } = view;
  const { notified, notNotified } = findChangeRecipients(shares, changed);
  const valueIn = (fields: ContactFields, key: ContactKey) =>
    fields[key] === undefined ? <span class="quiet">{messages.emptyValue}</span> : <VerbatimText text={fields[key].value} />;
  const saveAndTell =
    notified.length === 1
      ? messages.saveAndTellOne
      : formatMessage(messages.saveAndTell, { count: formatNumber(notified.length, language) });
  return appPage(
    view,
    { tab: "details", title: messages.reviewTitle },
    <>
      <dl>
        {changed.map((key) => (
          <DescriptionRow name={fieldLabels[language][key]}>
            <p>
              <span class="quiet">{messages.was}:</span> <del>{valueIn(before, key)}</del>
            </p>
            <p>
              <span class="quiet">{messages.becomes}:</span> <ins>{valueIn(after, key)}</ins>
            </p>
          </DescriptionRow>
        ))}
      </dl>
      <p>
        {notified.length === 0 ? (
          messages.nobodyTold
        ) : (
          <FormattedMessage text={messages.toldAtOnce} parts={{ businesses: <NameList names={notified} /> }} />
        )}
      </p>
      {notNotified.length > 0 && (
        <p>
          <FormattedMessage text={messages.notTold} parts={{ businesses: <NameList names={notNotified} /> }} />
        </p>
      )}
      <PostForm action="/app/details/save">
        {changed.map((key) => (
          <input type="hidden" name={key} value={after[key]?.value ?? ""} />
        ))}
        <ConfirmActions back="/app/details" keep={messages.changeMore} go={notified.length === 0 ? messages.save : saveAndTell} />
      </PostForm>
    </>,
  );
};

const undoCookie = "svc_undo";
const undoWindowMs = 10 * minuteMs;
const maxCookieLength = 3_500; // with its name and attributes below what every browser keeps

type PreviousValues = Readonly<Partial<Record<ContactKey, string | null>>>;

const undoNotePlace = ({ person }: AppRequest): NoteScope => ({ name: "undo", owner: person.id });

const openUndoNote = (visit: AppRequest): Promise<OpenedNote<PreviousValues> | null> =>
  openNote<PreviousValues>(visit.services, undoNotePlace(visit), findCookie(visit.c, undoCookie));

const savePreviousValues = async (visit: AppRequest, before: ContactFields, changed: readonly ContactKey[]): Promise<void> => {
  const values: PreviousValues = Object.fromEntries(changed.map((key) => [key, before[key]?.value ?? null]));
  const sealed = await sealNote(visit.services, undoNotePlace(visit), values as Record<string, string | null>, undoWindowMs);
  if (sealed.length <= maxCookieLength)
    setCookie(visit.c, undoCookie, sealed, { ...cookieOptions(visit.c), maxAge: undoWindowMs / secondMs });
  else deleteCookie(visit.c, undoCookie, cookieOptions(visit.c));
};

const loadDetails = async (visit: AppRequest): Promise<DetailsPageData> => {
  const [{ fields, shares }, undo] = await Promise.all([getPersonDetails(visit.services, visit.person), openUndoNote(visit)]);
  return { fields, shares, undo };
};

const renderDetails = async (visit: AppRequest): Promise<Response> =>
  renderAppPage(visit, 200, detailsPage(visit.view, await loadDetails(visit)));

const parseTypedValues = (form: ReadonlyMap<string, string>): TypedValues =>
  new Map([...form].filter((entry): entry is [ContactKey, string] => isContactKey(entry[0])));

const toFieldChanges = (typed: TypedValues): ReadonlyMap<ContactKey, string | null> =>
  new Map([...typed].map(([key, value]) => [key, value || null]));

/** A refused change names its field first. */
const findInvalidField = (detail: string | undefined): string => contactKeys.find((key) => detail?.startsWith(`${key}:`)) ?? "email";

const renderInvalidDetails = async (visit: AppFormRequest, detail: string | undefined): Promise<Response> => {
  const details = { ...(await loadDetails(visit)), typed: parseTypedValues(visit.form), wrong: findInvalidField(detail) };
  return renderRefusal(visit, "invalid_request", detailsPage(visit.view, details));
};

const renderReview = async (visit: AppFormRequest): Promise<Response> => {
  const { services, person, view, c } = visit;
  const preview = await previewContactFields(services, person, toFieldChanges(parseTypedValues(visit.form)));
  if (!preview.ok)
    return preview.code === "invalid_request" ? renderInvalidDetails(visit, preview.detail) : c.redirect("/app/details", 303);
  if (preview.value.changed.length === 0) {
    await setFlash(visit, { key: "nothingChanged" });
    return c.redirect("/app/details", 303);
  }
  const { shares } = await listOwnShares(services, person);
  return renderAppPage(visit, 200, reviewPage(view, preview.value, shares));
};

/** Saves, and says how many businesses hear of it. */
const applyFieldChanges = async (
  visit: AppFormRequest,
  wanted: ReadonlyMap<ContactKey, string | null>,
): Promise<Response | { readonly before: ContactFields; readonly changed: readonly ContactKey[]; readonly told: number }> => {
  const { services, person, c } = visit;
  const crowded = await checkPersonLimit(visit, "FIELD_CHANGES");
  if (crowded !== null) return crowded;
  const [preview, { shares }] = await Promise.all([previewContactFields(services, person, wanted), listOwnShares(services, person)]);
  const saved = preview.ok ? await updateContactFields(services, person, wanted) : preview;
  if (!saved.ok) {
    if (saved.code === "invalid_request") return renderInvalidDetails(visit, saved.detail);
    return saved.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app/details", 303);
  }
  if (!preview.ok) throw new Error("details: saved what was refused");
  const { before, changed } = preview.value;
  return { before, changed, told: findChangeRecipients(shares, changed).notified.length };
};

const handleSave = async (visit: AppFormRequest): Promise<Response> => {
  const done = await applyFieldChanges(visit, toFieldChanges(parseTypedValues(visit.form)));
  if (done instanceof Response) return done;
  const { before, changed, told } = done;
  if (changed.length > 0) {
    await savePreviousValues(visit, before, changed);
    await setFlash(visit, told === 0 ? { key: "saved" } : { key: told === 1 ? "savedAndToldOne" : "savedAndTold", count: told });
  }
  return visit.c.redirect("/app/details", 303);
};

const handleUndo = async (visit: AppFormRequest): Promise<Response> => {
  const { c } = visit;
  const note = await openUndoNote(visit);
  deleteCookie(c, undoCookie, cookieOptions(c));
  if (note === null) return c.redirect("/app/details", 303);
  const done = await applyFieldChanges(visit, new Map(Object.entries(note.content) as [ContactKey, string | null][]));
  if (done instanceof Response) return done;
  await setFlash(visit, { key: "undone" });
  return c.redirect("/app/details", 303);
};

export const registerDetailsRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/details", authenticatedPage(renderDetails));
  pages.post("/details", authenticatedAction(renderReview));
  pages.get("/details/:step", redirectToForm("/app/details"));
  pages.post("/details/save", authenticatedAction(handleSave));
  pages.post("/details/undo", authenticatedAction(handleUndo));
};

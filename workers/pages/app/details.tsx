// /app/details: what a person keeps to share, ten fields in four groups. What is typed comes back as a page that says who would hear of it;
// only that page saves. For ten minutes a change can be taken back: the values before it are sealed in a cookie of this browser, for this person.
import type { Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { FC } from "hono/jsx";
import { audienceOf } from "../../../core/shares/audience.ts";
import {
  contactKeys,
  fieldGroups,
  groupNames,
  isContactKey,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
} from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import type { Share } from "../../../core/shares/share.ts";
import { minuteMs, secondMs, type Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { cookieOptions, cookieOf } from "../../http/cookies.ts";
import { changeContactFields, previewFields, type FieldsPreview } from "../../operations/consumers/fields.ts";
import { listOwnShares, readDetails } from "../../operations/consumers/profile.ts";
import { openNote, sealNote, type NotePlace, type OpenedNote } from "../../operations/access/sealed-notes.ts";
import { Choices, contactInput, Submit, TextField } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import { outagePage } from "../shared/notices.tsx";
import { Exact, filled, Moment, numberText, Row, Sentence } from "../shared/parts.tsx";
import { appPage, Names, PostForm, useView, type AppView } from "./parts.tsx";
import { acting, answer, counted, flash, formOf, reading, refused, type Posted, type Visit } from "./signed-in.ts";

/** What was typed, by field; empty clears. */
type Typed = ReadonlyMap<ContactKey, string>;

interface Details {
  readonly fields: ContactFields;
  readonly shares: readonly Share[];
  /** Where the page comes back with what was typed. */
  readonly typed?: Typed;
  /** The field whose value was refused. */
  readonly wrong?: string;
  readonly undo: { readonly until: Instant } | null;
}

/** The fields that are told together, and to whom they go. */
const Group: FC<{ group: FieldGroup; details: Details }> = ({ group, details: { fields, shares, typed, wrong } }) => {
  const { words, language } = useView();
  const keys: readonly ContactKey[] = fieldGroups[group];
  const { told } = audienceOf(shares, keys);
  const id = `${group}-goes`;
  const goes = told.length === 0 ? words.goesToNobody : <Sentence text={words.goesTo} parts={{ businesses: <Names names={told} /> }} />;
  const field = (key: ContactKey) => ({
    id: key,
    ...contactInput(key),
    value: typed?.get(key) ?? fields[key]?.value ?? "",
    fault: wrong === key ? words.badValue : undefined,
    faultId: `${key}-fault`,
  });
  const [first, ...more] = keys;
  if (first !== undefined && more.length === 0)
    return (
      <div class="group">
        <TextField label={words.groups[group]} hint={goes} hintId={id} {...field(first)} />
      </div>
    );
  return (
    <fieldset class="group" aria-describedby={id}>
      <legend>{words.groups[group]}</legend>
      <p class="quiet" id={id}>
        {goes}
      </p>
      {keys.map((key) => (
        <TextField label={fieldLabels[language][key]} {...field(key)} />
      ))}
    </fieldset>
  );
};

const detailsPage = (view: AppView, details: Details): Page => {
  const { words } = view;
  const { fields, wrong, undo } = details;
  return appPage(
    view,
    { tab: "details", title: words.detailsTitle, isFaulty: wrong !== undefined },
    <>
      <p>{Object.keys(fields).length === 0 ? words.detailsEmpty : words.detailsIntro}</p>
      {undo !== null && (
        <section class="card" aria-labelledby="undo">
          <h2 id="undo">{words.undoTitle}</h2>
          <p>
            <Sentence text={words.undoIntro} parts={{ time: <Moment at={undo.until} /> }} />
          </p>
          <PostForm action="/app/details/undo">
            <button type="submit">{words.undo}</button>
          </PostForm>
        </section>
      )}
      <PostForm action="/app/details" class="form details">
        {groupNames.map((group) => (
          <Group group={group} details={details} />
        ))}
        <Submit>{words.review}</Submit>
      </PostForm>
    </>,
  );
};

/** What changes, and who hears of it. Nothing is saved yet. */
const reviewPage = (view: AppView, { before, after, changed }: FieldsPreview, shares: readonly Share[]): Page => {
  const { words, language } = view;
  const { told, notTold } = audienceOf(shares, changed);
  const valueIn = (fields: ContactFields, key: ContactKey) =>
    fields[key] === undefined ? <span class="quiet">{words.emptyValue}</span> : <Exact text={fields[key].value} />;
  const saveAndTell = told.length === 1 ? words.saveAndTellOne : filled(words.saveAndTell, { count: numberText(told.length, language) });
  return appPage(
    view,
    { tab: "details", title: words.reviewTitle },
    <>
      <dl>
        {changed.map((key) => (
          <Row name={fieldLabels[language][key]}>
            <p>
              <span class="quiet">{words.was}:</span> <del>{valueIn(before, key)}</del>
            </p>
            <p>
              <span class="quiet">{words.becomes}:</span> <ins>{valueIn(after, key)}</ins>
            </p>
          </Row>
        ))}
      </dl>
      <p>{told.length === 0 ? words.nobodyTold : <Sentence text={words.toldAtOnce} parts={{ businesses: <Names names={told} /> }} />}</p>
      {notTold.length > 0 && (
        <p>
          <Sentence text={words.notTold} parts={{ businesses: <Names names={notTold} /> }} />
        </p>
      )}
      <PostForm action="/app/details/save">
        {changed.map((key) => (
          <input type="hidden" name={key} value={after[key]?.value ?? ""} />
        ))}
        <Choices back="/app/details" keep={words.changeMore} go={told.length === 0 ? words.save : saveAndTell} />
      </PostForm>
    </>,
  );
};

const undoCookie = "svc_undo";
const undoMs = 10 * minuteMs;
const maxCookie = 3_500; // with its name and attributes below what every browser keeps

type Before = Readonly<Partial<Record<ContactKey, string | null>>>;

const undoPlace = ({ person }: Visit): NotePlace => ({ name: "undo", owner: person.id });

const undoable = (visit: Visit): Promise<OpenedNote<Before> | null> =>
  openNote<Before>(visit.services, undoPlace(visit), cookieOf(visit.c, undoCookie));

const keepBefore = async (visit: Visit, before: ContactFields, changed: readonly ContactKey[]): Promise<void> => {
  const values: Before = Object.fromEntries(changed.map((key) => [key, before[key]?.value ?? null]));
  const sealed = await sealNote(visit.services, undoPlace(visit), values as Record<string, string | null>, undoMs);
  if (sealed.length <= maxCookie) setCookie(visit.c, undoCookie, sealed, { ...cookieOptions(visit.c), maxAge: undoMs / secondMs });
  else deleteCookie(visit.c, undoCookie, cookieOptions(visit.c));
};

const detailsOf = async (visit: Visit): Promise<Details> => {
  const [{ fields, shares }, undo] = await Promise.all([readDetails(visit.services, visit.person), undoable(visit)]);
  return { fields, shares, undo };
};

const show = async (visit: Visit): Promise<Response> => answer(visit, 200, detailsPage(visit.view, await detailsOf(visit)));

const typedIn = (form: ReadonlyMap<string, string>): Typed =>
  new Map([...form].filter((entry): entry is [ContactKey, string] => isContactKey(entry[0])));

const changeOf = (typed: Typed): ReadonlyMap<ContactKey, string | null> => new Map([...typed].map(([key, value]) => [key, value || null]));

/** A refused change names its field first. */
const wrongField = (detail: string | undefined): string => contactKeys.find((key) => detail?.startsWith(`${key}:`)) ?? "email";

const again = async (visit: Posted, detail: string | undefined): Promise<Response> => {
  const details = { ...(await detailsOf(visit)), typed: typedIn(visit.form), wrong: wrongField(detail) };
  return refused(visit, "invalid_request", detailsPage(visit.view, details));
};

const review = async (visit: Posted): Promise<Response> => {
  const { services, person, view, c } = visit;
  const preview = await previewFields(services, person, changeOf(typedIn(visit.form)));
  if (!preview.ok) return preview.code === "invalid_request" ? again(visit, preview.detail) : c.redirect("/app/details", 303);
  if (preview.value.changed.length === 0) {
    await flash(visit, { key: "nothingChanged" });
    return c.redirect("/app/details", 303);
  }
  const { shares } = await listOwnShares(services, person);
  return answer(visit, 200, reviewPage(view, preview.value, shares));
};

/** Saves, and says how many businesses hear of it. */
const change = async (
  visit: Posted,
  wanted: ReadonlyMap<ContactKey, string | null>,
): Promise<Response | { readonly before: ContactFields; readonly changed: readonly ContactKey[]; readonly told: number }> => {
  const { services, person, c } = visit;
  const crowded = await counted(visit, "FIELD_CHANGES");
  if (crowded !== null) return crowded;
  const [preview, { shares }] = await Promise.all([previewFields(services, person, wanted), listOwnShares(services, person)]);
  const saved = preview.ok ? await changeContactFields(services, person, wanted) : preview;
  if (!saved.ok) {
    if (saved.code === "invalid_request") return again(visit, saved.detail);
    return saved.code === "storage_unavailable" ? outagePage(c) : c.redirect("/app/details", 303);
  }
  if (!preview.ok) throw new Error("details: saved what was refused");
  const { before, changed } = preview.value;
  return { before, changed, told: audienceOf(shares, changed).told.length };
};

const save = async (visit: Posted): Promise<Response> => {
  const done = await change(visit, changeOf(typedIn(visit.form)));
  if (done instanceof Response) return done;
  const { before, changed, told } = done;
  if (changed.length > 0) {
    await keepBefore(visit, before, changed);
    await flash(visit, told === 0 ? { key: "saved" } : { key: told === 1 ? "savedAndToldOne" : "savedAndTold", count: told });
  }
  return visit.c.redirect("/app/details", 303);
};

const undo = async (visit: Posted): Promise<Response> => {
  const { c } = visit;
  const note = await undoable(visit);
  deleteCookie(c, undoCookie, cookieOptions(c));
  if (note === null) return c.redirect("/app/details", 303);
  const done = await change(visit, new Map(Object.entries(note.content) as [ContactKey, string | null][]));
  if (done instanceof Response) return done;
  await flash(visit, { key: "undone" });
  return c.redirect("/app/details", 303);
};

export const mountDetails = (pages: Hono<Api>): void => {
  pages.get("/details", reading(show));
  pages.post("/details", acting(review));
  pages.get("/details/:step", formOf("/app/details"));
  pages.post("/details/save", acting(save));
  pages.post("/details/undo", acting(undo));
};

// /app/details: what is typed comes back as a page that says who would hear of it; only that page saves. For ten minutes a change can be
// taken back: the values before it are sealed in a cookie of this browser, for this person.
import type { Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { audienceOf } from "../../../core/shares/audience.ts";
import { contactKeys, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { minuteMs, secondMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { cookieOptions, cookieOf } from "../../http/cookies.ts";
import { changeContactFields, previewFields } from "../../operations/consumers/fields.ts";
import { listOwnShares, readDetails } from "../../operations/consumers/profile.ts";
import { openNote, sealNote, type NotePlace, type OpenedNote } from "../../operations/access/sealed-notes.ts";
import type { Services } from "../../services.ts";
import { outagePage } from "../shared/notices.tsx";
import { detailsPage, reviewPage, type Typed } from "./details.tsx";
import { acting, answer, counted, flash, formOf, reading, refused, type Posted, type Visit } from "./signed-in.ts";

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

/** What the page is set from. */
const state = async (services: Services, visit: Visit) => {
  const [{ fields, shares }, undo] = await Promise.all([readDetails(services, visit.person), undoable(visit)]);
  return { fields, shares, undo };
};

const show = async (visit: Visit): Promise<Response> => answer(visit, 200, detailsPage(visit.view, await state(visit.services, visit)));

const typedIn = (form: ReadonlyMap<string, string>): Typed =>
  new Map([...form].filter((entry): entry is [ContactKey, string] => isContactKey(entry[0])));

const changeOf = (typed: Typed): ReadonlyMap<ContactKey, string | null> => new Map([...typed].map(([key, value]) => [key, value || null]));

/** A refused change names its field first. */
const wrongField = (detail: string | undefined): string => contactKeys.find((key) => detail?.startsWith(`${key}:`)) ?? "email";

const again = async (visit: Posted, detail: string | undefined): Promise<Response> => {
  const found = await state(visit.services, visit);
  return refused(visit, "invalid_request", detailsPage(visit.view, { ...found, typed: typedIn(visit.form), wrong: wrongField(detail) }));
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

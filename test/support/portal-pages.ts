// Opens portal pages and submits their forms, as a browser without JavaScript does.
import { DomUtils, parseDocument } from "htmlparser2";
import { read, extractWords, type ReadPage } from "../pages/page.ts";
import { getCookie, signInByEmail } from "./people.ts";
import { call, type TestResponse } from "./world.ts";

type Fields = Readonly<Record<string, string>>;

export const buildFormPost = (cookie: string, fields: Fields, headers: Fields): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", cookie, ...headers },
  body: new URLSearchParams(fields).toString(),
  redirect: "manual",
});

/** Returns the fields that a browser would submit for the form with this action. */
export const parseFormFields = ({ document }: ReadPage, action: string): Fields => {
  const form = DomUtils.getElementsByTagName("form", document).find(({ attribs }) => attribs.action === action);
  if (form === undefined) throw new Error(`no form to ${action} in: ${extractWords(document).slice(0, 2_000)}`);
  const isChoice = (type: string | undefined): boolean => type === "checkbox" || type === "radio";
  const inputs = DomUtils.getElementsByTagName("input", form).filter(({ attribs }) => !isChoice(attribs.type) || "checked" in attribs);
  const readSelectedValue = (select: (typeof inputs)[number]): string => {
    const options = DomUtils.getElementsByTagName("option", select);
    return (options.find(({ attribs }) => "selected" in attribs) ?? options[0])?.attribs.value ?? "";
  };
  return Object.fromEntries([
    ...inputs.map(({ attribs }) => [attribs.name as string, attribs.value ?? ""]),
    ...DomUtils.getElementsByTagName("select", form).map((select) => [select.attribs.name as string, readSelectedValue(select)]),
    ...DomUtils.getElementsByTagName("textarea", form).map((area) => [area.attribs.name as string, DomUtils.textContent(area)]),
  ]);
};

export interface Member {
  readonly cookie: string;
}

export const openPage = ({ cookie }: Member, path: string): Promise<ReadPage> => read(path, { headers: { cookie }, redirect: "manual" });

/** Submits the form on the page `from`. `fields` override the form's own values. */
export const submitForm = async (member: Member, from: string, action: string, fields: Fields = {}): Promise<TestResponse> =>
  call(action, buildFormPost(member.cookie, { ...parseFormFields(await openPage(member, from), action), ...fields }, {}));

/** Posts fields without loading the form first, as an attacker would. */
export const postForm = ({ cookie }: Member, action: string, fields: Fields = {}, headers: Fields = {}): Promise<TestResponse> =>
  call(action, buildFormPost(cookie, fields, headers));

export const parsePage = (response: TestResponse): ReadPage => ({ ...response, document: parseDocument(response.text) });
export const getPageText = (response: TestResponse): string => extractWords(parsePage(response).document);
export const describeRedirect = ({ status, headers }: TestResponse): string => `${status} ${headers.get("location") ?? ""}`.trim();

/** Signs in with an invited address and clicks "Join" for the only invitation shown. */
export const acceptInvitation = async (email: string): Promise<Member> => {
  const invited = await signInByEmail(email);
  const response = await submitForm(invited, "/portal/invitations", "/portal/invitations/accept", {});
  if (describeRedirect(response) !== "303 /portal?done=joined") throw new Error(`not joined: ${response.status} ${response.text}`);
  return { cookie: getCookie(response) };
};
